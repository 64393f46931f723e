// Numbers of one type that become numbers of another where the program does not write it: what a function
// returns, what a std::function hands on, lengths. A quotient of integers shows a conversion that is lost.
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double number(int v) { return v; }
double number_of(int v = 3) { return number(v); }
int whole(double v) { return v; }
double flag(bool b) { return b; }
double from_unsigned(unsigned v) { return v; }
template <class T>
T as(int v) {
  return v;
}
double half(double v) { return v / 2; }
double id(double v) { return v; }
double operator""_km(long double v) { return v; }

double of_literals(double x) {
  return x * (number(3) / 2) + x * (number_of() / 2) + x * (as<double>(3) / as<double>(2)) + x * half(3) +
         x * 2.5_km;
}
double of_variables(double x) {
  double s = 0;
  for (int i = 0; i < 4; ++i) s += x * (number(i) / 2) + whole(1.5 * i) / 2 * x;
  return s;
}
double of_conditions(double x) { return x * (flag(true) / 2) + x * (flag(x > 1) / 2); }
double of_large_integers(double x) { return x * (number(100000) * 100000) * 1e-9 - x * from_unsigned(3); }
double assigned(double x) {
  double y = x;
  y *= number(3) / 2;
  y += number(1) / 2 * x;
  return y;
}
double in_braces(double x) { return x * (double{3} / 2) + x * (double{} + 1); }
struct Box {
  int side;
  double edge() const { return side; }
  operator double() const { return side; }
  static double of(int v) { return v; }
};
double of_members(double x) {
  Box b{3};
  const auto ask = std::mem_fn(&Box::edge);
  return x * (b.edge() / 2) + x * (b / 2) + x * (Box{5}.edge() / 2) + x * (Box::of(7) / 2) + x * (ask(b) / 2);
}
TEST(Conversions, OfWhatFunctionsReturn) {
  EXPECT_GRADIENT(of_literals, 1.3);
  EXPECT_GRADIENT(of_variables, 1.3);
  EXPECT_GRADIENT(of_conditions, 1.3);
  EXPECT_GRADIENT(of_large_integers, 1.3);
  EXPECT_GRADIENT(assigned, 1.3);
  EXPECT_GRADIENT(in_braces, 1.3);
  EXPECT_GRADIENT(of_members, 1.3);
}

double results(double x) {
  const std::function<double(int)> number = [](int v) { return v; };
  const std::function<int(double)> whole = [](double v) { return v * 3; };
  const std::function<bool(double)> flag = [](double v) { return v; };
  return x * (number(3) / 2) + x * whole(x) + x * flag(0.5);
}
double arguments(double x) {
  const std::function<double(double)> whole = [](int v) { return v * 1.5; };
  const std::function<double(int)> halved = half;
  return x * whole(2.9) + x * whole(x) + x * halved(3) + x * halved(2.9);
}
double applied(const std::function<double(double)>& f, double x) { return f(x) / 2; }
double passed_on(double x) {
  return x * applied([](double) { return 3; }, x) + x * applied([](int v) { return 2 * v; }, 2.7);
}
double of_elements(double x) {
  const std::array<std::function<double(int)>, 2> all{[](int v) { return v; }, [](int v) { return 2 * v; }};
  double s = 0;
  for (int k = 0; k < 2; ++k) s += all[k](3) / 2 * x;
  return s;
}
double of_pointers_to_members(double x) {
  Box b{3};
  const std::function<double(const Box&)> edge = &Box::edge, side = &Box::side;
  return x * (edge(b) / 2) + x * (side(b) / 2);
}
double bound(double x) {
  const auto same = std::bind(id, std::placeholders::_1);
  return x * (same(3) / 2);
}
TEST(Conversions, OfStandardFunctions) {
  EXPECT_GRADIENT(results, 1.3);
  EXPECT_GRADIENT(arguments, 1.3);
  EXPECT_GRADIENT(passed_on, 1.3);
  EXPECT_GRADIENT(of_elements, 1.3);
  EXPECT_GRADIENT(of_pointers_to_members, 1.3);
  EXPECT_GRADIENT(bound, 1.3);
}

double last(std::span<const double> s) {
  double sum = s[0] * static_cast<double>(s.size() - 5 > 0 ? 2 : 3);
  for (int i = 0; i < std::ssize(s) - 5; ++i) sum += s[i] * s[i];
  return sum;
}
double of_views(double x) {
  double a[3] = {x, 2 * x, 3 * x};
  const std::span<double> s(a);
  return last(a) + a[1] * (s.size() - 5 > 0 ? 2 : 3);
}
double read_backwards(const double (&a)[3]) { return a[2] * (std::size(a) - 5 > 0 ? 2 : 3); }
double of_arrays(double x) {
  const double a[3] = {x, 2 * x, 3 * x};
  return read_backwards(a);
}
TEST(Conversions, OfLengths) {
  EXPECT_GRADIENT(of_views, 1.3);
  EXPECT_GRADIENT(of_arrays, 1.3);
}

double of_an_optional(double x) {
  std::optional<int> n = 3.7;
  std::optional<double> d = n;
  return x * (*n + *d / 2);
}
TEST(Conversions, OfWhatAnOptionalHolds) { EXPECT_GRADIENT(of_an_optional, 1.3); }

double named_again(double x) {
  double a = x;
  const double &r = a, &s = r;
  const_cast<double&>(s) *= x;
  std::vector<double> v{x, 2 * x};
  for (const double& e : v) const_cast<double&>(e) *= a;
  const double* p = &a;
  *const_cast<double*>(p) *= x;
  return r * v[0] + v[1];
}
TEST(Conversions, ThatTakeAwayAConst) { EXPECT_GRADIENT(named_again, 1.3); }

/// An allocator as they were written before C++11, and one that leaves numbers as they are in memory.
template <class T>
struct Older {
  using value_type = T;
  using pointer = T*;
  Older() = default;
  template <class U>
  Older(const Older<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p); }
  void construct(pointer p, const T& v) { new (static_cast<void*>(p)) T(v); }
  void destroy(pointer p) { p->~T(); }
  friend bool operator==(const Older&, const Older&) { return true; }
};
template <class T>
struct Uninitialized : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};
template <class Allocator>
double filled(double x) {
  std::vector<double, Allocator> v(2, x);
  v.push_back(x * x);
  v[0] *= v[2];
  return v[0] * v[1];
}
double older(double x) { return filled<Older<double>>(x); }
double uninitialized(double x) { return filled<Uninitialized<double>>(x); }
TEST(Conversions, NoneByAllocatorsThatConstructPlainly) {
  EXPECT_GRADIENT(older, 1.3);
  EXPECT_GRADIENT(uninitialized, 1.3);
}

}  // namespace
