// An object's adjoint is an object of its class; a method that changes it keeps only what it overwrites.
#include "clad/Differentiator/Differentiator.h"

class Account {
 public:
  explicit Account(double start) : balance_(start), rate_(start * 0.1) {}
  void step(double deposit) {
    balance_ += deposit;
    balance_ *= 1 + rate_;
    positive_ = balance_ > 0;
    if (positive_) rate_ *= 0.9;
  }
  double balance() const { return balance_; }

 private:
  double balance_, rate_;
  bool positive_;
};
double f(double x) {
  Account a(x);
  a.step(x * x);
  return a.balance();
}
auto gradient = clad::gradient(f);
