// Objects without derivatives that are changed through the reference which a call returned.
#include <map>
#include <sstream>
#include <stack>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Counter {
  int n = 0;
  int& count() { return n; }
  int* where() { return &n; }
};
void increase(int& k) { ++k; }
double assigned(double x, double y) {
  Counter c;
  c.count() = 2;
  ++c.count();
  increase(c.count());
  int& k = c.count();
  k *= 2;
  return x * y * c.n + k * x;
}
double in_turn(double x, double y) {
  Counter c;
  double s = 0;
  for (int i = 0; i < 4; ++i) {
    int& k = c.count();
    s += s * x + y * k;
    k += 2;
    s *= 1 + 0.01 * k * x;
    ++c.count();
  }
  return s;
}
double bounds(double x, double y) {
  Counter c;
  double s = 1;
  for (c.count() = 1; c.count() < 4; ++c.count()) s *= x + c.n * y;
  return s;
}
struct Weighted {
  double weight;
  int n = 1;
  int& count() { return n; }
};
double beside_numbers(double x, double y) {
  Weighted w{x * y};
  w.count() += 3;
  w.weight *= w.n;
  w.count() *= 2;
  return w.weight * w.n * y;
}
int& either(bool first, int& a, int& b) { return first ? a : b; }
double chosen(double x, double y) {
  int a = 1, b = 1;
  either(x > y, a, b) = 4;
  either(x < y, a, b) += 2;
  const auto last = [&b]() -> int& { return b; };
  ++last();
  return a * x * y + b * x * x;
}
struct Grid {
  int cells[4] = {};
  int& operator()(int i, int j) {
    if (i < 0 || j < 0) throw std::string("outside");
    return cells[i * 2 + j];
  }
  int operator()(int i, int j) const { return cells[i * 2 + j]; }
};
double cells(double x, double y) {
  Grid g;
  double s = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      g(i, j) = i + j;
      g(i, j) += 1;
      s += x * s + g(i, j) * y;
    }
  const Grid& same = g;
  return s * same(1, 1) * x;
}
int& calls() {
  static int n = 0;
  return n;
}
double globally(double x, double y) {
  int& all = calls();
  all = 3;
  calls() -= 2;
  x *= all;
  double s = x * calls();
  calls() += 2;
  return s * y * calls();
}
TEST(Places, ThatUsersFunctionsReturn) {
  EXPECT_GRADIENT(assigned, 1.3, 0.7);
  EXPECT_GRADIENT(in_turn, 1.3, 0.7);
  EXPECT_GRADIENT(bounds, 1.3, 0.7);
  EXPECT_GRADIENT(beside_numbers, 1.3, 0.7);
  EXPECT_GRADIENT(chosen, 1.3, 0.7);
  EXPECT_GRADIENT(cells, 1.3, 0.7);
  EXPECT_GRADIENT(globally, 1.3, 0.7);
}

struct Named {
  std::string name;
  std::vector<int> indices;
  std::string& called() { return name; }
  std::vector<int>& held() { return indices; }
};
double objects(double x, double y) {
  Named n;
  n.called() = "ab";
  n.called() += 'c';
  double s = 1;
  for (int i = 0; i < 4; ++i) {
    s += s * x * n.indices.size();
    n.held().push_back(i + 1);
    s += y * n.held()[i];
  }
  return s * n.name.size();
}
struct Node {
  int value = 1, rank = 0;
};
struct Forest {
  std::vector<Node> nodes;
  Node& operator[](int i) { return nodes[i]; }
};
double nodes(double x, double y) {
  Forest forest;
  forest.nodes.resize(3);
  forest[1].value = 5;
  Node& last = forest[2];
  last.rank += 3;
  std::swap(forest[0], forest[1]);
  return x * forest[0].value * y * last.rank;
}
TEST(Places, ThatAreObjects) {
  EXPECT_GRADIENT(objects, 1.3, 0.7);
  EXPECT_GRADIENT(nodes, 1.3, 0.7);
}

double counted(double x, double y) {
  std::map<int, int> count;
  double s = 1;
  for (int i = 0; i < 5; ++i) {
    int& k = count[i % 2];
    s += s * x * 0.1 + y * k;
    k += 2;
    ++count[7];
    s *= 1 + 0.01 * count[i % 2] * x;
  }
  std::map<std::string, std::vector<int>> lists;
  lists["a"].push_back(3);
  lists["a"][0] *= count[7];
  return s * lists["a"][0];
}
double letters(double x, double y) {
  std::string t = "abc";
  double s = 1;
  for (int i = 0; i < 5; ++i) {
    s += x * s * (t[i % 3] - 'a');
    t[i % 3] += 1;
    s += y * (t[1] - 'a');
  }
  return s * (t.back() - 'a');
}
double ends(double x, double y) {
  std::stack<int> open;
  open.push(1);
  open.top() += 4;
  std::vector<int> v;
  v.emplace_back(3) += 2;
  return x * y * open.top() + x * v[0];
}
double printed(double x, double y) {
  std::ostringstream out;
  out << 3 << " " << 4.5 << "a";
  return x * static_cast<double>(out.str().size()) * y;
}
TEST(Places, ThatLibraryFunctionsReturn) {
  EXPECT_GRADIENT(counted, 1.3, 0.7);
  EXPECT_GRADIENT(letters, 1.3, 0.7);
  EXPECT_GRADIENT(ends, 1.3, 0.7);
  EXPECT_GRADIENT(printed, 1.3, 0.7);
}

struct Slots {
  virtual ~Slots() = default;
  virtual int& at(int i) = 0;
  virtual int size() const { return 1; }
};
struct Two : Slots {
  int n[2] = {1, 2};
  int& at(int i) override { return n[i]; }
  int size() const override { return 2; }
};
double virtually(double x, double y) {
  Two two;
  Slots& slots = two;
  slots.at(0) += 3;
  double s = 0;
  for (int i = 0; i < slots.size(); ++i) s += x * two.n[i] * y;
  return s;
}
TEST(Places, ThatVirtualFunctionsReturn) { EXPECT_GRADIENT(virtually, 1.3, 0.7); }

// One of four, as the element of a vector of a public library, and of such vectors in a matrix.
struct Four {
  double x, y, z, w;
  double get(int i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
  double& operator[](int i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};
struct FourFours {
  Four x, y, z, w;
  Four& operator[](int i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};
double one_of_four(double x, double y) {
  const Four v{x, x * y, 3 * x, 1 + y};
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += v.get(i) * (i + 1);
  return sum * v.get(2);
}
TEST(Places, OneOfFour) { EXPECT_GRADIENT(one_of_four, 1.3, 0.7); }
double one_of_sixteen(double x, double y) {
  const Four v{x, x * y, 3 * x, 1 + y};
  FourFours m{v, v, v, v};
  for (int i = 0; i < 4; ++i) m[i][3 - i] *= y + i;
  double product = m[3][2];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) product += m[i][j] * (i - 2 * j);
  return product;
}
TEST(Places, OneOfSixteen) { EXPECT_GRADIENT(one_of_sixteen, 1.3, 0.7); }

// Numbers that are computed from constants are put into a vector of others.
const double table[] = {0.92, 1.74, 0.89};
double computed_from_table(double x, double y) {
  std::vector<double> v{y};
  v.push_back(2.3 / table[2]);
  v.push_back(-table[1] * x);
  return v[0] * v[1] * v[2];
}
TEST(Places, OfVectorsForNumbersOfATable) { EXPECT_GRADIENT(computed_from_table, 1.3, 0.7); }

// Objects that hold nothing but numbers are taken for arrays of them.
struct Row {
  double a[3], w;
  double& operator[](int i) { return ((double*)this)[i]; }
  const double& operator[](int i) const { return reinterpret_cast<const double*>(this)[i]; }
};
struct Pair {
  double x, y;
};
struct Pairs {
  Pair first, more[2];
};
double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += a[i] * b[i];
  return sum;
}
void scale_all(Pair* pairs, int n, double by) {
  auto* numbers = reinterpret_cast<double*>(pairs);
  for (int i = 0; i < 2 * n; ++i) numbers[i] = numbers[i] * by + i;
}
double taken_for_arrays(double x, double y) {
  Row row{{x, x * y, 3}, y};
  for (int i = 0; i < 4; ++i) row[i] *= x + i;
  Pairs all{{x, y}, {{x * y, 2}, {y, 1}}};
  auto* numbers = (double*)&all;
  for (int i = 0; i < 6; ++i) numbers[i] *= numbers[5 - i];
  std::vector<Pair> pairs{{x, 1}, {2, y}};
  scale_all(pairs.data(), 2, y);
  return dot(row, row) + row.w * all.more[0].x + all.first.y * pairs[0].x * pairs[1].y;
}
TEST(Places, InObjectsTakenForArrays) { EXPECT_DERIVATIVES(taken_for_arrays, 1.3, 0.7); }

// An object under construction knows the virtual functions of its own class, and may be handed on to what
// calls none.
struct Coil {
  double k = 1;
  virtual ~Coil() = default;
  virtual double force() const { return 3 * k; }
  double plus_one() const { return k + 1; }
};
double twice_k(const Coil& s) { return s.k * 2; }
double force_of(const Coil& s) { return s.force(); }
struct Stiff : Coil {
  double d;
  explicit Stiff(double x) : d(x) {
    k = x;
    d = twice_k(*this) + plus_one() + force();
  }
  Stiff(double x, const Coil& other) : d(force_of(other) * x) {}
  double force() const override { return d * d; }
};
double constructed(double x, double y) {
  const Stiff a(x), b(y, a);
  return force_of(a) * force_of(b);
}
TEST(Places, ThatConstructorsHandOn) { EXPECT_GRADIENT(constructed, 1.3, 0.7); }

// A class that knows which one derives from it, and has virtual functions.
template <class Derived>
struct Cells {
  Cells() = default;
  Cells& operator=(const Cells& other) {
    for (int i = 0; i < 2; ++i) static_cast<Derived&>(*this)[i] = static_cast<const Derived&>(other)[i];
    return *this;
  }
  virtual ~Cells() = default;
  virtual int size() const { return 2; }
};
struct TwoCells final : Cells<TwoCells> {
  double cells[2] = {0, 1};
  TwoCells() = default;
  explicit TwoCells(const Cells<TwoCells>& other) { Cells<TwoCells>::operator=(other); }
  double& operator[](int i) { return cells[i]; }
  double operator[](int i) const { return cells[i]; }
};
double copied_cells(double x, double y) {
  TwoCells a;
  a[0] = x * y;
  const TwoCells b(a);
  return b[0] * x + b[1] * b.size();
}
TEST(Places, OfADerivedClassInItsConstructor) { EXPECT_GRADIENT(copied_cells, 1.3, 0.7); }

// Operators are virtual functions like others.
struct Force {
  virtual ~Force() = default;
  virtual double operator()(double r) const = 0;
  virtual double operator[](int i) const { return i; }
  virtual Force& operator+=(double v) = 0;
  double twice(double r) const { return (*this)(r) * 2; }
};
struct Spring : Force {
  double k;
  explicit Spring(double stiffness) : k(stiffness) {}
  double operator()(double r) const override { return k * r * r; }
  double operator[](int i) const override { return k * i; }
  Spring& operator+=(double v) override {
    k += v * k;
    return *this;
  }
};
struct Constant : Force {
  double c;
  explicit Constant(double force) : c(force) {}
  double operator()(double r) const override { return c + r; }
  Constant& operator+=(double v) override {
    c += v;
    return *this;
  }
};
double energy(Force& f, double r) {
  f += r;
  f += f[2];
  return f(r) + f.twice(r) * f[3];
}
double forces(double x, double y) {
  Spring s(x);
  Constant c(y);
  return energy(s, y) * energy(c, x);
}
TEST(Places, VirtualOperators) { EXPECT_GRADIENT(forces, 1.3, 0.7); }

}  // namespace
