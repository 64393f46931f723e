// Classes that are not a plain sum of their bases and members.
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

struct A {
  double x = 1;
};
struct B : virtual A {
  double y = 3;
};
struct C : virtual A {
  double z = 4;
};
struct D : B, C {};
double virtual_base(D d) {
  // expected-error@-1 {{cannot differentiate through 'd' of type 'D': derivatives of that type are not supported}}
  D e = d;
  // expected-error@-1 {{cannot differentiate through 'e' of type 'D': derivatives of that type are not supported}}
  e.x *= 2;
  return e.x * e.y;
}

struct References {
  double& r;
  References(double& x) : r(x) {}
};
double reference_member(const References& w) {
  return w.r * 2;
  // expected-error@-1 {{cannot differentiate through reference member 'r'}}
}

struct ReadsArray {
  double a[2];
  double b = a[0];
  // expected-error@-1 {{cannot differentiate a default member initializer that reads 'a'; give the class a constructor}}
};
struct CallsMember {
  double a;
  double b = twice();
  // expected-error@-1 {{cannot differentiate this default member initializer: it uses 'this' for more than to read a member}}
  double twice() const { return 2 * a; }
};
double default_initializers(double x) {
  ReadsArray r{{x, x}};
  CallsMember c{x};
  return r.b * c.b;
}

struct TupleLike {
  double a, b;
};
template <std::size_t I>
const double& get(const TupleLike& p) {
  return I == 0 ? p.b : p.a;
}
namespace std {
template <>
struct tuple_size<TupleLike> {
  static constexpr size_t value = 2;
};
template <size_t I>
struct tuple_element<I, TupleLike> {
  using type = const double;
};
}  // namespace std
double tuple_like(double x) {
  TupleLike p{x, 2};
  const auto& [u, v] = p;
  // expected-error@-1 {{cannot differentiate structured bindings through a tuple-like get<>()}}
  return u * u * v;
}

struct Chain {
  double v;
  Chain& pick(Chain& o) {
    // expected-error@-1 {{cannot differentiate 'Chain::pick': it returns a reference to differentiable data, and is recursive or virtual; return by value, or give it a pullback}}
    if (o.v < v) return o.pick(*this);
    return *this;
  }
};
double returned_reference(double x, double y) {
  Chain a{x}, b{y};
  a.pick(b).v *= x;
  return a.v * b.v;
}

struct NoDefault {
  double a;
  explicit NoDefault(double x) : a(x) {}
};
double array_of_no_default(double x) {
  NoDefault r[2]{NoDefault(x), NoDefault(x * x)};
  // expected-error@-1 {{cannot differentiate array 'r' of a class without default constructor; use std::array}}
  return r[0].a * r[1].a;
}
double std_array_of_no_default(double x) {
  std::array<NoDefault, 2> r{NoDefault(x), NoDefault(x * x)};
  return r[0].a * r[1].a;
}

struct Moves {
  std::vector<double> v;
  explicit Moves(double x) : v{x} {}
  Moves(Moves&& o) noexcept : v(std::move(o.v)) {}
};
double not_copyable(double x) {
  Moves a(x);
  // expected-error@-1 {{cannot differentiate through 'a': its type 'Moves' cannot be copied; pass such an object by reference}}
  return a.v[0];
}
double by_reference(const Moves& a, double x) { return a.v[0] * x; }
struct Starts {
  double v;
  explicit Starts(double x) : v(x) { start(x); }
  // expected-error@-1 {{cannot differentiate 'Starts::start' in a constructor: it calls virtual functions of the object that is under construction; call it afterwards}}
  virtual ~Starts() = default;
  virtual double factor() const { return 3; }
  void start(double x) { v *= factor() * x; }
};
struct StartsLater : Starts {
  using Starts::Starts;
  double factor() const override { return 2; }
};
double starts(double x) { return Starts(x).v; }
struct Asked {
  double k = 1;
  virtual ~Asked() = default;
  virtual double value() const { return 3 * k; }
  Asked& me() { return *this; }
};
double ask(const Asked& a) { return a.value(); }
struct HandsOn : Asked {
  double d;
  explicit HandsOn(double x) : d(x) { d = ask(*this); }
  // expected-error@-1 {{cannot differentiate this use of 'this' in a constructor: virtual functions of the object that is under construction are called where it is handed on; hand it on afterwards}}
  double value() const override { return d * d; }
};
double hands_on(double x) { return HandsOn(x).d; }
struct Listener {
  double sum = 0;
  virtual ~Listener() = default;
  virtual void hear(const Asked&) { sum += 1; }
};
struct Asker : Listener {
  void hear(const Asked& a) override { sum += a.value(); }
};
struct Heard : Asked {
  double d;
  Heard(Listener& listener, double x) : d(x) { listener.hear(*this); }
  // expected-error@-1 {{cannot differentiate this use of 'this' in a constructor: virtual functions of the object that is under construction are called where it is handed on; hand it on afterwards}}
  double value() const override { return d * d; }
};
double heard(double x) {
  Asker asker;
  const Heard h(asker, x);
  return asker.sum * h.d;
}
struct HandsOnByDefault : Asked {
  double c, d = ask(*this);
  // expected-error@-1 {{cannot differentiate this use of 'this' in a constructor: virtual functions of the object that is under construction are called where it is handed on; hand it on afterwards}}
  explicit HandsOnByDefault(double x) : c(x) {}
  double value() const override { return c * c; }
};
double hands_on_by_default(double x) { return HandsOnByDefault(x).d; }
struct Captured : Asked {
  double d;
  explicit Captured(double x) : d(x) {
    const auto f = [this] { return value(); };
    // expected-error@-1 {{cannot differentiate this use of 'this' in a constructor: virtual functions of the object that is under construction are called where it is handed on; hand it on afterwards}}
    d = f();
  }
  double value() const override { return d * d; }
};
double captured(double x) { return Captured(x).d; }
struct NamesItself : Asked {
  double d;
  explicit NamesItself(double x) : d(x) { d = me().value(); }
  // expected-error@-1 {{cannot differentiate this use of 'this' in a constructor: virtual functions of the object that is under construction are called where it is handed on; hand it on afterwards}}
  double value() const override { return d * d; }
};
double names_itself(double x) { return NamesItself(x).d; }
struct CallsItself {
  double d;
  explicit CallsItself(double x) : d(x) { start(x); }
  // expected-error@-1 {{cannot differentiate 'CallsItself::start' in a constructor: it calls virtual functions of the object that is under construction; call it afterwards}}
  virtual ~CallsItself() = default;
  virtual double operator()(double t) const { return t * d; }
  void start(double x) { d += (*this)(x); }
};
double calls_itself(double x) { return CallsItself(x).d; }
struct Leaves {
  double k;
  explicit Leaves(double x) : k(x) {
    if (x > 100) return;
    k *= 2;
  }
  virtual double v() const = 0;
};
struct Returns : Leaves {
  explicit Returns(double x) : Leaves(x) {}
  // expected-error@-1 {{cannot differentiate this constructor: the abstract base class 'Leaves' holds data; initialize it in a class that is not abstract, or let its constructor not return early}}
  double v() const override { return k; }
};
double leaves(double x) { return Returns(x).v(); }

struct Doubles {
  double v;
  explicit Doubles(double a) : v(a) {}
  Doubles(const Doubles& o) : v(o.v * 2) {}
};
double copies_that_differ(double x) {
  Doubles a(x);
  // expected-error@-1 {{cannot differentiate through 'a': copies of its type 'Doubles' may differ from the object; let its constructor and assignment copy the members as they are}}
  return a.v;
}
struct Counts {
  double v;
  int copies = 0;
  Counts& operator=(const Counts& o) {
    v = o.v;
    copies = o.copies + 1;
    return *this;
  }
};
struct HoldsCounts {
  std::array<Counts, 2> all;
};
double members_whose_copies_differ(double x) {
  HoldsCounts h{{{{x}, {x}}}};
  // expected-error@-1 {{cannot differentiate through 'h': copies of its type 'HoldsCounts' may differ from the object}}
  return h.all[0].v;
}
/// Written out, but a copy.
struct Copies {
  double v[2];
  int n = 2;
  Copies() = default;
  Copies(const Copies& o) : n(o.n) {
    for (int i = 0; i < 2; ++i) v[i] = o.v[i];
  }
};
struct CopiesSome {
  double v[2];
  int n = 2;
  CopiesSome() = default;
  CopiesSome(const CopiesSome& o) : n(o.n) {
    for (int i = 0; i < n; ++i) v[i] = o.v[i];
  }
};
double copies_of_some(double x) {
  CopiesSome c;
  // expected-error@-1 {{cannot differentiate through 'c': copies of its type 'CopiesSome' may differ from the object}}
  c.v[0] = x;
  const CopiesSome d = c;
  // expected-error@-1 {{cannot differentiate through 'd': copies of its type 'CopiesSome' may differ from the object}}
  return d.v[0] * c.v[0];
}
double copies_that_are_equal(double x) {
  Copies c;
  c.v[0] = x;
  const Copies d = c;
  return d.v[0] * c.v[0];
}
/// Members that a copy leaves out, or takes from others.
struct LeavesOut {
  double v;
  int n = 1;
  LeavesOut(double a, int k) : v(a), n(k) {}
  LeavesOut(const LeavesOut& o) : v(o.v) {}
};
double copies_leave_out(double x) {
  LeavesOut a(x, 5);
  // expected-error@-1 {{cannot differentiate through 'a': copies of its type 'LeavesOut' may differ from the object}}
  return a.v * a.n;
}
struct Exchanges {
  double a, b;
  Exchanges(double x, double y) : a(x), b(y) {}
  Exchanges(const Exchanges& o) : Exchanges(o.b, o.a) {}
};
double copies_exchange(double x) {
  std::vector<Exchanges> all;
  // expected-error@-1 {{cannot differentiate through 'all': copies of its type 'std::vector<Exchanges, std::allocator<Exchanges>>' may differ from the object}}
  all.emplace_back(x, 2);
  // expected-error@-1 {{cannot differentiate through 't': copies of its type 'Exchanges' may differ from the object}}
  return all[0].a;
}
/// A derived class is assigned by its base class.
struct Assigned {
  double a, b;
  Assigned& operator=(const Assigned& o) {
    const double t = o.a;
    a = o.b;
    b = t;
    return *this;
  }
};
struct HoldsAssigned : Assigned {
  double c;
};
double assignments_exchange(double x) {
  HoldsAssigned h{{x, 2}, 1}, g{{1, 2}, 3};
  // expected-error@-1 {{cannot differentiate through 'h': copies of its type 'HoldsAssigned' may differ from the object}}
  // expected-error@-2 {{cannot differentiate through 'g': copies of its type 'HoldsAssigned' may differ from the object}}
  g = h;
  return g.b;
}
/// A template that is called for objects that are not constant, where a copy is meant.
struct Greedy {
  double v;
  explicit Greedy(double a) : v(a) {}
  template <class U>
  explicit Greedy(U&& o) : v(o.v * 2) {}
};
double copies_by_template(double x) {
  Greedy a(x);
  // expected-error@-1 {{cannot differentiate through 'a': copies of its type 'Greedy' may differ from the object}}
  return a.v;
}
/// Written out in other ways, but copies.
struct Base {
  double b;
  explicit Base(double x) : b(x) {}
  Base(const Base& o) : b(o.b) {}
  Base& operator=(const Base& o) {
    b = o.b;
    return *this;
  }
};
struct Lock {
  int held = 0;
  Lock() = default;
  Lock(const Lock&) = delete;
};
struct Written : Base {
  struct {
    double a[2];
  } in{};
  std::vector<double> w;
  int n = 0;
  Lock lock;
  Written(double x, int k) : Base(x), in{{x, 1}}, w(2, x), n(k) {}
  Written(const Written& o) : Base(o), n(o.count()) { set(o); }
  Written& operator=(const Written& o) {
    if (this == &o) return *this;
    Base::operator=(o);
    n = o.n;
    set(o);
    return *this;
  }
  int count() const { return n; }
  void set(const Written& o) {
    for (int i = 0; i < 2; ++i) in.a[i] = o.in.a[i];
    w = o.w;
  }
};
double copies_that_are_written(double x) {
  Written a(x, 2), b = a;
  b = a;
  return b.in.a[0] * b.w[1] * b.n * b.b;
}

void use() {
  clad::gradient(copies_leave_out);
  clad::gradient(copies_exchange);
  clad::gradient(assignments_exchange);
  clad::gradient(copies_by_template);
  clad::gradient(copies_that_are_written);
  clad::gradient(leaves);
  clad::gradient(starts);
  clad::gradient(hands_on);
  clad::gradient(heard);
  clad::gradient(hands_on_by_default);
  clad::gradient(captured);
  clad::gradient(names_itself);
  clad::gradient(calls_itself);
  clad::gradient(not_copyable);
  clad::gradient(by_reference, "x");
  clad::gradient(array_of_no_default);
  clad::gradient(std_array_of_no_default);
  clad::gradient(virtual_base);
  clad::gradient(reference_member);
  clad::gradient(default_initializers);
  clad::gradient(tuple_like);
  clad::gradient(returned_reference);
  clad::gradient(copies_that_differ);
  clad::gradient(members_whose_copies_differ);
  clad::gradient(copies_that_are_equal);
  clad::gradient(copies_of_some);
}
