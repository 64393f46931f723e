// Forward mode: a function becomes one that also computes the tangent of its result.
//
//   double f(double x)  ->  {value, tangent} f_pushforward(double x, double d_x)
//
// The transformation stays inside the IR: what it makes is an ordinary function, which can be printed,
// differentiated forward again (derivatives of higher order) or in reverse (Hessians).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose.h"
#include "ir.h"
#include "types.h"

namespace clad {

class TangentTransform {
 public:
  TangentTransform(ir::Function& fn, TypeTable& types, Diagnose& diagnose, std::uint64_t width)
      : fn_(fn), types_(types), diagnose_(diagnose), width_(width) {}

  /// Rewrites the function. Its calls are resolved and its activity is known; afterwards neither is.
  void run();

  /// The tangent of each variable that has one, once it has run.
  const std::map<ir::Var*, ir::Var*>& tangents() const { return tangents_; }

 private:
  void body(ir::Body& statements);
  void statement(ir::Stmt* s);
  void declaration(ir::Stmt* s);
  void share(ir::Stmt* loop);
  void checkpoint(ir::Stmt* loop);
  void alias(ir::Stmt* s);
  void declare_zero(ir::Var* v);
  void assignment(ir::Stmt* s);
  void returning(ir::Stmt* s);
  void add_parameters();
  void declare_constructed();
  void forget();

  // tangent_call.cpp
  void call(ir::Stmt* s);
  void pushforward_call(ir::Stmt* s);
  bool partials_by_pushforward(ir::Stmt* s);
  void pullback_call(ir::Stmt* s);
  void mirrored_call(ir::Stmt* s);
  void finish_call(ir::Stmt* s, std::unique_ptr<ir::CallInfo> info, const ir::Type* result);
  ir::CallInfo::Arg tangent_argument(const ir::CallInfo::Arg& arg);

  /// The tangent of an expression, null where it is zero.
  ir::Expr* tangent(const ir::Expr* e);
  ir::Expr* tangent_or_zero(ir::Expr* e);
  ir::Expr* product(const ir::Expr* e);
  ir::Expr* quotient(const ir::Expr* e);
  ir::Expr* list(const ir::Expr* e);
  /// The same path, or pointer, through the tangent of its root.
  ir::Expr* shadow_path(const ir::Expr* e);
  ir::Var* shadow(ir::Var* v);
  ir::Expr* zero(const ir::Type* type, ir::Expr* primal);
  ir::Expr* zero_element(const ir::Type* type, ir::Expr* primal);
  ir::Expr* zeros(const ir::Type* type, ir::Expr* primal);
  void add_missing(ir::Expr* list, const ir::Type* type);
  /// The type of a tangent: that of the primal, with clad::directions for numbers where there are several.
  const ir::Type* tangent_type(const ir::Type* type);
  void check_unbounded(const ir::Expr* written, ir::Loc loc);
  ir::Expr* sum(ir::Expr* a, ir::Expr* b, const char* op);
  ir::Expr* times(ir::Expr* a, ir::Expr* b);

  ir::Stmt* emit(ir::Stmt::Kind kind);
  ir::Var* declare(const char* name, const ir::Type* type, ir::Expr* init);

  ir::Function& fn_;
  TypeTable& types_;
  Diagnose& diagnose_;
  const std::uint64_t width_;  ///< how many directions at once
  ir::Body* out_ = nullptr;
  ir::Region* region_ = nullptr;
  std::map<ir::Var*, ir::Var*> tangents_;
  ir::Stmt* at_ = nullptr;  ///< the statement being rewritten
};

}  // namespace clad
