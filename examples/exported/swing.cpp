// The only file that asks for a derivative, and so the only one that Clang reads.
#include "swing.h"

#include <cmath>

#include "clad/Differentiator/Differentiator.h"

double swing(double length, double damping, double time) {
  const int steps = 400;
  const double h = time / steps;
  double angle = 1, speed = 0;
  for (int i = 0; i < steps; ++i) {
    speed -= h * (9.81 / length * std::sin(angle) + damping * speed);
    angle += h * speed;
  }
  return angle;
}

double misfit(double length, double damping, double time, double angle) {
  const double off = swing(length, damping, time) - angle;
  return off * off / 2;
}

void misfit_gradient(double length, double damping, double time, double angle, double* d_length,
                     double* d_damping) {
  clad::gradient(misfit, "length, damping").execute(length, damping, time, angle, d_length, d_damping);
}
