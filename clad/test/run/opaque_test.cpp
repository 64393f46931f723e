// Opaque differentiable values: never looked into, moved rather than copied, symbolic zeros, and no operation
// of the forward pass is executed twice.
#include "clad/opaque.h"

#include <array>
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

/// A number that counts what is done with it. `defined` is false for a symbolic zero.
class CLAD_OPAQUE Tensor {
 public:
  static inline int operations = 0, copies = 0, alive = 0, most_alive = 0;
  Tensor() { count(); }
  explicit Tensor(double x) : value(x), defined(true) { count(); }
  Tensor(const Tensor& o) : value(o.value), defined(o.defined) { count(), ++copies; }
  Tensor(Tensor&& o) noexcept : value(o.value), defined(o.defined) { count(), o.clear(); }
  Tensor& operator=(const Tensor& o) {
    value = o.value;
    defined = o.defined;
    ++copies;
    return *this;
  }
  Tensor& operator=(Tensor&& o) noexcept {
    if (this == &o) return *this;
    value = o.value;
    defined = o.defined;
    o.clear();
    return *this;
  }
  ~Tensor() { --alive; }
  void accumulate(const Tensor& d) {
    if (!d.defined) return;
    value += d.value;
    defined = true;
  }
  double item() const { return value; }
  static void reset() { operations = copies = 0, most_alive = alive; }

  double value = 0;
  bool defined = false;

 private:
  static void count() {
    if (++alive > most_alive) most_alive = alive;
  }
  void clear() { value = 0, defined = false; }
};

static Tensor result(double x) {
  ++Tensor::operations;
  return Tensor(x);
}
Tensor multiply(const Tensor& a, const Tensor& b) { return result(a.value * b.value); }
Tensor operator+(const Tensor& a, const Tensor& b) { return result(a.value + b.value); }
Tensor relu(const Tensor& a) { return result(a.value > 0 ? a.value : 0); }
Tensor tanh(const Tensor& a) { return result(std::tanh(a.value)); }

static int unused_inputs_kept = 0;

namespace clad::custom_derivatives {

void multiply_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b) {
  if (!d_y.defined) return;
  if (d_a) d_a->accumulate(Tensor(d_y.value * b.value));
  if (d_b) d_b->accumulate(Tensor(d_y.value * a.value));
}
void operator_plus_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_y, Tensor* d_a,
                            Tensor* d_b) {
  unused_inputs_kept += a.defined + b.defined;
  if (d_a) d_a->accumulate(d_y);
  if (d_b) d_b->accumulate(d_y);
}
void relu_pullback(const Tensor& a, Tensor d_y, Tensor* d_a) {
  if (d_a && a.value > 0) d_a->accumulate(d_y);
}
struct TanhState {
  double y;
};
Tensor tanh_reverse_forw(const Tensor& a, pullback_state<TanhState>& state) {
  Tensor y = ::tanh(a);
  state.data.y = y.value;
  return y;
}
void tanh_pullback(CLAD_UNUSED const Tensor& a, Tensor d_y, Tensor* d_a, pullback_state<TanhState>& state) {
  unused_inputs_kept += a.defined;
  if (d_y.defined && d_a) d_a->accumulate(Tensor(d_y.value * (1 - state.data.y * state.data.y)));
}
namespace class_functions {
void item_pullback(CLAD_UNUSED const Tensor* self, double d_y, Tensor* d_self) {
  unused_inputs_kept += self->defined;
  d_self->accumulate(Tensor(d_y));
}
}  // namespace class_functions

}  // namespace clad::custom_derivatives

namespace {

struct Linear {
  Tensor weight, bias;
  Tensor forward(const Tensor& x) const { return multiply(weight, x) + bias; }
};
struct Block {
  Linear first, second;
  std::vector<Linear> more;
  Tensor forward(const Tensor& x) const {
    Tensor h = tanh(first.forward(x));
    for (const Linear& l : more) h = tanh(l.forward(h));
    return x + second.forward(h);
  }
};
struct Model {
  Linear embedding;
  std::vector<Block> blocks;
  std::array<Linear, 2> heads;
  Tensor unused;
};
double loss(const Model& m, const Tensor& x) {
  Tensor h = m.embedding.forward(x);
  for (const Block& b : m.blocks) h = b.forward(h);
  Tensor best = h;
  for (int i = 0; i < 2; ++i) {
    Tensor z = m.heads[i].forward(h);
    if (z.item() < 100)
      h = relu(z + best);
    else
      best = z;
  }
  return multiply(h, h).item();
}

Linear linear(double a, double b) { return {Tensor(a), Tensor(b)}; }
Model make_model(int depth) {
  Model m{linear(.5, .1), {}, {linear(1.1, .2), linear(.9, .1)}, Tensor(7)};
  for (int i = 0; i < depth; ++i) {
    m.blocks.push_back({linear(.3, .2), linear(.7 - i * .05, .1), {}});
    for (int k = 0; k < i % 3; ++k) m.blocks.back().more.push_back(linear(.2 + k * .1, .3));
  }
  return m;
}
std::vector<Tensor*> parameters(Model& m) {
  std::vector<Tensor*> out;
  auto add = [&](Linear& l) { out.push_back(&l.weight), out.push_back(&l.bias); };
  add(m.embedding);
  for (Block& b : m.blocks) {
    add(b.first), add(b.second);
    for (Linear& l : b.more) add(l);
  }
  for (Linear& l : m.heads) add(l);
  out.push_back(&m.unused);
  return out;
}
double difference(Model& m, Tensor& x, Tensor& p) {
  const double step = 1e-4, at = p.value;
  auto loss_at = [&](double v) {
    p.value = v;
    return loss(m, x);
  };
  double d =
      (8 * (loss_at(at + step) - loss_at(at - step)) - (loss_at(at + 2 * step) - loss_at(at - 2 * step))) /
      (12 * step);
  p.value = at;
  return d;
}

TEST(Opaque, EveryParameterOfAModelOfStructsAndVectors) {
  Model m = make_model(4), d;
  Tensor x(0.8), d_x;
  clad::gradient(loss).execute(m, x, &d, &d_x);
  auto of = parameters(m), to = parameters(d);
  ASSERT_EQ(of.size(), to.size());
  for (std::size_t i = 0; i < of.size(); ++i) EXPECT_NEAR(difference(m, x, *of[i]), to[i]->value, 1e-8) << i;
  EXPECT_NEAR(difference(m, x, x), d_x.value, 1e-8);
  EXPECT_FALSE(d.unused.defined);
}

TEST(Opaque, GradientsAccumulateOverCalls) {
  Model m = make_model(2), d;
  Tensor x(0.8);
  auto g = clad::gradient(loss, "m");
  g.execute(m, x, &d);
  std::vector<double> first;
  for (Tensor* t : parameters(d)) first.push_back(t->value);
  g.execute(m, x, &d);
  auto second = parameters(d);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(2 * first[i], second[i]->value, 1e-12) << i;
}

TEST(Opaque, NoForwardOperationIsExecutedTwice) {
  Model m = make_model(12), d;
  Tensor x(0.8);
  Tensor::reset();
  loss(m, x);
  const int forward = Tensor::operations;
  Tensor::reset();
  clad::gradient(loss, "m").execute(m, x, &d);
  EXPECT_EQ(forward, Tensor::operations);
}

TEST(Opaque, ValuesThatNoPullbackReadsAreNotKept) {
  Model m = make_model(12), d;
  Tensor x(0.8);
  unused_inputs_kept = 0;
  clad::gradient(loss, "m").execute(m, x, &d);
  EXPECT_EQ(0, unused_inputs_kept);
}

TEST(Opaque, NothingOutlivesTheCall) {
  Model m = make_model(3), d;
  Tensor x(0.8);
  auto g = clad::gradient(loss, "m");
  g.execute(m, x, &d);
  const int before = Tensor::alive;
  g.execute(m, x, &d);
  EXPECT_EQ(before, Tensor::alive);
}

Tensor through_statements(Tensor a, const Tensor& b) {
  Tensor c = a;
  a = multiply(a, b);
  std::swap(a, c);
  Tensor e = std::move(a);
  a = e + c;
  c = Tensor(2);
  for (int i = 0; i < 2; ++i) {
    Tensor t = multiply(a, c);
    a = i ? t : relu(t);
    c = std::move(t);
  }
  return a + multiply(c, e);
}
double statements(const Tensor& a, const Tensor& b) {
  std::vector<Tensor> v{a, through_statements(a, b)};
  v.push_back(multiply(v[0], v[1]));
  v[0] = v.back();
  Tensor s;
  for (const Tensor& t : v) s = s.defined ? s + t : t;
  return s.item();
}
TEST(Opaque, CopyMoveSwapAndReassignment) {
  Tensor a(0.7), b(1.3), d_a, d_b;
  clad::gradient(statements).execute(a, b, &d_a, &d_b);
  auto at = [](double x, double y) { return statements(Tensor(x), Tensor(y)); };
  const double h = 1e-5;
  EXPECT_NEAR((at(0.7 + h, 1.3) - at(0.7 - h, 1.3)) / (2 * h), d_a.value, 1e-7);
  EXPECT_NEAR((at(0.7, 1.3 + h) - at(0.7, 1.3 - h)) / (2 * h), d_b.value, 1e-7);
  EXPECT_EQ(0.7, a.value);
}

double branch_not_taken(const Tensor& x, bool taken) {
  Tensor z = multiply(x, x);
  Tensor h = x;
  if (taken) h = tanh(z);
  return h.item();
}
TEST(Opaque, ASymbolicZeroIsACotangentToo) {
  Tensor x(2), d_x;
  clad::gradient(branch_not_taken, "x").execute(x, false, &d_x);
  EXPECT_EQ(1, d_x.value);
}

double constant(const Tensor& x) {
  Tensor y;
  y = Tensor(3);
  return multiply(y, y).item() + 0 * x.item();
}
TEST(Opaque, ConstantsReceiveNoGradient) {
  Tensor x(2), d_x;
  clad::gradient(constant).execute(x, &d_x);
  EXPECT_EQ(0, d_x.value);
}

}  // namespace
