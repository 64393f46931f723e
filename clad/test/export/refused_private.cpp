#include "clad/Differentiator/Differentiator.h"

class Account {
 public:
  // expected-error@+1 {{cannot export this derivative: 'amount_' is a private member of 'Account'; make it public}}
  explicit Account(double amount) : amount_(amount) {}
  double twice() const { return 2 * amount_; }

 private:
  double amount_;
};
double f(double x) { return Account(x).twice(); }
auto g = clad::gradient(f);
