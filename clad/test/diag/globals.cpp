// A global variable has no adjoint: reading it is a constant, writing something active to it an error.
#include "clad/Differentiator/Differentiator.h"

double global;
double table[3];
struct Accumulator {
  double sum = 0;
  static inline double total = 0;
  void add(double x) { sum += x; }
} accumulator;
double& stored() {
  static double value;
  return value;
}
void set(double& to, double x) { to = x; }

double reads(double x) { return x * global * table[1] * accumulator.sum; }
double counts(double x) {
  static int calls = 0;
  return x * global;
}
double writes_a_constant(double x) {
  global = 3;
  return x * global;
}

double writes(double x) {
  global = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return global;
}
double through_a_reference(double x) {
  double& r = global;
  r = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return global;
}
double through_a_pointer(double x) {
  double* p = table;
  p[1] = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return table[1];
}
double through_a_parameter(double x) {
  set(global, x);
  // expected-error@-1 {{cannot differentiate a call that changes a global or static variable; pass it as a parameter}}
  return global;
}
double through_a_method(double x) {
  accumulator.add(x);
  // expected-error@-1 {{cannot differentiate a call that changes a global or static variable; pass it as a parameter}}
  return accumulator.sum;
}
double through_a_member(double x) {
  Accumulator::total = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  accumulator.sum = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return Accumulator::total;
}
double through_a_returned_reference(double x) {
  stored() = x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return stored();
}
double inside_a_callee(double x) { return writes(x) * x; }
double captured(double x) {
  auto set_it = [&] { global = x; };
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  set_it();
  return global;
}

double declared_here_alone(double x) {
  extern double elsewhere;
  // expected-error@+1 {{cannot differentiate a use of variable 'elsewhere', which is declared in a function alone; declare it outside as well}}
  return x * elsewhere;
}

void use() {
  clad::gradient(declared_here_alone);
  clad::gradient(reads);
  clad::gradient(counts);
  clad::gradient(writes_a_constant);
  clad::gradient(writes);
  clad::gradient(through_a_reference);
  clad::gradient(through_a_pointer);
  clad::gradient(through_a_parameter);
  clad::gradient(through_a_method);
  clad::gradient(through_a_member);
  clad::gradient(through_a_returned_reference);
  clad::gradient(inside_a_callee);
  clad::gradient(captured);
}
