// Pragmas that do not stand before a loop.
#pragma clad ON
double f(double* p, int n) {
#pragma clad checkpoint loop
  while (n-- > 0) p[0] *= p[1];
#pragma clad checkpoint loop
  // expected-error@-1 {{'#pragma clad checkpoint loop' stands before a loop; none follows here}}
  p[0] *= 2;
#pragma clad checkpoint loops
  // expected-error@-1 {{write '#pragma clad checkpoint loop' on a line of its own before a loop}}
  for (int i = 0; i < n; ++i) p[0] *= p[1];
  return p[0];
}
