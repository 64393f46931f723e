// The derivatives of a source file as a file of its own, for compilers that cannot load the plugin.
#pragma once

#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "diagnose.h"
#include "request.h"
#include "types.h"

namespace clad {

/// Where the derivatives of a translation unit go, and what the compiler of that file may do.
struct Export {
  std::string file;
  bool private_members = false;  ///< it is told not to check access

  bool wanted() const { return !file.empty(); }
};

/// What says, in the exported file, which entry belongs to which request.
std::string export_requests(const std::vector<Request>& requests, TypeTable& types);

/// Reports what only this compiler can name: local classes and lambdas.
void check_exportable(const std::vector<Request>& requests, const std::string& text, const TypeTable& types,
                      Diagnose& diagnose);

/// Writes the file: it includes the source, then says the derivatives. False if it cannot be written.
bool write_export(clang::CompilerInstance& compiler, const std::string& file, const std::string& text,
                  std::string& failure);

}  // namespace clad
