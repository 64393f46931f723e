// Has the running compiler parse the generated text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/Scope.h"
#include "module.h"

namespace clad {

/// How generated text is parsed.
struct SecondParse {
  std::string shown_as = {};  ///< the name of the file in messages
  bool any_member = true;     ///< private ones too
  /// In the middle of the translation unit, between two declarations of the file; what the text may not do is
  /// then no error.
  bool early = false;
  /// Instances of templates that the text defines, which the program used before.
  std::vector<clang::FunctionDecl*> defined = {};
};

/// Parses `text` at the end of the translation unit or in the middle of it, hands its declarations to the
/// code generator, and checks that its calls resolve to the functions that the original code called. Whether
/// it had no errors.
bool parse_generated(clang::CompilerInstance& compiler, clang::Sema& sema, Module& module,
                     const std::string& text, const std::vector<ir::Loc>& locations, const SecondParse& how);

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
