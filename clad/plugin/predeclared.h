// Functions that a program declares under the names that Clad gives to derivatives, and calls without
// execute(): `double f_darg0(double);` beside clad::differentiate(f, 0).
#pragma once

#include <string>
#include <vector>

#include "request.h"
#include "types.h"

namespace clad {

/// The function that the program declared, and does not define, for what is asked; null if there is none.
clang::FunctionDecl* predeclared(const Request& request);

/// Definitions of all of them. Those of another file go first.
std::string define_predeclared(const std::vector<Request>& requests, TypeTable& types);

}  // namespace clad
