// What has no name in another file.
#include "clad/Differentiator/Differentiator.h"

double counted(double x) {
  static int calls = 0;
  // expected-error@-1 {{cannot export a derivative that uses static variable 'calls', which has no name in another file; make it a global variable}}
  ++calls;
  return x * calls;
}

void use() { clad::gradient(counted); }
