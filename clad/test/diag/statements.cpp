// Statements that have no derivative.
#include <csetjmp>
#include <initializer_list>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double jumps(double x) {
  if (x > 0) goto out;
  // expected-error@-1 {{cannot differentiate 'goto'; use a loop or an early return}}
  x *= 2;
out:
  return x;
}
std::jmp_buf back;
double returns_twice(double x) {
  if (setjmp(back)) return 0;
  // expected-error@-1 {{which returns again; return a status, or throw an exception}}
  return x;
}
double throws_again(double x) {
  if (x < 0) throw;
  // expected-error@-1 {{cannot differentiate a 'throw' that throws again}}
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
  return x;
}
double statement_expression(double x) {
  return ({
    // expected-error@-1 {{cannot differentiate this expression (StmtExpr)}}
    if (x > 1) return x;
    x* x;
  });
}
double static_variable(double x) {
  static double kept = 0;
  kept += x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return kept;
}
double thread_variable(double x) {
  static thread_local double kept = 0;
  kept += x;
  // expected-error@-1 {{cannot differentiate an assignment to a global or static variable; pass it as a parameter}}
  return kept;
}
double first_value(double a);
double computed_by_the_first_call(double x) {
  static double kept = first_value(2);
  // expected-error@-1 {{cannot differentiate static variable 'kept': its first value is computed by the first call, which need not be the derivative's; make it a global variable}}
  return kept * x;
}
double from_the_first_argument(double x) {
  static const double kept = x;
  // expected-error@-1 {{cannot differentiate static variable 'kept': its first value is computed by the first call}}
  return kept * x;
}
int depth = 0;
struct Deeper {
  Deeper() { depth += 1; }
};
struct Higher {
  double by = 1;
  ~Higher() { depth -= 1; }
};
struct Pointed {
  double* to;
  double old;
  explicit Pointed(double* p) : to(p), old(*p) { *to = 2; }
  ~Pointed() { *to = old; }
};
struct Kept {
  int& of;
  explicit Kept(int& n) : of(n) {}
  ~Kept() { --of; }
};
double by_a_constructor(double x) {
  Deeper one;
  // expected-error@-1 {{cannot differentiate through an object of 'Deeper': its constructor changes a global variable; call a function that does so instead}}
  return x * depth;
}
struct Numbered {
  int id;
  explicit Numbered(int k) : id(k + depth++) {}
};
struct Copied {
  int id = 1;
  Copied() = default;
  Copied(const Copied& from) : id(from.id) { ++depth; }
};
struct Fewer {
  bool operator()(int a, int b) const {
    ++depth;
    return a < b;
  }
};
double of_a_copy(Copied c, double x) { return x * c.id; }
double by_other_constructors(double x) {
  Numbered one(2);
  // expected-error@-1 {{cannot differentiate through an object of 'Numbered': its constructor changes a global variable; call a function that does so instead}}
  std::vector<Numbered> many;
  many.emplace_back(3);
  // expected-error@-1 {{cannot differentiate through an object of 'Numbered': its constructor changes a global variable; call a function that does so instead}}
  Copied two;
  // expected-error@-1 {{cannot differentiate through an object of 'Copied': its constructor changes a global variable; call a function that does so instead}}
  return x * depth * one.id * of_a_copy(two, x);
}
double by_an_order(double x) {
  std::set<int, Fewer> numbers;
  numbers.insert(2);
  // expected-error@-1 {{cannot differentiate this use of the library with objects of 'Fewer': their 'operator()' changes a global variable; write the loop}}
  return x * depth;
}
double by_references(double x) {
  int a = 1, b = 2;
  std::tuple<int&, int&> both(a, b);
  // expected-error@-1 {{cannot differentiate through 'both', which holds references to variables; name the variables themselves}}
  std::get<0>(both)++;
  return x * a;
}
double by_a_destructor(double x) {
  {
    Higher one;
    // expected-error@-1 {{cannot differentiate through an object of 'Higher': its destructor changes a global variable}}
    x *= one.by;
  }
  return x * depth;
}
struct Logs {
  std::vector<int>* to;
  ~Logs() { to->push_back(1); }
};
struct Counts {
  int* owners;
  explicit Counts(int n) : owners(new int(n)) {}
  Counts(const Counts& from) : owners(from.owners) { ++*owners; }
  ~Counts() {
    if (--*owners == 0) delete owners;
  }
  int count() const { return *owners; }
};
struct Notes {
  std::vector<int>* to;
  explicit Notes(std::vector<int>* v) : to(v) {}
  Notes(const Notes& from) : to(from.to) { to->push_back(1); }
};
double by_what_objects_point_to(double x) {
  std::vector<int> v;
  {
    Logs logs{&v};
    // expected-error@-1 {{cannot differentiate through an object of 'Logs': its destructor changes what a member refers or points to}}
    x *= 2;
  }
  Counts one(1);
  // expected-error@-1 {{cannot differentiate through an object of 'Counts': its destructor changes what a member refers or points to}}
  Notes note(&v);
  // expected-error@-1 {{cannot differentiate through an object of 'Notes': its copy changes what a member points to}}
  return x * v.size() * one.count();
}
double by_a_destructor_elsewhere(double x) {
  int n = 2;
  Pointed pointed(&x);
  // expected-error@-1 {{cannot differentiate through an object of 'Pointed': its destructor changes what a member refers or points to}}
  {
    Kept kept(n);
    // expected-error@-1 {{cannot differentiate through an object of 'Kept': its destructor changes what a member refers or points to}}
    x *= n;
  }
  return x * n;
}
double listed(std::initializer_list<double> list) {
  double sum = 0;
  for (double x : list) sum += x;
  return sum;
}
double local_list(double x) {
  auto list = {x, x * x};
  double sum = 0;
  for (double y : list) sum += y;
  return sum;
}
double chosen_object(double x) {
  double a = x, b = 2 * x;
  int n = 0;
  (x > 1 ? a : (++n, b)) *= 3;
  return a * b * n;
}
double sums(std::initializer_list<double> list) { return *list.begin(); }
// expected-error@-1 {{cannot differentiate a function that is given a view itself; take the derivative of a function that makes it of a std::vector, or of a pointer and a length}}
double lists(double x) { return listed({x, 2 * x}); }
std::span<double> one_of(std::vector<double>& v, std::vector<double>& w, bool first) {
  if (first) return v;
  // expected-error@-1 {{cannot differentiate this return of a view, one of several; return it at the end}}
  return w;
  // expected-error@-1 {{cannot differentiate this return of a view, one of several; return it at the end}}
}
double returned_views(double x) {
  std::vector<double> v{x}, w{2 * x};
  return one_of(v, w, x > 1)[0];
}
double variable_length(double x, int n) {
  double a[n][2];
  // expected-error@-1 {{cannot differentiate array 'a' of arrays and of variable length; use std::vector}}
  a[0][0] = x;
  return a[0][0];
}
double named_length(double x, int n) {
  typedef double Row[n];
  n = 9;
  Row a;
  // expected-error@-1 {{cannot differentiate array 'a' of a type that was named before, of variable length; use std::vector}}
  a[0] = x;
  return a[0];
}
double captured_length(double x, int n) {
  double a[n];
  // expected-error@+1 {{cannot differentiate a lambda that captures an array of variable length; use std::vector}}
  const auto set = [&] { a[0] = x; };
  set();
  return a[0];
}

void use() {
  clad::gradient(jumps);
  clad::gradient(returns_twice);
  clad::gradient(throws_again);
  clad::gradient(assembles);
  clad::gradient(case_inside_a_loop);
  clad::gradient(switch_without_a_block);
  clad::gradient(declares_in_a_condition);
  clad::gradient(statement_expression);
  clad::gradient(static_variable);
  clad::gradient(thread_variable);
  clad::gradient(computed_by_the_first_call);
  clad::gradient(from_the_first_argument);
  clad::gradient(by_a_constructor);
  clad::gradient(by_other_constructors);
  clad::gradient(by_an_order);
  clad::gradient(by_references);
  clad::gradient(by_a_destructor);
  clad::gradient(by_a_destructor_elsewhere);
  clad::gradient(by_what_objects_point_to);
  clad::gradient(returned_views);
  clad::gradient(lists);
  clad::gradient(sums);
  clad::gradient(local_list);
  clad::gradient(chosen_object);
  clad::gradient(variable_length);
  clad::gradient(named_length);
  clad::gradient(captured_length);
}
