// clad::checkpoint and CLAD_CHECKPOINT: the same gradients, with the calls and the memory that they promise.
#include <random>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

int calls = 0;  // of the function of the test

double layer(double w, double x) {
  ++calls;
  double y = std::tanh(w * x);
  return y * y + x;
}

template <class G, class... A>
int calls_of(const G& gradient, A&&... args) {
  calls = 0;
  gradient.execute(args...);
  return calls;
}

double plain(double x, double y) {
  double a = clad::checkpoint(layer(x, y));
  a = clad::checkpoint(layer(a * x, a + y));
  return clad::checkpoint(layer(a, x)) * a;
}
TEST(Checkpoint, ACallRunsTwiceAndGivesTheSameDerivative) {
  EXPECT_GRADIENT(plain, 0.7, 1.2);
  double dx = 0, dy = 0;
  EXPECT_EQ(calls_of(clad::gradient(plain), 0.7, 1.2, &dx, &dy), 6);
}

double kept(double x, double y) { return layer(x, layer(y, x)); }
TEST(Checkpoint, ACallWithoutOneRunsOnce) {
  double dx = 0, dy = 0;
  EXPECT_EQ(calls_of(clad::gradient(kept), 0.7, 1.2, &dx, &dy), 2);
}

double unused(double x) {
  double y = clad::checkpoint(layer(x, x));
  clad::checkpoint(layer(y, x));
  return x * x;
}
TEST(Checkpoint, ACallThatTheResultDoesNotDependOnRunsOnce) {
  EXPECT_GRADIENT(unused, 0.7);
  double dx = 0;
  EXPECT_EQ(calls_of(clad::value_and_gradient(unused), 0.7, &dx), 2);
}

double chosen(double x, int n) {
  double y = x;
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0)
      y = clad::checkpoint(layer(x, y));
    else
      y = layer(y, x);
  }
  return y;
}
TEST(Checkpoint, ItMayDependOnACondition) {
  EXPECT_GRADIENT(chosen, 0.7, 0);
  EXPECT_GRADIENT(chosen, 0.7, 5);
  double dx = 0;
  EXPECT_EQ(calls_of(clad::gradient(chosen), 0.7, 5, &dx), 5 + 3);
}

double exits(double x, int n) {
  for (int i = 0; i < n; ++i) {
    ++calls;
    x = x * x * 0.9 + 0.3;
    if (x > 2) return x * i;
    if (i == 3) continue;
    x += std::sin(x);
  }
  return x;
}
double called_exits(double x) {
  return clad::checkpoint(exits(x, 3)) + clad::checkpoint(exits(x * 2, 9)) * clad::checkpoint(exits(x, 0));
}
TEST(Checkpoint, TheFunctionMayLoopAndReturnEarly) { EXPECT_GRADIENT(called_exits, 0.7); }

struct Block {
  double w, b;
  double forward(double x) const {
    ++calls;
    double u = w * x + b;
    return std::sin(u) * u;
  }
  double operator()(double x) const { return forward(x); }
  template <class V>
  void reals(V&& visit) {
    visit(w), visit(b);
  }
};
struct Net {
  std::vector<Block> blocks;
  double forward(double x) const {
    for (const Block& block : blocks) x = clad::checkpoint(block(x));
    return x;
  }
  template <class V>
  void reals(V&& visit) {
    for (Block& b : blocks) b.reals(visit);
  }
};
double net_loss(const Net& net, double x) { return net.forward(x) * x; }
double nested_loss(const Net& net, double x) { return clad::checkpoint(net.forward(x)) * x; }
TEST(Checkpoint, MethodsInALoopAndNested) {
  const Net net{{{0.5, 0.1}, {0.7, -0.2}, {0.9, 0.3}}};
  EXPECT_GRADIENT(net_loss, net, 0.8);
  EXPECT_GRADIENT(nested_loss, net, 0.8);
  Net d{{{0, 0}, {0, 0}, {0, 0}}};
  double dx = 0;
  EXPECT_EQ(calls_of(clad::gradient(net_loss), net, 0.8, &d, &dx), 6);
  EXPECT_EQ(calls_of(clad::gradient(nested_loss), net, 0.8, &d, &dx), 9)
      << "forward, again, and again inside";
}

CLAD_CHECKPOINT double always(double x);
double always(double x) {
  ++calls;
  double y = std::exp(x);
  return y * std::sin(y);
}
struct Always {
  double a;
  CLAD_CHECKPOINT double forward(double x) const {
    ++calls;
    double y = std::exp(x * a);
    return y * y;
  }
  double operator()(double x) const { return forward(x); }
  template <class T>
  CLAD_CHECKPOINT T templated(T x) const {
    ++calls;
    T y = std::exp(x * a);
    return y * y;
  }
  template <class V>
  void reals(V&& visit) {
    visit(a);
  }
};
double annotated(const Always& f, double x) { return always(x) * f(x) + f.templated(x); }
TEST(Checkpoint, AnAnnotatedFunctionIsOneInEveryCall) {
  EXPECT_GRADIENT(annotated, (Always{0.3}), 0.4);
  Always d{0};
  double dx = 0;
  EXPECT_EQ(calls_of(clad::gradient(annotated), Always{0.3}, 0.4, &d, &dx), 6);
}

struct Counter {
  double total = 0;
  int n = 0;
  void add(double x) {
    ++n;
    total += x * x * n;
    total *= std::cos(total);
  }
  int count() const { return n; }
};
CLAD_CHECKPOINT void scale(double& x, double by, int& n, double (&rows)[2]) {
  ++calls;
  x *= by;
  rows[n % 2] += x;
  x *= std::exp(x * rows[0]);
  ++n;
}
double bump(std::vector<double>& v, std::size_t i) {
  ++calls;
  v[i] *= std::sin(v[i]);
  v.push_back(v[i] * v[i]);
  return v[i] * v.back();
}
double arguments(double x, double y) {
  int n = 0;
  double rows[2] = {x, 1};
  double p = x;
  for (int i = 0; i < 3; ++i) scale(p, y, n, rows);
  Counter c;
  clad::checkpoint([&] {
    c.add(p);
    c.add(x);
    return 0;
  }());
  std::vector<double> v{x, y, p};
  for (std::size_t i = 0; i < 3; ++i) x += clad::checkpoint(bump(v, i)) * v.size();
  x += v[4] * c.total * c.count() * n;
  return x * p + rows[0] * rows[1];
}
TEST(Checkpoint, TheFunctionMayChangeItsArguments) {
  EXPECT_GRADIENT(arguments, 0.3, 0.6);
  double dx = 0, dy = 0;
  EXPECT_EQ(calls_of(clad::gradient(arguments), 0.3, 0.6, &dx, &dy), 12);
}
double in_place(double& x, double* p, std::vector<double>& v) {
  int n = 0;
  double rows[2] = {1, 1};
  scale(x, p[1], n, rows);
  scale(p[0], x, n, rows);
  return clad::checkpoint(bump(v, 1)) * p[0] * x;
}
TEST(Checkpoint, TheChangedArgumentsMayBeTheCallersOwn) {
  EXPECT_GRADIENT_IN_PLACE(in_place, 0.4, (buffer<double>{0.2, 0.7}), (std::vector<double>{0.1, 0.5}));
}
double twice_the_same(double& a, double& b) {
  a *= b;
  b *= std::sin(a);
  return a * b;
}
double aliased(double x) {
  double y = x * 2;
  return clad::checkpoint(twice_the_same(y, y)) * y + clad::checkpoint(layer(y, y));
}
TEST(Checkpoint, ArgumentsMayBeTheSameVariable) { EXPECT_GRADIENT(aliased, 0.6); }

double consumed(std::vector<double>&& v) {
  std::vector<double> mine = std::move(v);
  for (double& x : mine) x *= std::sin(x);
  return mine[0] * mine[1];
}
double moves(double x) {
  std::vector<double> v{x, x * x};
  return clad::checkpoint(consumed(std::move(v)));
}
TEST(Checkpoint, AnArgumentMayBeMovedFrom) { EXPECT_GRADIENT(moves, 0.6); }

double through_pointer(const double* p, int n, double& out) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += p[i] * std::sin(p[i]) * s + p[i];
  out *= s;
  return s * out;
}
double pointers(const double* p, int n) {
  double out = 2;
  return clad::checkpoint(through_pointer(p, n, out)) * out;
}
TEST(Checkpoint, APointerMayBeReadThrough) { EXPECT_GRADIENT(pointers, (buffer<double>{0.4, 0.3, 0.2}), 3); }

double overwritten(double x, double y) {
  double a = x, b = y;
  double z = clad::checkpoint(layer(a, b));
  a *= z;
  b = a * a;
  z *= clad::checkpoint(layer(a, b)) * a;
  a = b = 0;
  return z;
}
TEST(Checkpoint, ItsArgumentsAreKeptUntilTheReverseSweep) { EXPECT_GRADIENT(overwritten, 0.6, 0.9); }

double power(double x, int n) {
  ++calls;
  if (n == 0) return 1;
  double y = x * x;
  return y * std::sin(clad::checkpoint(power(y, n - 1)));
}
double odd(double x, int n);
double even(double x, int n) {
  if (n == 0) return 1;
  return x * clad::checkpoint(odd(x * 0.9, n - 1));
}
double odd(double x, int n) {
  if (n == 0) return x;
  double y = x * x;
  return y + clad::checkpoint(even(y, n - 1));
}
void accumulate(const double* p, int n, double& out) {
  if (n == 0) return;
  out = out * p[0] + std::sin(p[0]);
  clad::checkpoint([&] {
    accumulate(p + 1, n - 1, out);
    return 0;
  }());
}
double accumulated(const double* p, int n) {
  double s = 1;
  accumulate(p, n, s);
  return s;
}
TEST(Checkpoint, RecursionAlsoMutual) {
  EXPECT_GRADIENT(power, 0.8, 4);
  EXPECT_GRADIENT(even, 0.8, 5);
  EXPECT_GRADIENT(accumulated, (buffer<double>{0.5, 0.6, 0.7}), 3);
  double dx = 0;
  EXPECT_EQ(calls_of(clad::gradient(power, "x"), 0.8, 3, &dx), 4 + 3 + 2 + 1);
}

template <class F>
double applied(F f, double x) {
  double y = f(x) * x;
  return f(y) * y;
}
double lambdas(double x, double y) {
  auto g = [&](double z) {
    double u = std::sin(z * y);
    return u * u;
  };
  double a = clad::checkpoint(g(x));
  y *= a;
  return clad::checkpoint(applied(g, a)) + clad::checkpoint([y, &a](double z) { return a * z * y * y; }(x));
}
TEST(Checkpoint, OfLambdas) { EXPECT_GRADIENT(lambdas, 0.6, 0.9); }

struct Made {
  double a, b;
  CLAD_CHECKPOINT Made(double x, double y) : a(x * y), b(std::sin(x)) {
    ++calls;
    a *= b;
    b *= a;
  }
};
double makes(double x, double y) {
  Made m(x, y);
  m.a *= x;
  return m.a * m.b;
}
TEST(Checkpoint, OfAConstructor) {
  EXPECT_GRADIENT(makes, 0.6, 0.9);
  double dx = 0, dy = 0;
  EXPECT_EQ(calls_of(clad::gradient(makes), 0.6, 0.9, &dx, &dy), 2);
}

// A stream of numbers beside the arguments.
thread_local std::uint64_t drawn = 0;
const clad::replayed numbers([] { return drawn; }, [](std::uint64_t place) { drawn = place; });
double draw() { return std::sin(static_cast<double>(++drawn)); }

double noisy(double x) {
  double y = x * draw();
  y *= std::exp(y * draw());
  return y * y;
}
double noisy_twice(double x) {
  return clad::checkpoint(noisy(x)) * draw() + clad::checkpoint(noisy(x * draw()));
}
double noise(double x, int n) {
  drawn = 40;
  for (int i = 0; i < n; ++i) x += clad::checkpoint(noisy_twice(x));
  return x * draw();
}
TEST(Checkpoint, DrawsTheSameNumbersAgain) {
  EXPECT_GRADIENT(noise, 0.3, 3);
  double dx = 0;
  clad::gradient(noise, "x").execute(0.3, 3, &dx);
  const std::uint64_t after = drawn;
  noise(0.3, 3);
  EXPECT_EQ(drawn, after) << "the stream is left where the forward sweep left it";
}

double seeded(double x, std::mt19937& generator) {
  double y = x;
  for (int i = 0; i < 3; ++i) y *= std::sin(y + static_cast<double>(generator() % 7));
  return y;
}
double generators(double x) {
  std::mt19937 generator(3);
  double y = clad::checkpoint(seeded(x, generator));
  return y * clad::checkpoint(seeded(y, generator)) * static_cast<double>(generator() % 5);
}
TEST(Checkpoint, AGeneratorThatIsAnArgumentIsPutBack) { EXPECT_GRADIENT(generators, 0.3); }

// An operation with a pullback that keeps a state.
struct Square {
  double x;
};
double square(double x) {
  ++calls;
  return x * x;
}
}  // namespace

namespace clad::custom_derivatives {
int kept_states = 0;
double square_reverse_forw(double x, clad::pullback_state<Square>& state) {
  ++kept_states;
  state.data.x = x;
  return ::square(x);
}
void square_pullback(CLAD_UNUSED double, double d_y, double* d_x, clad::pullback_state<Square>& state) {
  *d_x += 2 * state.data.x * d_y;
}
}  // namespace clad::custom_derivatives

namespace {
double squares(double x) {
  for (int i = 0; i < 3; ++i) x = clad::checkpoint(square(x)) * 1.1;
  return x;
}
TEST(Checkpoint, AnOperationWithAPullbackRunsAgainToo) {
  EXPECT_GRADIENT(squares, 0.7);
  clad::custom_derivatives::kept_states = 0;
  double dx = 0;
  EXPECT_EQ(calls_of(clad::gradient(squares), 0.7, &dx), 6);
  EXPECT_EQ(clad::custom_derivatives::kept_states, 3);
}
double pushes(double x) {
  std::vector<double> v;
  for (int i = 0; i < 3; ++i) clad::checkpoint(v.emplace_back(x * i));
  return v[1] * v[2];
}
TEST(Checkpoint, AMemberOfAContainerKeepsWhatItNeeds) { EXPECT_GRADIENT(pushes, 0.7); }

// Values that count themselves: the reverse sweep holds the state of one call at a time.
int alive = 0, most_alive = 0;
struct CLAD_OPAQUE Value {
  double v = 0;
  bool held = false;
  Value() = default;
  explicit Value(double v) : v(v), held(true) { count(1); }
  Value(const Value& o) : v(o.v), held(o.held) { count(held); }
  Value(Value&& o) noexcept : v(std::exchange(o.v, 0)), held(std::exchange(o.held, false)) {}
  Value& operator=(Value o) noexcept {
    std::swap(v, o.v);
    std::swap(held, o.held);
    return *this;
  }
  ~Value() { count(-held); }
  static void count(int n) { most_alive = std::max(most_alive, alive += n); }
  void accumulate(const Value& d) {
    if (d.held) *this = Value(v + d.v);
  }
};
Value lifted(double x) { return Value(x); }
double lowered(const Value& x) { return x.v; }
Value cubed(const Value& x) { return Value(x.v * x.v * x.v); }
}  // namespace

namespace clad::custom_derivatives {
void lifted_pullback(CLAD_UNUSED double, Value d_y, double* d_x) { *d_x += d_y.v; }
void lowered_pullback(CLAD_UNUSED const Value&, double d_y, Value* d_x) { d_x->accumulate(Value(d_y)); }
void cubed_pullback(const Value& x, Value d_y, Value* d_x) { d_x->accumulate(Value(3 * x.v * x.v * d_y.v)); }
}  // namespace clad::custom_derivatives

namespace {
Value deep(const Value& x) {
  Value a = cubed(x), b = cubed(a), c = cubed(b), d = cubed(c);
  return cubed(d);
}
double keeps(double x, int n) {
  Value y = lifted(x);
  for (int i = 0; i < n; ++i) y = deep(y);
  return lowered(y);
}
double forgets(double x, int n) {
  Value y = lifted(x);
  for (int i = 0; i < n; ++i) y = clad::checkpoint(deep(y));
  return lowered(y);
}
template <class G>
int most_alive_in(const G& gradient, int n) {
  double dx = 0;
  alive = most_alive = 0;
  gradient.execute(1.0, n, &dx);
  EXPECT_EQ(alive, 0);
  EXPECT_NEAR(dx, std::pow(3.0, 5 * n), 1e-9 * dx);
  return most_alive;
}
TEST(Checkpoint, KeepsTheArgumentsAloneAndOneStateAtATime) {
  const auto keep = clad::gradient(keeps, "x"), forget = clad::gradient(forgets, "x");
  EXPECT_EQ(most_alive_in(keep, 9) - most_alive_in(keep, 8), 5);
  EXPECT_EQ(most_alive_in(forget, 9) - most_alive_in(forget, 8), 1);
  EXPECT_LT(most_alive_in(forget, 9), 9 + 5 + 6);
}

}  // namespace
