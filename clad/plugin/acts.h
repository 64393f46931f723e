// What a function does beside computing its results.
#pragma once

#include "clang/AST/Decl.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace clad {

/// Whether a call may do what neither its result nor its arguments show: throw, end the program, print. The
/// standard library's classes are not looked into, nor functions with a derivative of the user's (`derived`),
/// which stands for them; of functions without a body, those count that give nothing or an integer.
bool acts(const clang::FunctionDecl* f, llvm::function_ref<bool(const clang::FunctionDecl*)> derived);

}  // namespace clad
