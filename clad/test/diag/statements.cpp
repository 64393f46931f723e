// Statements that have no derivative.
#include "clad/Differentiator/Differentiator.h"

double jumps(double x) {
  if (x > 0) goto out;
  // expected-error@-1 {{cannot differentiate 'goto' and labels; use a loop or an early return}}
  x *= 2;
out:
  // expected-error@-1 {{cannot differentiate 'goto' and labels; use a loop or an early return}}
  return x;
}
double tries(double x) {
  try {
    // expected-error@-1 {{cannot differentiate 'try'; move the exception handling out of the differentiated function}}
    x *= 2;
  } catch (...) {
  }
  return x;
}
double throws(double x) {
  if (x < 0) throw 1;
  // expected-error@-1 {{cannot differentiate 'throw'; check arguments before the differentiated function}}
  return x;
}
double assembles(double x) {
  asm volatile("" : "+r"(x));
  // expected-error@-1 {{cannot differentiate this statement (GCCAsmStmt)}}
  return x;
}
double case_inside_a_loop(double x, int n) {
  switch (n) {
    case 0:
      do {
        x *= 2;
        case 1:
          // expected-error@-1 {{cannot differentiate this statement (CaseStmt)}}
          x += 1;
      } while (--n > 0);
  }
  return x;
}
double switch_without_a_block(double x, int n) {
  switch (n)
  // expected-error@-1 {{cannot differentiate a switch without a block}}
  case 1:
    x *= 2;
  return x;
}
double declares_in_a_condition(double x) {
  while (double y = x - 1) x = y / 2;
  // expected-error@-1 {{cannot differentiate a declaration in a loop condition}}
  return x;
}
double statement_expression(double x) {
  return ({
    // expected-error@-1 {{cannot differentiate this expression (StmtExpr)}}
    double y = x;
    y* x;
  });
}
double static_variable(double x) {
  static double kept = 0;
  // expected-error@-1 {{cannot differentiate through static variable 'kept'}}
  kept += x;
  return kept;
}
double thread_variable(double x) {
  static thread_local double kept = 0;
  // expected-error@-1 {{cannot differentiate through static variable 'kept'}}
  kept += x;
  return kept;
}
double variable_length(double x, int n) {
  double a[n];
  // expected-error@-1 {{cannot differentiate array 'a' of variable length; use std::vector}}
  a[0] = x;
  return a[0];
}

void use() {
  clad::gradient(jumps);
  clad::gradient(tries);
  clad::gradient(throws);
  clad::gradient(assembles);
  clad::gradient(case_inside_a_loop);
  clad::gradient(switch_without_a_block);
  clad::gradient(declares_in_a_condition);
  clad::gradient(statement_expression);
  clad::gradient(static_variable);
  clad::gradient(thread_variable);
  clad::gradient(variable_length);
}
