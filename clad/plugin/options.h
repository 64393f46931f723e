// The arguments of the plugin.
#pragma once

#include <string>
#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "export.h"
#include "module.h"

namespace clad {

struct Options {
  std::string out;  ///< file that receives the generated text
  Export exported;
  bool remarks = false;
  bool dump = false;  ///< the generated text goes to the standard output too
  Analyses analyses;
};

/// Reads -fplugin-arg-clad-..., and Clad's own spellings. False, after an error, if one is not known.
bool parse_options(const std::vector<std::string>& args, clang::DiagnosticsEngine& diagnostics,
                   Options& options);

}  // namespace clad
