// Global and static pointers that move while the function runs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

const int table[] = {3, 1, 4};
const int* reader;
int cells[4];
int* writer;
const char* text = "";

double steps(double x, double y) {
  reader = table;
  double s = x * *reader++;
  return s * y + x * *reader;
}
double steps_of_a_static(double x, double y) {
  static const int* p;
  p = table;
  double s = 0;
  for (int i = 0; i < 3; ++i) s = s * y + x * *p++;
  return s;
}
struct Cursor {
  static const int* at;
};
const int* Cursor::at;
double steps_of_a_member(double x, double y) {
  double s = 0;
  for (Cursor::at = table; Cursor::at != table + 3;) s = s * y + x * *Cursor::at++;
  return s;
}
TEST(GlobalPointers, Step) {
  EXPECT_GRADIENT(steps, 1.3, 0.7);
  EXPECT_GRADIENT(steps_of_a_static, 1.3, 0.7);
  EXPECT_GRADIENT(steps_of_a_member, 1.3, 0.7);
}

double written(double x, double y) {
  writer = cells;
  for (int i = 0; i < 4; ++i) *writer++ = i * i + 1;
  double s = 0;
  while (writer != cells) s = s * y + x * *--writer;
  return s + x * cells[2];
}
TEST(GlobalPointers, AreWrittenThrough) { EXPECT_GRADIENT(written, 1.3, 0.7); }

double number() {
  double v = 0;
  while (*text >= '0' && *text <= '9') v = v * 10 + (*text++ - '0');
  return v;
}
double parsed(double x, double y) {
  text = "12+34";
  double a = number() * x;
  ++text;
  return a * number() * y;
}
double letter(const double* v) { return v[*text++ - 'a']; }
double chosen_by_letters(double x, double y) {
  double v[2] = {x, y};
  text = "ab";
  return letter(v) * letter(v);
}
TEST(GlobalPointers, ParseText) {
  EXPECT_GRADIENT(parsed, 1.3, 0.7);
  EXPECT_GRADIENT(chosen_by_letters, 1.3, 0.7);
}

// Names for where they pointed.
double named(double x, double y) {
  reader = table;
  const int* p = reader;
  const int& r = reader[1];
  ++reader;
  double s = x * *p * y + r * x;
  reader = table + 2;
  return s * *p * r + *reader * y;
}
double named_in_a_loop(double x, double y) {
  reader = table;
  double s = x;
  const int* p = reader;
  for (int i = 0; i < 2; ++i) {
    p = reader;
    ++reader;
    s = s * y + *p * x;
  }
  return s;
}
double by_another_name(double x, double y) {
  writer = cells;
  cells[0] = 3;
  cells[1] = 5;
  int*& r = writer;
  double s = x * *r++;
  return s * y * *r;
}
double changed_by_a_name(double x, double y) {
  writer = cells;
  cells[0] = 3;
  cells[1] = 5;
  double s = x * cells[0];
  int& first = *writer;
  ++writer;
  first = 7;
  return s * first * y + cells[0] * x * *writer;
}
TEST(GlobalPointers, AreNamed) {
  EXPECT_GRADIENT(named, 1.3, 0.7);
  EXPECT_GRADIENT(named_in_a_loop, 1.3, 0.7);
  EXPECT_GRADIENT(by_another_name, 1.3, 0.7);
  EXPECT_GRADIENT(changed_by_a_name, 1.3, 0.7);
}

// Calls without derivatives.
void advance() { ++reader; }
double moved_by_calls(double x, double y) {
  reader = table;
  double s = x * *reader;
  advance();
  s = s * y * *reader;
  advance();
  return s * *reader;
}
void add() { *writer += 2; }
void add_to(int& cell) { cell += 2; }
void add_behind(int* cell) { *cell += 2; }
double changed_by_calls(double x, double y) {
  writer = cells;
  cells[0] = 3;
  double s = x * cells[0];
  add();
  s = s * y + x * *writer;
  add_to(*writer);
  s = s * y + x * *writer;
  add_behind(writer);
  return s * *writer + cells[0] * x;
}
double of_parameter(int* p, double x, double y) {
  double s = x * p[0];
  add_to(p[0]);
  return s * y * p[0];
}
double filled(int* p, int n, double x, double y) {
  double s = x * p[0];
  std::fill(p, p + n, 4);
  s = s * y * p[1];
  std::iota(p + 1, p + n, 2);
  s += x * p[2] * s;
  std::reverse(p, p + n);
  s = s * y + x * p[0];
  std::sort(p, p + n);
  return s * p[0] + y * p[1];
}
double filled_behind_a_parameter(double x, double y) {
  int a[3] = {3, 4, 5};
  std::vector<int> v{5, 6, 7};
  return filled(a, 3, x, y) * a[0] + filled(v.data(), 3, x, y) * v[0];
}
double changed_behind_a_parameter(double x, double y) {
  int a[2] = {3, 4};
  std::vector<int> v{5, 6};
  return of_parameter(a, x, y) * a[0] + of_parameter(v.data(), x, y) * v[0];
}
TEST(GlobalPointers, AreMovedAndUsedByCalls) {
  EXPECT_GRADIENT(moved_by_calls, 1.3, 0.7);
  EXPECT_GRADIENT(changed_by_calls, 1.3, 0.7);
  EXPECT_GRADIENT(changed_behind_a_parameter, 1.3, 0.7);
  EXPECT_GRADIENT(filled_behind_a_parameter, 1.3, 0.7);
}

struct Node {
  int v;
  const Node* next;
};
const Node third{3, nullptr}, second{2, &third}, first{5, &second};
const Node* current;
double walked(double x, double y) {
  current = &first;
  double s = x;
  while (current) {
    const Node* p = current;
    current = current->next;
    s = s * y + p->v * x;
  }
  for (current = &first; current;) {
    const Node& n = *current;
    current = current->next;
    s = s * y + n.v * x;
  }
  return s;
}
TEST(GlobalPointers, WalkLists) { EXPECT_GRADIENT(walked, 1.3, 0.7); }

}  // namespace
