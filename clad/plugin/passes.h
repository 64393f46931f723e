// The passes between the frontend and the reverse transformation.
#pragma once

#include "ir.h"

namespace clad {
class Diagnose;

/// Removes Break, Continue and Return from the middle of bodies: what follows a branch that leaves moves into
/// the other branch; where that is not possible a flag guards it. Afterwards Return stands only where control
/// ends anyway.
void structure(ir::Function& fn, const ir::Type* boolean);

/// Finds the variables that depend on active parameters, and marks the active arguments of every call.
void find_active(ir::Function& fn, Diagnose& diagnose);

/// Finds the loops whose counter can be run backwards without being kept.
void find_counters(ir::Function& fn);

}  // namespace clad
