// Puts the body of a function in place of a call of it.
#pragma once

#include <cstddef>

#include "ir.h"

namespace clad {

/// Whether a lowered function is nothing but calls and declarations before one return, and changes nothing.
bool is_straight(const ir::Function& fn);

/// Replaces `body[at]`, a call whose value is `body[at]->var`, by the body of `callee`, which is straight.
/// Returns how many statements it became.
std::size_t inline_call(ir::Function& fn, ir::Body& body, std::size_t at, const ir::Function& callee);

}  // namespace clad
