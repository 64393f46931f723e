// What of OpenMP is not differentiated, and what of it would be a race.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

int omp_get_thread_num();

double critical(const double* x, int n) {
  double s = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
// expected-error@+1 {{cannot differentiate '#pragma omp critical'; add up with 'reduction(+ : ...)' of '#pragma omp parallel for'}}
#pragma omp critical
    s += x[i];
  }
  return s;
}
auto d_critical = clad::gradient(critical, "x");

double atomic(const double* x, int n) {
  double s = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
// expected-error@+1 {{cannot differentiate '#pragma omp atomic'; add up with 'reduction(+ : ...)' of '#pragma omp parallel for'}}
#pragma omp atomic
    s += x[i];
  }
  return s;
}
auto d_atomic = clad::gradient(atomic, "x");

double task(const double* x, int n) {
  double s = 0;
// expected-error@+1 {{cannot differentiate '#pragma omp task'; supported are 'parallel for', 'parallel' around 'for', 'simd' and 'parallel for simd'}}
#pragma omp task
  s += x[n];
  return s;
}
auto d_task = clad::gradient(task, "x");

double sections(const double* x) {
  double a = 0, b = 0;
// expected-error@+1 {{cannot differentiate '#pragma omp parallel sections'; supported are}}
#pragma omp parallel sections
  {
    a = x[0];
#pragma omp section
    b = x[1];
  }
  return a * b;
}
auto d_sections = clad::gradient(sections, "x[0:1]");

double alone(const double* x, int n) {
  double s = 0;
// expected-error@+1 {{cannot differentiate '#pragma omp for'; write '#pragma omp parallel for'}}
#pragma omp for
  for (int i = 0; i < n; ++i) s += x[i];
  return s;
}
auto d_alone = clad::gradient(alone, "x");

double region(const double* x, int n) {
  double s = 0;
#pragma omp parallel
  {
    // expected-error@+1 {{cannot differentiate '#pragma omp parallel' around anything but '#pragma omp for'; move this into the loop or out of the parallel region, and use 'reduction(+ : ...)' for sums}}
    double mine = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) mine += x[i];
#pragma omp critical
    s += mine;
  }
  return s;
}
auto d_region = clad::gradient(region, "x");

double thread_number(const double* x, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  // expected-error@+1 {{cannot differentiate a parallel loop that asks which thread it runs on}}
  for (int i = 0; i < n; ++i) s += x[i] * omp_get_thread_num();
  return s;
}
auto d_thread_number = clad::gradient(thread_number, "x");

double race(const double* x, int n) {
  double t = 0, s = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    // expected-error@+1 {{every iteration of the parallel loop writes the shared 't'; make it private, lastprivate or a reduction}}
    t = x[i];
    // expected-error@+1 {{every iteration of the parallel loop writes the shared 's'; make it private, lastprivate or a reduction}}
    s += t;
  }
  return s + t;
}
auto d_race = clad::gradient(race, "x");

double shared_element(const double* x, double* y, int n) {
#pragma omp parallel for
  // expected-error@+1 {{every iteration of the parallel loop writes the shared 'y'}}
  for (int i = 0; i < n; ++i) y[0] += x[i];
  return y[0];
}
auto d_shared_element = clad::gradient(shared_element, "x, y");

double unset(const double* x, int n) {
  double t = 0, s = 0;
#pragma omp parallel for private(t) reduction(+ : s)
  // expected-error@+1 {{the private variable 't' is read before the iteration gives it a value}}
  for (int i = 0; i < n; ++i) {
    if (i % 2) t = x[i];
    s += t;
  }
  return s;
}
auto d_unset = clad::gradient(unset, "x");

double sometimes(const double* x, int n) {
  double t = 0;
#pragma omp parallel for lastprivate(t)
  // expected-error@+1 {{cannot differentiate a loop that does not always assign the lastprivate 't'}}
  for (int i = 0; i < n; ++i)
    if (x[i] > 0) t = x[i];
  return t;
}
auto d_sometimes = clad::gradient(sometimes, "x");

double first(const double* x, int n) {
  double t = 1, s = 0;
#pragma omp parallel for firstprivate(t) reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    // expected-error@+1 {{cannot differentiate a change of the firstprivate 't': its value would depend on which thread runs which iteration; declare a copy in the loop}}
    t *= x[i];
    s += t;
  }
  return s;
}
auto d_first = clad::gradient(first, "x");

double reread(const double* x, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    s += x[i];
    // expected-error@+1 {{cannot differentiate this use of the reduction variable 's': the loop may only add to it}}
    s *= 2;
  }
  return s;
}
auto d_reread = clad::gradient(reread, "x");

double stride(const double* x, int n, int step) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  // expected-error@+1 {{cannot differentiate this parallel loop: write it as 'for (int i = first; i < end; ++i)', with a step that is a constant}}
  for (int i = 0; i < n; i += step) s += x[i];
  return s;
}
auto d_stride = clad::gradient(stride, "x");

double array(const double* x, int n) {
  double s[2] = {0, 0};
// expected-error@+1 {{cannot differentiate a parallel loop with the clause 'reduction(+}}
#pragma omp parallel for reduction(+ : s[ : 2])
  for (int i = 0; i < n; ++i) s[i % 2] += x[i];
  return s[0] * s[1];
}
auto d_array = clad::gradient(array, "x");

double checkpointed(const double* x, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    double t = x[i];
    // expected-error@+1 {{cannot checkpoint a loop that runs in a parallel loop: other iterations may add to the same derivatives at the same time}}
    for (int k = 0; k < 5; ++k) {
      clad::checkpoint_loop(2);
      t = t * t * x[0];
    }
    s += t;
  }
  return s;
}
auto d_checkpointed = clad::gradient(checkpointed, "x");

struct Pair {
  std::vector<double> a;
};
double total(const Pair& p) { return p.a[0]; }
double copies(const Pair& p, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    const Pair copy = p;
    s += total(copy);
  }
  return s;
}
auto d_copies = clad::gradient(copies, "p");

// Constants of the loop, and what the loop only reads, may be anything.
double fine(const double* x, int n) {
  double s = 0, scale = 2;
#pragma omp parallel for reduction(+ : s) firstprivate(scale) schedule(dynamic)
  for (int i = 0; i < n; ++i) s += x[i] * scale;
  return s;
}
auto d_fine = clad::gradient(fine, "x");
