// Fusion: patterns of fusion rules are replaced before derivatives are taken.
#pragma once

#include <set>

#include "ir.h"
#include "rules.h"

namespace clad {

/// Applies the rules to a lowered function until none matches; `active` says which of its parameters may
/// carry a derivative. What the new statements call is added to `callees`.
void fuse(ir::Function& fn, Rules& rules, const std::vector<bool>& active,
          std::set<const clang::FunctionDecl*>& callees);

}  // namespace clad
