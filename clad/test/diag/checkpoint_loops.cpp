// Loops that cannot be checkpointed, and marks that mark nothing.
#include <memory>
#include <span>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double not_first(double x, int n) {
  for (int i = 0; i < n; ++i) {
    x *= x;
    clad::checkpoint_loop(2);
    // expected-error@-1 {{clad::checkpoint_loop marks a loop as the first statement of its body; it means nothing here}}
  }
  return x;
}
double not_in_a_loop(double x) {
  clad::checkpoint_bytes(100);
  // expected-error@-1 {{clad::checkpoint_bytes marks a loop as the first statement of its body; it means nothing here}}
  return x;
}
double not_known_before(double x, int n) {
  for (int i = 1; i < n; ++i) {
    clad::checkpoint_loop(i);
    // expected-error@-1 {{the checkpoints of a loop are counted before it starts: 'i' does not exist yet there}}
    x *= x;
  }
  return x;
}
double not_a_span(const std::vector<double>& v, int n) {
  double x = 1;
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2, v);
    // expected-error@-1 {{the memory that iterations change is given as a std::span of numbers}}
    x *= v[i];
  }
  return x;
}
double behind_a_pointer(double* p, int n) {
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    p[0] *= p[1];
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change what 'p' points to; say how much that is: clad::checkpoint_loop(snapshots, std::span(p, size))}}
  }
  return p[0];
}
double another_pointer(double* p, double* q, int n) {
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2, std::span(p, 2));
    p[0] *= p[1];
    q[0] *= p[0];
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change what 'q' points to; say how much that is: clad::checkpoint_loop(snapshots, std::span(q, size))}}
  }
  return p[0];
}
double reads_a_pointer(const double* p, int n) {
  double x = 1;
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    x *= p[i];
  }
  return x;
}

struct View {
  double* data;
  int size;
};
void doubles(const View& v) {
  for (int i = 0; i < v.size; ++i) v.data[i] *= v.data[i];
}
double of_a_view(const View& v, int n) {
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    doubles(v);
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change what the pointers of 'View' refer to; use arrays or vectors}}
  }
  return v.data[0];
}
double in_a_view(View v, int n) {
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    v.data[0] *= v.data[1];
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change memory behind a pointer of 'v'; use arrays or vectors}}
  }
  return v.data[0];
}

struct Unique {
  double x;
  Unique(double x) : x(x) {}
  Unique(const Unique&) = delete;
  Unique& operator=(const Unique&) = delete;
};
double of_what_cannot_be_copied(double x, int n) {
  Unique u(x);
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    u.x *= x;
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change 'u', an object of 'Unique', which cannot be copied}}
  }
  return u.x;
}

int count = 0;
double of_a_global(double x, int n) {
  for (int i = 0; i < n; ++i) {
    clad::checkpoint_loop(2);
    ++count;
    // expected-error@-1 {{cannot checkpoint this loop: its iterations change a global variable; pass it as a parameter}}
    x *= x;
  }
  return x;
}

struct Made {
  double x;
  Made(double a, int n) : x(a) {
    for (int i = 0; i < n; ++i) {
      clad::checkpoint_loop(2);
      x *= a;
      // expected-error@-1 {{cannot checkpoint this loop: its iterations change an object that is under construction; move the loop into a function of its own}}
    }
  }
};
double constructs(double x, int n) { return Made(x, n).x; }

double with_a_pragma(double* p, int n) {
#pragma clad checkpoint loop
  // what it marks may be commented on
  for (int i = 0; i < n; ++i) p[0] *= p[1];
  // expected-error@-1 {{cannot checkpoint this loop: its iterations change what 'p' points to}}
  return p[0];
}

void use() {
  clad::gradient(not_first, "x");
  clad::gradient(not_in_a_loop);
  clad::gradient(not_known_before, "x");
  clad::gradient(not_a_span, "v");
  clad::gradient(behind_a_pointer, "p");
  clad::gradient(another_pointer, "p, q");
  clad::gradient(reads_a_pointer, "p");
  clad::gradient(of_a_view, "v");
  clad::gradient(in_a_view, "v");
  clad::gradient(of_what_cannot_be_copied, "x");
  clad::gradient(of_a_global, "x");
  clad::gradient(constructs, "x");
  clad::gradient(with_a_pragma, "p");
}
