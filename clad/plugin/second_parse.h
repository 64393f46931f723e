// Has the running compiler parse the generated text.
#pragma once

#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "module.h"

namespace clad {

/// Parses `text` at the end of the translation unit, hands its declarations to the code generator, and checks
/// that its calls resolve to the functions that the original code called. `shown_as`: the name of the file in
/// messages. `any_member`: private ones too.
void parse_generated(clang::CompilerInstance& compiler, clang::Sema& sema, Module& module,
                     const std::string& text, const std::vector<ir::Loc>& locations,
                     const std::string& shown_as, bool any_member);

}  // namespace clad
