#include "clad/Differentiator/Differentiator.h"

double stretch(double length, double rest) { return (length - rest) * (length - rest); }

double energy(double stiffness, double length) {
  double square = stretch(length, 1);
  double energy = stiffness * square;
  return energy / 2;
}

int main() {
  double d_stiffness = 0, d_length = 0;
  clad::gradient(energy).execute(3, 2, &d_stiffness, &d_length);
  return d_stiffness == 0.5 && d_length == 3 ? 0 : 1;
}
