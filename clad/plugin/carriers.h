// Which types carry numbers of which derivatives are taken, as one sees them before anything is lowered.
#pragma once

#include <set>

#include "clang/AST/DeclCXX.h"

namespace clad::carriers {

/// What a pointer, a reference or an array leads to in the end.
clang::QualType behind(clang::QualType type);
bool is_void(clang::QualType type);
bool is_opaque(clang::QualType type);
bool is_iterator(clang::QualType type);
/// Whether a copy of a value of the type leads to the same numbers, which are changed by way of it: a
/// non-const pointer or reference, an iterator, a view.
bool is_access(clang::QualType type);
/// What is written to a file, or to a folder, is read by way of its name from another such object.
bool is_file(clang::QualType type);
/// What smart pointers, vectors and the like hold in the end.
clang::QualType held_in(clang::QualType type);
/// Whether nothing that matters is in an object of the type itself: what a lambda captures has names of its
/// own.
bool is_empty(clang::QualType type);
/// A generator of random numbers, which depends on nothing but its seed; not a distribution, which is made
/// from numbers.
bool is_generator(clang::QualType type);
/// Whether derivatives are taken of numbers in a value of the type. Of the library's classes only those are
/// followed that are known here: all others hold constants. `seen`: classes around it.
bool holds_numbers(clang::QualType type, std::set<const clang::CXXRecordDecl*>& seen);

}  // namespace clad::carriers
