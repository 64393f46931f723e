// Objects that hold pointers, references or functions.
#include <functional>
#include <memory>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

struct View {
  double* p;
  int n;
};
double recursive(View v) { return v.n == 1 ? v.p[0] : recursive({v.p, 1}) + recursive({v.p + 1, v.n - 1}); }
// expected-error@-1 2 {{cannot differentiate this use of an object of 'View', which holds pointers, references or functions}}
double calls_recursive(double x) {
  double a[2] = {x, x * x};
  return recursive({a, 2});
}
double repointed(double x) {
  double a[2] = {x, x * x}, b[2] = {1, x};
  View v{a, 2};
  if (x > 1) v.p = b;
  // expected-error@-1 {{cannot differentiate this assignment of a pointer that is the member of an object: it stands in a branch or a loop}}
  return v.p[0];
}
double chosen(double x) {
  double a[2] = {x, x * x};
  View v = x > 1 ? View{a, 2} : View{a + 1, 1};
  // expected-error@-1 2 {{cannot differentiate this use of an object of 'View'}}
  return v.p[0];
}
View one_of(double* a, int n) {
  if (n > 1) return {a, n};
  // expected-error@-1 {{cannot differentiate this return of an object that holds pointers, one of several; return it at the end}}
  return {a + 1, n};
  // expected-error@-1 {{cannot differentiate this return of an object that holds pointers, one of several; return it at the end}}
}
double returned(double x) {
  double a[2] = {x, x * x};
  return one_of(a, 2).p[0];
}

struct Early {
  double* p;
  Early(double* q) : p(q) {
    if (*q > 1) return;
    *q = 1;
  }
};
double leaves_early(double x) {
  Early e(&x);
  // expected-error@-1 {{cannot differentiate this constructor of 'Early', which holds pointers: it returns early}}
  return *e.p;
}
void note(double*);
struct Notes {
  double* p;
  ~Notes() { note(p); }
};
double ends(double x) {
  Notes n{&x};
  // expected-error@-1 {{cannot differentiate through an object of 'Notes', which holds pointers: its destructor does more than free memory}}
  return *n.p;
}
struct Counted {
  double* p = new double[1];
  int* n;
  ~Counted() {
    if (--*n == 0) delete[] p;
  }
};
double counts(double x) {
  int n = 1;
  Counted c{new double[1]{x}, &n};
  // expected-error@-1 {{cannot differentiate through an object of 'Counted', which holds pointers: its destructor does more than free memory}}
  return *c.p;
}
struct Changing {
  double* p = new double[1];
  double* q;
  ~Changing() { clear(); }
  void clear() {
    if ((*q = 5) > 0) delete[] p;
  }
};
double changes(double x) {
  Changing c{new double[1]{x}, &x};
  // expected-error@-1 {{cannot differentiate through an object of 'Changing', which holds pointers: its destructor does more than free memory}}
  return *c.p;
}

struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() = default;
};
struct Disk : Shape {
  double r;
  Disk(double r) : r(r) {}
  double area() const override { return r * r; }
};
double grown_in_a_loop(double x) {
  std::vector<std::unique_ptr<Shape>> v;
  for (int i = 0; i < 2; ++i) v.push_back(std::make_unique<Disk>(x));
  // expected-error@-1 {{cannot differentiate this 'push_back' of a vector of pointers, or of objects that hold some: it stands in a branch or a loop}}
  return v.size() * x;
}
std::unique_ptr<Disk> first_large(double x) {
  for (int i = 0; i < 3; ++i) {
    auto disk = std::make_unique<Disk>(x * i);
    if (disk->area() > 1) return disk;
    // expected-error@-1 {{cannot differentiate this return of an object that a loop makes; return its members, or an index}}
  }
  return std::make_unique<Disk>(x);
}
double made_in_a_loop(double x) { return first_large(x)->area(); }
double reversed(double x) {
  Disk a(x), b(x * x);
  std::vector<Disk*> v{&a, &b};
  v.erase(v.begin());
  // expected-error@-1 {{cannot differentiate 'erase' of a vector or array of pointers; use an index, or a range-for}}
  return v[0]->area();
}

double take(const double*& p) { return *p++; }
double by_reference(double x) {
  const double a[2] = {x, x * x};
  struct {
    const double* p;
  } cursor{a};
  return take(cursor.p);
  // expected-error@-1 {{cannot differentiate a reference, or a pointer, to a pointer that is a member of an object; pass the object}}
}
double asked(double x) {
  auto p = std::make_unique<double>(x);
  std::unique_ptr<double> q;
  if (x > 0) q = std::move(p);
  return p ? 1 : *q;
  // expected-error@-1 {{cannot differentiate a test of 'p', a pointer that a branch or a loop has moved from; keep a flag}}
}

struct Rule {
  std::function<double(double)> f;
};
double unknown_function(double x, const std::function<double(double)>& g) {
  Rule r{g};
  // expected-error@-1 {{cannot differentiate an object whose member 'f' is a function that is not known here; give it a lambda or a function}}
  return r.f(x);
}

void request() {
  clad::gradient(calls_recursive);
  clad::gradient(repointed);
  clad::gradient(chosen);
  clad::gradient(returned);
  clad::gradient(leaves_early);
  clad::gradient(ends);
  clad::gradient(counts);
  clad::gradient(changes);
  clad::gradient(grown_in_a_loop);
  clad::gradient(made_in_a_loop);
  clad::gradient(reversed);
  clad::gradient(by_reference);
  clad::gradient(asked);
  clad::gradient(unknown_function, "x");
}
