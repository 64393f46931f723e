#include "unseen_classes.h"

struct CubicSpring : Spring {
  double force(double x) const override { return x * x * x; }
};
struct CubicHardening : Hardening {
  double force(double x) const override { return x * x * x; }
};
struct CubicRod : Rod {
  double force(double x) const override { return x * x * x; }
};
const Spring& cubic_spring() {
  static const CubicSpring spring;
  return spring;
}
const Spring& cubic_hardening() {
  static const CubicHardening spring;
  return spring;
}
Rod& cubic_rod() {
  static CubicRod rod;
  return rod;
}
