// Integers and flags on the heap, and functions that allocate or free for their callers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double* real_vector(int first, int last) {  // with the index of its first element of one's choice
  double* v = (double*)malloc((last - first + 2) * sizeof(double));
  return v - first + 1;
}
void free_real_vector(double* v, int first, int) { free(v + first - 1); }
int* index_vector(int n) { return (int*)malloc(n * sizeof(int)); }
void free_index_vector(int* v) {
  if (v) free(v);
}

double pivoted(double x, double y) {
  const int n = 3;
  double* a = (double*)malloc(n * n * sizeof(double));
  int* row = index_vector(n);
  double* b = real_vector(1, n);
  for (int i = 0; i < n * n; ++i) a[i] = (i * 7 % 5) * x + (i % 4 == 0) * y;
  for (int i = 0; i < n; ++i) {
    row[i] = i;
    b[i + 1] = std::pow(x, i) + y;
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::fabs(a[row[i] * n + k]) > std::fabs(a[row[best] * n + k])) best = i;
    const int other = row[k];
    row[k] = row[best];
    row[best] = other;
    for (int i = k + 1; i < n; ++i) {
      const double l = a[row[i] * n + k] / a[row[k] * n + k];
      for (int j = k; j < n; ++j) a[row[i] * n + j] -= l * a[row[k] * n + j];
      b[row[i] + 1] -= l * b[row[k] + 1];
    }
  }
  double s = 0;
  for (int k = 0; k < n; ++k) s += b[row[k] + 1] / a[row[k] * n + k];
  free(a);
  free_index_vector(row);
  free_real_vector(b, 1, n);
  return s;
}
TEST(Heap, PivotsOfAFactorization) { EXPECT_DERIVATIVES(pivoted, 1.3, 0.7); }

double in_a_loop(double x, double y) {
  double s = 0;
  for (int n = 1; n < 4; ++n) {
    int* k = new int[n];
    for (int i = 0; i < n; ++i) k[i] = i * n;
    for (int i = 0; i < n; ++i) {
      s += k[i] * x * y * s + k[i] * y;
      k[i] = 0;
    }
    delete[] k;
  }
  return s;
}
double flags(double x, double y) {
  bool* used = new bool[5]();
  bool* more = (bool*)calloc(5, 1);
  char* steps = (char*)malloc(3);
  double s = 0;
  for (int i = 0; i < 5; ++i) used[(i * 3) % 5] = more[i] = x > i * 0.4;
  for (int i = 0; i < 3; ++i) steps[i] = 1 << i;
  for (int i = 0; i < 5; ++i)
    if (used[i] && !more[4]) s += x * y * i * steps[i % 3];
  delete[] used;
  free(more);
  free(steps);
  return s;
}
double owned(double x, double y) {
  auto order = std::make_unique<int[]>(3);
  std::unique_ptr<int> twice(new int(2));
  auto five = std::make_shared<int>(5);
  for (int i = 0; i < 3; ++i) order[i] = 2 - i;
  *five += order[0];
  const double v[] = {x, y, x * y};
  return v[order[0]] * *twice + v[order[2]] * *five * y;
}
double by_library_calls(double x, double y) {
  const int n = 5;
  std::size_t* k = new std::size_t[n]{3, 1};
  double s = 0;
  for (int i = 2; i < n; ++i) k[i] = i * i % 5;
  std::sort(k, k + n);
  for (int i = 0; i < n; ++i) s = s * y + k[i] * x;
  memset(k, 0, n * sizeof(std::size_t));
  for (int i = 0; i < n; ++i) s = s * x + k[i] * x;
  delete[] k;
  return s;
}
int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
struct Table {
  int n;
  int v[3];
};
double as_memory(double x, double y) {
  int k[4] = {5, 6, 1, 2}, j[4] = {1, 0, 2, 3};
  Table t{3, {5, 6, 1}};
  double s = 0;
  for (int i = 0; i < 4; ++i) s = s * y + k[i] * x + t.v[i % 3];
  qsort(k, 4, sizeof(int), by_value);
  for (int i = 0; i < 4; ++i) s = s * y + k[i] * x;
  memcpy(k, j, sizeof k);
  memset(&t, 0, sizeof t);
  for (int i = 0; i < 4; ++i) s = s * x + k[i] * y + t.v[i % 3];
  memset(j, -1, sizeof j);
  memset(t.v, 1, sizeof(int));
  s = s * j[3] * x + s * t.v[0] * 1e-7 * y + t.v[2];
  snprintf((char*)j, sizeof j, "%d", 4321);
  return s + j[0] * 1e-9 * x;
}
TEST(Heap, Integers) {
  EXPECT_DERIVATIVES(in_a_loop, 1.3, 0.7);
  EXPECT_DERIVATIVES(flags, 1.3, 0.7);
  EXPECT_DERIVATIVES(owned, 1.3, 0.7);
  EXPECT_DERIVATIVES(by_library_calls, 1.3, 0.7);
  EXPECT_DERIVATIVES(as_memory, 1.3, 0.7);
}

class Permutation {
  int n_;
  int* p_;

 public:
  explicit Permutation(int n) : n_(n), p_(new int[n]) {
    for (int i = 0; i < n; ++i) p_[i] = n - 1 - i;
  }
  Permutation(const Permutation& o) : n_(o.n_), p_(new int[o.n_]) {
    for (int i = 0; i < n_; ++i) p_[i] = o.p_[i];
  }
  ~Permutation() { delete[] p_; }
  int operator()(int i) const { return p_[i]; }
  void swap(int i, int j) { std::swap(p_[i], p_[j]); }
};
double permuted(double x, double y) {
  Permutation p(3), q(p);
  q.swap(0, 1);
  const double v[] = {x, y, x * y};
  double s = 0;
  for (int i = 0; i < 3; ++i) s = s * v[q(i)] + v[p(i)];
  return s;
}
struct Sparse {
  int n;
  int *row, *column;
  double* value;
};
Sparse laplacian(int n, double h) {
  Sparse m;
  m.n = n;
  m.row = new int[n + 1];
  m.column = new int[3 * n];
  m.value = new double[3 * n];
  int k = 0;
  for (int i = 0; i < n; ++i) {
    m.row[i] = k;
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      m.column[k] = j;
      m.value[k++] = i == j ? 2 / h : -1 / h;
    }
  }
  m.row[n] = k;
  return m;
}
void release(Sparse& m) {
  delete[] m.row;
  delete[] m.column;
  delete[] m.value;
}
double quadratic_form(double x, double y) {
  Sparse m = laplacian(4, x);
  const double v[4] = {x, y, x * y, 1};
  double s = 0;
  for (int i = 0; i < m.n; ++i)
    for (int k = m.row[i]; k < m.row[i + 1]; ++k) s += v[i] * m.value[k] * v[m.column[k]];
  release(m);
  return s;
}
TEST(Heap, IntegersInClasses) {
  EXPECT_DERIVATIVES(permuted, 1.3, 0.7);
  EXPECT_DERIVATIVES(quadratic_form, 1.3, 0.7);
}

// Structs on the heap whose members are allocated, too.
typedef struct {
  int n;
  double *x, *v;
  double m;
} System;
System* new_system(int n, double m) {
  System* s = (System*)malloc(sizeof *s);
  s->n = n;
  s->m = m;
  s->x = (double*)malloc((size_t)(n * sizeof(double)));
  s->v = (double*)calloc(n, sizeof(double));
  for (int i = 0; i < n; i++) s->x[i] = i * m;
  return s;
}
void free_system(System* s) {
  if (s) {
    free(s->x);
    free(s->v);
    free(s);
  }
}
void step(System* s, double dt) {
  for (int i = 0; i < s->n; i++) {
    s->v[i] -= s->x[i] * dt / s->m;
    s->x[i] += s->v[i] * dt;
  }
}
double energy(const System* s) {
  double e = 0;
  for (int i = 0; i < s->n; i++) e += 0.5 * s->m * s->v[i] * s->v[i] + s->x[i] * s->x[i];
  return e;
}
double two_systems(double x, double y) {
  System *a = new_system(2, x), *b = new_system(3, y);
  for (int t = 0; t < 4; ++t) step(a, 0.1 * y);
  step(b, 0.2);
  a->x[1] += b->x[2];
  const double e = energy(a) * energy(b);
  free_system(a);
  free_system(b);
  return e;
}
typedef struct tree {
  double v;
  struct tree *left, *right;
} tree;
tree* new_tree(double v, tree* left, tree* right) {
  tree* t = (tree*)malloc(sizeof(tree));
  t->v = v;
  t->left = left;
  t->right = right;
  return t;
}
double product(const tree* t) { return t ? t->v * 1.1 + product(t->left) * product(t->right) + 1 : 1; }
double of_tree(double x, double y) {
  tree* t = new_tree(x, new_tree(y, NULL, NULL), new_tree(x * y, NULL, NULL));
  double(*rows)[2] = (double(*)[2])malloc(2 * sizeof *rows);
  rows[0][0] = x;
  rows[0][1] = y;
  rows[1][0] = 2;
  rows[1][1] = x * y;
  const double s = product(t) * (rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]);
  free(rows);
  free(t->left);
  free(t->right);
  free(t);
  return s;
}
struct Held {
  int n;
  double* u;
};
double deleted(double x, double y) {
  Held* h = new Held;
  h->n = 3;
  h->u = new double[3]();
  for (int i = 0; i < h->n; ++i) h->u[i] += x * i + y;
  const double s = h->u[1] * h->u[2];
  delete[] h->u;
  delete h;
  return s;
}
TEST(Heap, StructsWithAllocatedMembers) {
  EXPECT_DERIVATIVES(two_systems, 1.3, 0.7);
  EXPECT_DERIVATIVES(of_tree, 1.3, 0.7);
  EXPECT_DERIVATIVES(deleted, 1.3, 0.7);
}

}  // namespace
