// Pointers, references and storage whose derivative would not be followed.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double allocates(double x) {
  double* p = new double(x);
  double y = *p * x;
  delete p;
  return y;
}
double as_bytes(double x) {
  int k[2] = {1, 2};
  double s = k[0] * x;
  char* bytes = (char*)k;
  // expected-error@-1 {{cannot differentiate this conversion of a pointer: what is changed through it is not seen; convert to a pointer to const, or copy the bytes}}
  bytes[0] = 3;
  return s * k[0];
}
int first_of(int** rows) { return rows[0][0]; }
double rows_of_integers(double x) {
  int a[2] = {1, 2};
  int* rows[1] = {a};
  // expected-error@-1 {{cannot differentiate through 'rows', which holds pointers to integers, where it is passed on or changed; keep the integers themselves in it, or indices}}
  return first_of(rows) * x;
}
double sorts_backwards(double x) {
  std::vector<int> v{3, 1, 2};
  std::sort(v.rbegin(), v.rend());
  // expected-error@-1 {{cannot differentiate this call with a reverse iterator; take begin() and end(), and another order}}
  return v[0] * x;
}
double pointer_that_moves(const double* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += *p++;
  return s;
}
double pointer_assigned(double* p, double* q, int n) {
  double* r = p;
  if (n > 1) r = q;
  return *r;
}
double pointer_chosen(double* p, double* q, int n) {
  double* r = n > 1 ? p : q;
  *r *= 2;
  return p[0] * q[0];
}
double pointer_without_initializer(double x) {
  double* p;
  p = &x;
  return *p;
}
double pointer_never_assigned(double x) {
  double* p;
  // expected-error@-1 {{cannot differentiate through pointer 'p', which has no initializer}}
  return x * *p;
}
double pointer_into_what_comes_later(double x) {
  double* p = nullptr;
  for (int i = 0; i < 2; ++i) {
    double a = x * i;
    p = &a;
    // expected-error@-1 {{cannot differentiate through pointer 'p', which is assigned an address in something that is declared later or changes; declare another pointer there}}
    x += *p;
  }
  return x;
}
double pointer_into_a_row(const std::vector<std::vector<double>>& rows) {
  const double* p = rows[0].data();
  double s = 0;
  for (int i = 0; i < 2; ++i) {
    p = rows[i].data();
    // expected-error@-1 {{cannot differentiate through pointer 'p', which is assigned an address in something that is declared later or changes; declare another pointer there}}
    s += *p++;
  }
  return s;
}
void set(double*& p, double* to) { p = to; }
double pointer_by_reference(double* x, double* y) {
  double* p = x;
  // expected-error@-1 {{cannot differentiate through pointer 'p', which is changed through a reference or pointer to it; return the new pointer's index instead}}
  set(p, y);
  return *p;
}
double pointer_parameter_by_reference(double* x, double* y) {
  // expected-error@-1 {{cannot differentiate through pointer 'x', which is changed through a reference or pointer to it; return the new pointer's index instead}}
  set(x, y);
  return *x;
}
struct Walker {
  double* p;
  double next() { return *p++; }
  // expected-error@-1 {{cannot differentiate through a pointer that is assigned; index from a fixed pointer instead}}
};
double member_that_moves(Walker& w) { return w.next() * w.next(); }
double norm(double** rows) { return rows[0][0] * rows[1][0]; }
double array_of_pointers(double x, double y) {
  double* p[2] = {&x, &y};
  // expected-error@-1 {{cannot differentiate a pointer that is kept in an array or an object; keep what it points to there, or an index}}
  // expected-error@-2 {{cannot differentiate through 'p': its type 'double *[2]' contains pointers to differentiable data; keep the objects themselves in it, or indices}}
  return norm(p);
}
double pointer_to_pointer(double** p) { return *p[0]; }

struct Tagged {
  int& count;
  double value;
};
double beside_a_reference(double x) {
  int n = 0;
  Tagged t{n, x};
  return t.value * t.count;
}
struct Settings {
  const int& n;
};
double constant_reference(double x, const int& n) { return x * Settings{n}.n; }
double chosen_array(double x) {
  double a[1] = {x}, b[1] = {2};
  auto [first] = x > 0 ? a : b;
  // expected-error@-1 {{cannot differentiate a copy of an array that is chosen at run time; use if and else}}
  return a[0] * first;
}
int by_size(const void* a, const void* b);
double integers_behind_a_pointer(const double* a, int* index, int n) {
  double s = a[index[0]];
  std::qsort(index, n, sizeof *index, by_size);
  // expected-error@-1 {{cannot differentiate this call of 'qsort': it may change what is behind pointer 'index', which could not be put back; use an array or a std::vector}}
  return s * a[index[0]];
}
double swapped_arrays(double x) {
  double a[1] = {x}, b[1] = {2};
  std::swap(a, b);
  // expected-error@-1 {{cannot differentiate 'swap' of arrays; use std::array}}
  return a[0];
}
double iterator_into_exchanged(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  auto it = v.begin();
  std::swap(v, w);
  // expected-error@-1 {{cannot differentiate through 'it' after this call: it points into a vector whose elements another one gets here; take the pointer afterwards, or copy the elements}}
  return *++it;
}
double reference_into_exchanged(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  double s = 0;
  for (double& e = v[0]; s < 1; v.swap(w)) s += e;
  // expected-error@-1 {{cannot differentiate through 'e' after this call}}
  return s;
}
double range_exchanged(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  double s = 0;
  for (const double e : v) {
    s += e;
    v.swap(w);
    // expected-error@-1 {{cannot differentiate a range-for over a vector whose elements another one gets in the body; take an index}}
  }
  return s;
}
double pointer_into_moved(double x, double y) {
  std::vector<double> v{x, x * x}, w;
  double* p;
  p = v.data();
  w = std::move(v);
  // expected-error@-1 {{cannot differentiate through 'p' after this call}}
  p[0] = y;
  return w[0] * w[1];
}
void exchange(std::vector<double>& a, std::vector<double>& b) { a.swap(b); }
double exchanged_by_callee(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  const double* p = v.data();
  auto step = [&] { exchange(v, w); };
  step();
  // expected-error@-1 {{cannot differentiate through 'p' after this call}}
  return p[0] * v[1];
}
double exchanged_by_other_name(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  auto step = [&] { v.swap(w); };
  const auto& same = step;
  auto calls = [&] { same(); };
  const double* p = v.data();
  calls();
  // expected-error@-1 {{cannot differentiate through 'p' after this call}}
  return p[0] * v[1];
}
double captured_pointer(double x, double y) {
  std::vector<double> v{x, x * x}, w{y, y};
  const auto f = [p = v.data()] { return p[0]; };
  std::swap(v, w);
  // expected-error@-1 {{cannot differentiate through 'f' after this call}}
  return f() * v[1];
}
double rows_exchanged(double x) {
  std::vector<std::vector<double>> rows{{x, 2 * x}, {3 * x, x * x}};
  std::vector<double>& first = rows[0];
  const double* p = first.data();
  std::swap(rows[0], rows[1]);
  // expected-error@-1 {{cannot differentiate through 'p' after this call}}
  return p[0] * first[1];
}
union Number {
  double d;
  float f;
};
double union_local(double x) {
  Number u;
  u.d = x * x;
  return u.d;
  // expected-error@-1 {{cannot differentiate this number: it comes from 'd', a member of a union, without its derivative}}
}
double union_parameter(Number u) { return u.d; }
// expected-error@-1 {{cannot differentiate this number: it comes from 'd', a member of a union, without its derivative}}
struct WithUnion {
  union {
    double d;
    int i;
  };
  double e;
};
double anonymous_union(double x) {
  WithUnion w;
  w.d = x;
  w.e = x;
  return w.d * w.e;
  // expected-error@-1 {{cannot differentiate this number: it comes from 'd', a member of a union, without its derivative}}
}

double copies_bytes(double x) {
  double y;
  std::memcpy(&y, &x, sizeof x);
  return y;
}
double reinterprets(double x) { return *reinterpret_cast<float*>(&x); }
// expected-error@-1 {{cannot differentiate this cast (BitCast)}}
struct Nothing {};
struct FirstNothing {
  [[no_unique_address]] Nothing nothing;
  double x;
};
double first_nothing(double x) {
  FirstNothing f{{}, x};
  return ((double*)&f)[0];
  // expected-error@-1 {{cannot differentiate this cast (BitCast)}}
}
void releases(double* p) { delete p; }
// expected-error@-1 {{cannot differentiate the release of memory that this function has not allocated}}
double passes_to_release(double* p) {
  double y = *p * *p;
  releases(p);
  return y;
}
double rows_of_any_number(double x, int n) {
  double(*m)[3] = new double[n][3];
  // expected-error@-1 {{cannot differentiate an allocation of arrays whose number is not a constant; use a vector of std::array}}
  m[0][1] = x;
  double y = m[0][1];
  delete[] m;
  return y;
}
double rows_with_values(double x) {
  double(*m)[2] = new double[2][2]{{x, 1}, {2, 3}};
  // expected-error@-1 {{cannot differentiate this 'new' of arrays with initial values; assign them}}
  double y = m[0][0];
  delete[] m;
  return y;
}
double allocates_bytes(double x, int bytes) {
  double* p = (double*)std::malloc(bytes);
  // expected-error@-1 {{cannot differentiate this allocation: the number of elements is not seen; write malloc(n * sizeof(T)), or use std::vector}}
  p[0] = x;
  return p[0];
}
double gives_away(double x) {
  auto p = std::make_unique<double>(x);
  p.reset();
  // expected-error@-1 {{cannot differentiate 'reset' of a pointer that owns its object; let one pointer own it for its whole life}}
  return x;
}
double* passes_on(double* p, int n) {
  if (n > 1) return passes_on(p + 1, n - 1);
  // expected-error@-1 {{cannot differentiate call to 'passes_on': it returns a pointer to differentiable data, and is recursive, virtual or not visible; return an index}}
  return p;
}
double returned_pointer(double* p, int n) { return *passes_on(p, n); }
double& largest(double* p, int n) {
  if (n == 1) return p[0];
  double& other = largest(p + 1, n - 1);
  return p[0] > other ? p[0] : other;
}
double returned_reference(double x, double y) {
  double p[2] = {x, y};
  largest(p, 2) *= 2;
  // expected-error@-1 {{cannot differentiate an assignment through a reference that a call returned: the function is recursive, virtual or not visible; return an index}}
  return p[0] * p[1];
}
double owns(double x) {
  auto p = std::make_unique<double>(x);
  return *p;
}

/// Allocators whose elements are not what a container is given for them.
template <class T>
struct Allocates {
  using value_type = T;
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p); }
  friend bool operator==(const Allocates&, const Allocates&) { return true; }
};
template <class T>
struct Doubling : Allocates<T> {
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(2 * args...);
  }
};
double doubled(double x) {
  std::vector<double, Doubling<double>> v;
  // expected-error@-1 {{cannot differentiate through 'v' of type 'std::vector<double, Doubling<double>>': derivatives of that type are not supported; use numbers, arrays, std::vector, std::array, std::tuple, std::optional, or a class of these}}
  v.push_back(x);
  return v[0];
}
double everywhere = 1;
template <class T>
struct OfGlobal : Allocates<T> {
  template <class U, class... Args>
  void construct(U* p, Args&&...) {
    ::new (static_cast<void*>(p)) U(everywhere);
  }
};
double of_global(double x) {
  std::vector<double, OfGlobal<double>> v;
  // expected-error@-1 {{cannot differentiate through 'v' of type 'std::vector<double, OfGlobal<double>>'}}
  v.push_back(x);
  return v[0];
}
template <class T>
struct OfMember : Allocates<T> {
  T value = 1;
  template <class U, class... Args>
  void construct(U* p, Args&&...) {
    ::new (static_cast<void*>(p)) U(value);
  }
};
double of_member(double x) {
  std::vector<double, OfMember<double>> v;
  // expected-error@-1 {{cannot differentiate through 'v' of type 'std::vector<double, OfMember<double>>'}}
  v.push_back(x);
  return v[0];
}
template <class T>
struct OfNothing : Allocates<T> {
  template <class U, class... Args>
  void construct(U* p, Args&&...) {
    ::new (static_cast<void*>(p)) U();
  }
};
double of_nothing(double x) {
  std::vector<double, OfNothing<double>> v;
  // expected-error@-1 {{cannot differentiate through 'v' of type 'std::vector<double, OfNothing<double>>'}}
  v.push_back(x);
  return v[0];
}

void use() {
  clad::gradient(doubled);
  clad::gradient(of_global);
  clad::gradient(of_member);
  clad::gradient(of_nothing);
  clad::gradient(allocates);
  clad::gradient(pointer_that_moves);
  clad::gradient(pointer_assigned);
  clad::gradient(pointer_never_assigned);
  clad::gradient(pointer_into_what_comes_later);
  clad::gradient(pointer_into_a_row);
  clad::gradient(as_bytes);
  clad::gradient(rows_of_integers);
  clad::gradient(sorts_backwards);
  clad::gradient(pointer_by_reference);
  clad::gradient(pointer_parameter_by_reference);
  clad::gradient(member_that_moves);
  clad::gradient(pointer_chosen);
  clad::gradient(pointer_without_initializer);
  clad::gradient(array_of_pointers);
  clad::gradient(pointer_to_pointer);
  clad::gradient(beside_a_reference);
  clad::gradient(constant_reference, "x");
  clad::gradient(chosen_array);
  clad::gradient(integers_behind_a_pointer, "a");
  clad::gradient(swapped_arrays);
  clad::gradient(iterator_into_exchanged);
  clad::gradient(reference_into_exchanged);
  clad::gradient(range_exchanged);
  clad::gradient(pointer_into_moved);
  clad::gradient(exchanged_by_callee);
  clad::gradient(exchanged_by_other_name);
  clad::gradient(captured_pointer);
  clad::gradient(rows_exchanged);
  clad::gradient(union_local);
  clad::gradient(union_parameter);
  clad::gradient(anonymous_union);
  clad::gradient(copies_bytes);
  clad::gradient(reinterprets);
  clad::gradient(first_nothing);
  clad::gradient(returned_pointer);
  clad::gradient(returned_reference);
  clad::gradient(owns);
  clad::gradient(passes_to_release);
  clad::gradient(rows_of_any_number);
  clad::gradient(rows_with_values);
  clad::gradient(allocates_bytes);
  clad::gradient(gives_away);
}
