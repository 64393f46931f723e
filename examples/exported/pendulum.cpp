// Finds the length and the damping of a pendulum from angles that were measured.
#include <cmath>
#include <cstdio>

#include "swing.h"

int main() {
  const double times[] = {0.2, 0.4, 0.7, 1.1};
  double angles[4];
  for (int i = 0; i < 4; ++i) angles[i] = swing(0.8, 0.5, times[i]);

  double length = 1, damping = 0.1;
  for (int step = 0; step < 4000; ++step) {
    double d_length = 0, d_damping = 0;
    for (int i = 0; i < 4; ++i) misfit_gradient(length, damping, times[i], angles[i], &d_length, &d_damping);
    length -= 0.05 * d_length;
    damping -= 0.05 * d_damping;
  }

  std::printf("length %.4f m, damping %.4f / s\n", length, damping);
  return std::abs(length - 0.8) < 1e-3 && std::abs(damping - 0.5) < 1e-3 ? 0 : 1;
}
