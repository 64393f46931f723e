// Where the plugin writes what does not compile, the statement is named all the same.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double of_pointers(const std::vector<double*>& v) {
  double sum = 0;
  for (const double* p : v) sum += *p;
  // expected-error@-1 2 {{cannot differentiate this statement: its derivative by clad does not compile (use of undeclared identifier 'd_p'); write it another way, or give the function it stands in a pullback}}
  // expected-error@*:* 2 {{use of undeclared identifier 'd_p'}}
  return sum;
}

void use() { clad::gradient(of_pointers); }
