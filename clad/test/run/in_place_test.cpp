// Constants of a class whose copies share what they hold, changed in place between their uses.
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

class CLAD_OPAQUE Cell {
 public:
  Cell() = default;
  explicit Cell(double x) : value_(std::make_shared<double>(x)) {}
  CLAD_NONDIFFERENTIABLE double get() const { return value_ ? *value_ : 0; }
  void set(double x) { *value_ = x; }
  void accumulate(const Cell& d) {
    if (!d.value_) return;
    const double sum = get() + d.get();
    value_ = std::make_shared<double>(sum);
  }
  Cell snapshot() const { return value_ ? Cell(*value_) : Cell(); }
  void restore(const Cell& snapshot) {
    if (value_ && snapshot.value_) *value_ = *snapshot.value_;
  }

 private:
  std::shared_ptr<double> value_;
};
CLAD_NONDIFFERENTIABLE Cell constant(double x) { return Cell(x); }
Cell cell(double x) { return Cell(x); }
Cell times(const Cell& a, const Cell& b) { return Cell(a.get() * b.get()); }
double held(const Cell& c) { return c.get(); }

}  // namespace

namespace clad::custom_derivatives {
namespace {
void cell_pullback(double, Cell d, double* d_x) { *d_x += d.get(); }
void times_pullback(const Cell& a, const Cell& b, Cell d, Cell* d_a, Cell* d_b) {
  if (d_a) d_a->accumulate(Cell(d.get() * b.get()));
  if (d_b) d_b->accumulate(Cell(d.get() * a.get()));
}
void held_pullback(const Cell&, double d, Cell* d_c) { d_c->accumulate(Cell(d)); }
}  // namespace
}  // namespace clad::custom_derivatives

namespace {

double refilled(double x) {
  Cell m = constant(0);
  const Cell other = m;  // sees the changes
  const Cell c = cell(x);
  double s = 0;
  for (int i = 1; i < 4; ++i) {
    m.set(i);
    s += held(times(times(c, m), times(c, other)));
  }
  return s;
}
void advance(Cell& m, int i) { m.set(m.get() + i); }
double by_a_helper(double x) {
  Cell m = constant(2);
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    advance(m, i);
    const Cell c = cell(x);
    s += held(times(times(c, m), c));
    m.set(m.get() + (s > 10 ? 1 : 0.5));
    s += held(times(times(c, m), c));
  }
  return s;
}
struct Noise {
  Cell now = constant(1);
  std::vector<Cell> rest{constant(2), constant(3)};
  std::array<Cell, 2> fixed{constant(4), Cell()};
  std::optional<Cell> last = constant(5);
  std::pair<Cell, int> counted{constant(6), 0};
  double step = 0.5;
  const Cell& next() {
    now.set(now.get() * 1.5 + counted.first.get());
    rest[1].set(rest[1].get() + rest[0].get());
    fixed[0].set(-fixed[0].get());
    last->set(last->get() * step);
    counted.first.set(++counted.second);
    return now;
  }
};
double by_a_member(double x) {
  Noise n;
  double s = 0;
  for (int i = 0; i < 4; ++i) {
    const Cell c = cell(x);
    s += held(times(times(c, n.next()), times(c, n.rest[1])));
    s += held(times(times(c, n.fixed[0]), times(*n.last, n.counted.first)));
  }
  return s;
}
void rebind(Cell& m, const Cell& to) { m = to; }
double rebound(double x) {
  Cell m = constant(2), other = constant(3);
  double s = 0;
  for (int i = 0; i < 3; ++i) {
    const Cell c = cell(x);
    s += held(times(times(c, m), c));
    rebind(m, other);
    s += held(times(times(c, m), times(c, other)));
    advance(other, 2);
    rebind(m, constant(i));
  }
  return s + held(times(cell(x), other));
}
TEST(InPlace, ConstantsAreWhatTheyWere) {
  EXPECT_REVERSE_GRADIENT(refilled, 1.3);
  EXPECT_REVERSE_GRADIENT(by_a_helper, 1.3);
  EXPECT_REVERSE_GRADIENT(by_a_member, 1.3);
  EXPECT_REVERSE_GRADIENT(rebound, 1.3);
}

}  // namespace
