// Objects without derivatives that are chosen at run time and changed.
#include <array>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Counter {
  int n;
  std::vector<int> seen;
  void set(int k) {
    n = k;
    seen.push_back(k);
  }
};
void add(Counter& c) { c.n += 3; }
void add_to(Counter* c) { c->n += 3; }
int bump(Counter& c) { return ++c.n; }

double by_pointer(double x, double y) {
  Counter a{1, {}}, b{2, {}};
  Counter* c = y > 5 ? &a : &b;
  double s = b.n * x;
  c->set(7);
  s = s * b.n * y * b.seen.size();
  add(*c);
  s += s * b.n;
  add_to(c);
  s = s * b.n * x;
  c->n = 5;
  s += bump(x > 0 ? b : a) * s;
  return s * b.n;
}
double of_containers(double x, double y) {
  std::vector<int> a{1, 2, 3}, b{4, 5, 6};
  int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::vector<int>* c = &a;
  if (y < 5) c = &b;
  int(*row)[3] = y > 5 ? &rows[0] : &rows[1];
  double s = b[1] * x * rows[1][1];
  (*c)[1] = 9;
  c->at(2) = 3;
  (*row)[1] = 2;
  s *= b[2] * c->size() * rows[1][1] * b[1];
  c->push_back(1);
  return s * b.size() * y;
}
struct Random {
  unsigned s;
  double next() {
    s = s * 1664525u + 1013904223u;
    return s * 1e-10;
  }
};
double by_turns(double x, double y) {
  Random a{1}, b{2};
  Random* r = &a;
  double s = 0;
  for (int i = 0; i < 4; ++i) {
    s = s * y + r->next() * x * s + r->next() + x;
    r = r == &a ? &b : &a;
  }
  return s;
}
double in_arrays(double x, double y) {
  int a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
  int* q[2] = {a, b + 1};
  std::vector<int*> v{&a[2], &b[0]};
  double s = 0;
  for (int k = 0; k < 4; ++k) {
    s = s * x + *q[k % 2] * y;
    *q[k % 2] += k;
    q[k % 2][1] -= k;
  }
  for (int* p : v) {
    s = s * x + *p * y;
    *p = 9;
  }
  return s * a[0] + b[2] * x + a[2] * s;
}
TEST(ChosenConstants, ThatChange) {
  EXPECT_DERIVATIVES(by_pointer, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_containers, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_turns, 1.3, 0.7);
  EXPECT_DERIVATIVES(in_arrays, 1.3, 0.7);
}

}  // namespace
