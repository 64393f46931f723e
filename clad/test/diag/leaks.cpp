// A number that depends on the parameters may be put into what carries no derivative. What is made from it
// again is an error, where it is made.
#include <any>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>

#include "clad/Differentiator/Differentiator.h"

double text(double x) {
  const std::string s = std::to_string(x);
  return std::stod(s);
  // expected-error@-1 {{cannot differentiate this number: it comes from 's' of type 'std::string', which holds no derivative, and depends on the parameters; keep it in a number, an array, a std::vector or a class of these, or say that a constant is meant: clad::stop_gradient(x)}}
}
double only_shown(double x) {
  std::ostringstream out;
  out << "x = " << x;
  std::puts(out.str().c_str());
  return x * x;
}

double stored;
void store(double x) { stored = x; }
double global(double x) {
  store(x);
  return stored;
  // expected-error@-1 {{cannot differentiate this number: it comes from the global or static variable 'stored', without its derivative, and depends on the parameters}}
}
double never_read;
void keep(double x) { never_read = x; }
double only_kept(double x) {
  keep(x * x);
  return x;
}

double& slot() {
  static double s;
  return s;
}
void set(double v) { slot() = v; }
double last() {
  return slot();
  // expected-error@-1 {{cannot differentiate this number: it comes from what 'slot' returns, without its derivative}}
}
double singleton(double x) {
  set(x * x);
  return last();
}

double of_bytes(const unsigned char* bytes) {
  double y;
  std::memcpy(&y, bytes, sizeof y);
  // expected-error@-1 {{cannot differentiate this number: it comes from 'bytes' of type 'const unsigned char *', which holds no derivative}}
  return y;
}
double bytes(double x) {
  unsigned char b[8];
  std::memcpy(b, &x, 8);
  return of_bytes(b);
}

double target(double t, void* context) {
  return t * *static_cast<double*>(context);  // followed
}
double call(void* context) { return target(2, context); }
double callback(double x) { return call(&x); }

struct Integrand {
  double (*f)(double, void*);
  void* context;
};
double context_in_object(double x) {
  Integrand i{target, &x};
  // expected-error@-1 {{cannot differentiate this conversion to 'void*': it is followed where a function whose body is visible, and which is not recursive, takes it as a parameter; pass the pointer itself}}
  return i.f(2, i.context);
}
double innermost(void* context, int n) {
  return n == 0 ? *static_cast<double*>(context) : innermost(context, n - 1);
  // expected-error@-1 {{cannot differentiate through this 'void*': what it points to is not seen here; it is followed where it is a parameter of a function that is visible at its calls}}
}
double recursive_context(double x) { return innermost(&x, 2); }
double wrong_context(double x) {
  const auto get = [](void* context) { return *static_cast<float*>(context); };
  // expected-error@-1 {{cannot differentiate this cast: 'context' points to 'double' here}}
  return get(&x);
}

union Bits {
  double number;
  long bits;
};
double tagged(double x) {
  Bits b;
  b.number = x;
  return b.number * x;
  // expected-error@-1 {{cannot differentiate this number: it comes from 'number', a member of a union, without its derivative}}
}

struct Settings {
  std::map<std::string, double> values;
  double factor;
};
double in_a_map(const Settings& s, double x) {
  return s.values.at("k") * s.factor * x;
  // expected-error@-1 {{cannot differentiate this number: it comes from 'values' of type 'std::map<std::string, double>', which holds no derivative}}
}
double of_settings(const Settings& s, double x) { return s.values.at("k") * s.factor * x; }

typedef double two __attribute__((vector_size(16)));
double lanes(double x) {
  two a = {x, 2};
  const double* p = (const double*)&a;
  // expected-error@-1 {{cannot differentiate this cast (BitCast)}}
  return p[0];
}
two refused_before(const double (*v)[2], two b) {
  const two a = *(const two*)v;
  // expected-error@-1 {{cannot differentiate this cast (BitCast)}}
  b -= a;
  return __builtin_shufflevector(a, b * a, 0, 2) + (b > a ? a : b);
}
double uses_refused(double x) {
  double v[1][2] = {{x, 2}};
  return refused_before(v, two{x, x})[0];
}
double mask(double x) {
  two a = {x, 2}, b = {2, x};
  auto larger = a > b;
  a = larger ? a : b;
  // expected-error@-1 {{cannot differentiate a choice by a vector of bits; compare where it is chosen}}
  return a[0];
}
double builtin_of_lanes(double x) {
  two a = {x, 2};
  a = __builtin_elementwise_max(a, a * a);
  // expected-error@-1 {{cannot differentiate '__builtin_elementwise_max' of vectors; write it for each number, or with the vectors' operators}}
  return a[0];
}
typedef double other_two __attribute__((ext_vector_type(2)));
double other_lanes(double x) {
  other_two a = {x, 2};
  return a[0];
  // expected-error@-1 {{cannot differentiate this number: it comes from 'a' of type 'other_two', which holds no derivative}}
}

double of_pairs(double x) {
  std::pair<double, int> p{x, 1};
  p.first *= x;
  return std::stod(std::to_string(p.first));
  // expected-error@-1 {{cannot differentiate this number: it comes from 'p' by way of text, bytes or another type without derivatives}}
}

// A class that leads to itself, which once made maps and distributions pass for followed.
struct Node {
  double value = 0;
  std::unique_ptr<Node> next;
};
double of_node(double x) {
  Node head;
  head.next = std::make_unique<Node>();
  head.next->value = x;
  return head.next->value;
}
struct Noise {
  std::normal_distribution<double> around;
  void put(double x) { around = std::normal_distribution<double>(x, 1); }
  double mean() const { return around.mean(); }
};
void fill(Noise* n, double x) { n->put(2 * x); }
double of_noise(double x) {
  Noise n;
  fill(&n, x);
  // expected-error@-1 {{cannot differentiate what puts a number that depends on the parameters into a container or a random distribution}}
  return n.mean() * x;
}

double meant(double x) {
  const std::string s = std::to_string(x);
  return x * clad::stop_gradient(std::stod(s)) + std::stod(std::to_string(clad::stop_gradient(x)));
}

double goes_on(double x) {
  try {
    return std::stod("1") * x;
  } catch (const std::exception&) {
    // expected-error@-1 {{cannot differentiate a function that goes on after this handler: what ran before the exception is not known; let the handler throw the exception again, or return a status in place of it}}
    return 0;
  }
}

// Constructors that only the library calls.
struct Named {
  double number = 0;
  double& name = number;
};
struct BitsOfOne {
  std::int64_t bits = 0;
  void put(double x) { bits = *reinterpret_cast<std::int64_t*>(&x); }
  double get() const { return *reinterpret_cast<const double*>(&bits); }
  // expected-error@-1 {{cannot differentiate this number: it comes from 'bits' of type 'std::int64_t'}}
};
double in_a_pair(double x) {
  std::pair<int, Named> p;
  p.second.name = x;
  BitsOfOne b;
  b.put(p.second.number);
  return b.get() * x;
}

void use() {
  clad::gradient(in_a_pair);
  clad::gradient(text);
  clad::differentiate(text, "x");
  clad::gradient(only_shown);
  clad::gradient(global);
  clad::gradient(only_kept);
  clad::gradient(singleton);
  clad::gradient(bytes);
  clad::gradient(callback);
  clad::gradient(context_in_object);
  clad::gradient(recursive_context);
  clad::gradient(wrong_context);
  clad::gradient(tagged);
  clad::gradient(in_a_map, "s");
  clad::gradient(of_settings, "x");
  clad::gradient(lanes);
  clad::gradient(uses_refused);
  clad::gradient(mask);
  clad::gradient(builtin_of_lanes);
  clad::gradient(other_lanes);
  clad::gradient(of_pairs);
  clad::gradient(of_node);
  clad::gradient(of_noise);
  clad::gradient(meant);
  clad::gradient(goes_on);
}
