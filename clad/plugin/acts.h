// What a function does beside computing its results.
#pragma once

#include "clang/AST/Decl.h"

namespace clad {

/// Whether a call may do what neither its result nor its arguments show: throw, end the program, print. The
/// standard library's classes are not looked into; of functions without a body, those count that give nothing
/// or an integer.
bool acts(const clang::FunctionDecl* f);

}  // namespace clad
