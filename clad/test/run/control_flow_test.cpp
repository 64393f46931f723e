// Loops, early exits, switch, conditional and logical operators.
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

double every_loop(const double* p, int n) {
  double s = 0;
  int i = n;
  while (i-- > 0) s += p[i] * s + p[i] * p[i];
  do {
    s *= p[++i];
    if (i == 2) continue;
    s += 1;
  } while (i < n - 1 && s < 1e9);
  for (;;) {
    if (s > 1) break;
    s += p[0];
  }
  for (int a = 0, b = n - 1; a < b; ++a, --b) s += p[a] * p[b] * s;
  for (int k = n; k-- > 0;) s *= 1 + p[k];
  return s;
}
TEST(ControlFlow, ForWhileAndDoWithEffectsInTheirConditions) {
  EXPECT_GRADIENT(every_loop, (buffer<double>{0.5, 0.6, 0.7, 0.8}), 4);
  EXPECT_GRADIENT(every_loop, (buffer<double>{1.5}), 1);
}

double no_iterations(double x, int n) {
  for (int i = 0; i < n; ++i) x *= x;
  while (n > 0) x = --n;
  double kept;
  for (int i = 0; i < 2; ++i) kept = x * (i + 1);
  return x * kept;
}
TEST(ControlFlow, LoopsThatNeverRun) {
  EXPECT_GRADIENT(no_iterations, 1.3, 0);
  EXPECT_GRADIENT(no_iterations, 1.3, 2);
}

double newton(double a) {
  double x = a;
  int steps = 0;
  while (std::abs(x * x - a) > 1e-14 && ++steps < 50) x = (x + a / x) / 2;
  return x;
}
TEST(ControlFlow, IterationsThatDependOnTheValue) { EXPECT_GRADIENT(newton, 2.0); }

double exits(const double* p, int n) {
  double s = 1;
  if (n == 0) return 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (j > i) break;
      if ((i + j) % 3 == 1) continue;
      if (s > 50) return s * p[j];
      switch ((i * j) % 4) {
        case 0:
          s += p[i];
        case 1:
          s *= p[j] + 1;
          break;
        default:
          s += p[i] * p[j];
          if (j == 2) continue;
          s += 0.1;
          break;
        case 3:
          if (i == 3) return s * s;
          s -= p[j];
      }
    }
    if (s > 30) {
      s *= p[i];
      break;
    }
    while (true) {
      s *= 1.1 + p[i];
      if (s > 4)
        break;
      else
        continue;
    }
  }
  return s;
}
TEST(ControlFlow, BreakContinueAndReturnAnywhere) {
  EXPECT_GRADIENT(exits, (buffer<double>{0.5, 0.6, 0.7, 0.8}), 4);
  EXPECT_GRADIENT(exits, (buffer<double>{0.5}), 0);
  EXPECT_GRADIENT(exits, (buffer<double>{1.5, 2.6, 1.7, 3.8}), 4);
  EXPECT_GRADIENT(exits, (buffer<double>{0.05, 0.06, 0.07, 0.08, 0.3}), 5);
  EXPECT_GRADIENT(exits, (buffer<double>{0.5, -0.6, 0.7, 0.8}), 1);
}

enum class Kind { A, B, C };
double switches(double x, int k) {
  double y = x;
  switch (int q = k * 2; q) {
    [[unlikely]] default:
      y *= 2;
    [[likely]] case 2:
      y += x;
      break;
    case 4 ... 8: {
      double z = y * x;
      y = z * z;
      break;
    }
    case 10:
      return y * x * x;
  }
  switch (k) {}
  switch (Kind(k % 3)) {
    case Kind::A:
      y *= x;
      break;
    case Kind::B: {
      for (int i = 0; i < 3; ++i) {
        if (i == 1) break;
        y *= x;
      }
    }
    case Kind::C:
      y += 1;
  }
  return y;
}
TEST(ControlFlow, SwitchWithFallthroughRangesAndDefaultAnywhere) {
  for (int k = 0; k < 6; ++k) EXPECT_GRADIENT(switches, 1.3, k);
}

double twice(double& x) {
  x *= 2;
  return x * x;
}
double operators(double x, double y) {
  double z = x;
  double a = x > y ? twice(z) * y : z * z;
  double b = (x > 0 && twice(z) > 1) || y > 2 ? z : twice(z);
  double c = x > y ? (y > 1 ? x : y) : (x > 1 ? x * y : twice(z));
  (x > y) ? z += x : z -= y;
  bool q = x < y || (z = z * x, z > 0);
  if (!q || (y > 1 && twice(z) > 2)) c += z;
  return a * b * c * z + (q ? x : y);
}
TEST(ControlFlow, ConditionalAndLogicalOperatorsWithEffects) {
  EXPECT_GRADIENT(operators, 1.3, 0.7);
  EXPECT_GRADIENT(operators, 0.7, 1.3);
  EXPECT_GRADIENT(operators, 1.2, 2.3);
  EXPECT_GRADIENT(operators, 0.3, 0.2);
}

double declarations(double x, int n) {
  double s = 0;
  if (double y = x * x; y > 1) s += y;
  if (int k = n % 2) s += k * x;
  for (int i = 0; i < n; ++i) {
    double t;
    if (i % 2)
      t = x * s;
    else
      t = s + i * x;
    const double u = t * t;
    s += u * 0.1 + t;
    if (u > 10) {
      double t = u;
      return t * s;
    }
  }
  return s;
}
TEST(ControlFlow, DeclarationsInBranchesAndLoops) {
  EXPECT_GRADIENT(declarations, 1.3, 3);
  EXPECT_GRADIENT(declarations, 0.3, 4);
  EXPECT_GRADIENT(declarations, 2.3, 9);
}

double deep(double x) {
  double s = x;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d) {
          if (a == b) {
            if (c == d) {
              if (a == c) {
                s *= 1 + x * 0.1;
              } else {
                do {
                  s += x;
                  if (s > 3) break;
                } while (s < 2);
              }
            } else if (s > 4) {
              continue;
            } else {
              s -= x * 0.2;
            }
          }
          s = s * 0.9 + x * x * d;
        }
  return s;
}
TEST(ControlFlow, DeepNesting) { EXPECT_GRADIENT(deep, 0.8); }

double overwritten(double x, int n) {
  double y = x;
  for (int i = 0; i < n; ++i) {
    x = x * x * 0.5;
    y = x + y * x;
    x = y;
    y = 2;
    y *= x;
  }
  return x * y;
}
TEST(ControlFlow, ValuesOverwrittenInLoops) { EXPECT_GRADIENT(overwritten, 0.9, 3); }

}  // namespace
