// What reading an expression and running a statement touch: what analyses of the IR ask.
#pragma once

#include <set>

#include "ir.h"

namespace clad::ir {

struct Effects {
  std::set<const Var*> vars;
  bool outside = false;     ///< memory of the caller, any of which may be the same as any other
  bool unknown = false;     ///< globals, and what only the callee knows
  bool everything = false;  ///< also local variables, through pointers to them
};

/// Adds what the value of `e` depends on.
void add_reads(const Expr* e, Effects& to);
/// Adds what running the statements may change. What they declare is included.
void add_writes(const Stmt* s, Effects& to);
void add_writes(const Body& body, Effects& to);
/// Whether the statements depend on nothing but the function's variables, and change nothing else.
bool is_pure(const Body& body);
/// Whether what `writes` changes may change what `reads` sees.
bool conflict(const Effects& reads, const Effects& writes);
/// Whether it is a call of a function of <cmath> or the like, of numbers.
bool is_math(const Expr* e);
/// Whether a variable may hold the address of another, where it is not an alias known by its path.
bool may_point(const Var* v);
/// Whether a type without derivatives holds numbers all the same: a std::map of them, an iterator into one, a
/// class with such a member.
bool keeps_numbers(const Type* type);
/// Whether a path leads into an object of such a type, or to what one was asked for.
bool keeps_numbers(const Expr* path);
/// The handle by which a path leads to what carries no derivative, and which the reverse sweep may not find
/// as it was: an iterator, a pointer or reference that a call returned; null for any other path.
const Var* constant_behind(const Expr* path);
/// The variable that is put back after a change of what a path names: of what lies behind a handle, the
/// object that the handle was asked of; null where there is none.
Var* changed_by(const Expr* path);
/// Whether a path leads through a pointer that is a variable, a member or an element.
bool leads_through_pointer(const Expr* path);

}  // namespace clad::ir
