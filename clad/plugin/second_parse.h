// Has the running compiler parse the generated text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/Scope.h"
#include "module.h"

namespace clad {

/// Parses `text` at the end of the translation unit, hands its declarations to the code generator, and checks
/// that its calls resolve to the functions that the original code called. `shown_as`: the name of the file in
/// messages. `any_member`: private ones too.
void parse_generated(clang::CompilerInstance& compiler, clang::Sema& sema, Module& module,
                     const std::string& text, const std::vector<ir::Loc>& locations,
                     const std::string& shown_as, bool any_member);

/// The scope of the file while it lives. The first parser's is gone, and what is declared when it is first
/// named, as builtin functions are, needs one.
class FileScope {
 public:
  explicit FileScope(clang::Sema& sema);
  ~FileScope();
  FileScope(const FileScope&) = delete;
  FileScope& operator=(const FileScope&) = delete;

 private:
  clang::Sema& sema_;
  clang::Scope* before_;
  std::unique_ptr<clang::Scope> scope_;
};

}  // namespace clad
