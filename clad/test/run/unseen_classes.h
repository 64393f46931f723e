#pragma once

struct Spring {
  double k = 2;
  virtual ~Spring() = default;
  virtual double force(double x) const { return k * x; }
};
/// Nothing in the file that takes derivatives overrides it.
struct Rod {
  double k = 3;
  virtual ~Rod() = default;
  virtual double force(double x) const { return k * x; }
  virtual double& stiffness() { return k; }
};
struct Stiff final {
  double k = 3;
  virtual double force(double x) const { return k * x; }
};
struct Hardening : Spring {
  double force(double x) const override { return x * x; }
};
const Spring& cubic_spring();
const Spring& cubic_hardening();
Rod& cubic_rod();
