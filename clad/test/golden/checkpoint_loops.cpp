// Loops that are checkpointed: one iteration and the loop are functions of their own, and of the loop a few
// snapshots are kept.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double swing(double angle, double length, int n) {
  double speed = 0, dt = 0.01;
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(8);
    speed -= dt * 9.81 / length * std::sin(angle);
    angle += dt * speed;
  }
  return angle;
}
auto known = clad::gradient(swing, "angle, length");

double settle(std::vector<double> u, double k) {
  double change = 1;
#pragma clad checkpoint loop
  while (change > 1e-6) {
    double before = u[0];
    u[0] += k * (u[1] - u[0] * u[0]);
    change = std::fabs(u[0] - before);
  }
  return u[0];
}
auto unknown = clad::gradient(settle);
