// Members that a class forgets to name among its parameters.
#pragma once

#include "diagnose.h"
#include "request.h"

namespace clad {

/// Reports each member of the classes that a request differentiates with respect to, and of classes inside
/// them, that holds an opaque value and is not named in the class's list (CLAD_MEMBERS): what walks the list
/// would neither train it nor give its adjoint memory of its own.
void check_members(const Request& request, Diagnose& diagnose);

}  // namespace clad
