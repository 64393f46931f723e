// The compiler declares its builtin functions when they are first named, which may be in a derivative: here,
// the assignment of a class that has arrays. Nothing else may name them in this file.
#include <cstring>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Samples {
  double v[3];
  int n;
};
double copied_bytes(double x, double y) {
  Samples s;
  s.n = 3;
  for (int i = 0; i < s.n; ++i) s.v[i] = x * i + y;
  Samples t;
  std::memcpy(&t, &s, sizeof(Samples));
  t.v[1] *= 2;
  return t.v[1] * s.v[2];
}
TEST(Builtins, AreDeclaredInDerivatives) { EXPECT_GRADIENT(copied_bytes, 1.3, 0.7); }

}  // namespace
