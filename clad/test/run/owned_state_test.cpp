// Objects without derivatives that smart pointers own: those that keep one object are followed to it, what
// others own is kept where it is read.
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct N {
  int v;
  int w;
};
double step(double s, N& n) {
  s = s * n.v * s * 0.1;
  n.v++;
  return s * n.v;
}
struct Base {
  int k = 1;
  virtual void go() { k++; }
  virtual ~Base() = default;
};
struct Derived : Base {
  void go() override { k += 2; }
};

double scaled(double s, const N* n) { return s * n->v + n->w; }
double owned(double x, double y) {
  auto h = std::make_unique<N>();
  h->v = 2;
  h->w = 1;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s = scaled(s, h.get()) * s * 0.1 + y;
    h->v++;
    (*h).w--;
    N* p = h.get();
    p->v++;
    s += 0.1 * p->w * h->v * s;
    s = step(s, *h) * 0.1;
  }
  N* made = new N{2, 1};
  for (int k = 0; k < 2; ++k) {
    s = 0.1 * step(s, *made) + y;
    made->v += 2;
  }
  delete made;
  return s;
}
double shared(double x, double y) {
  const auto h = std::make_shared<N>(N{2, 1});
  auto g = h;
  double s = x;
  for (int k = 0; k < 3; ++k) {
    s = s * h->v * s * 0.1 + y;
    g->v++;
  }
  return s;
}
double by_members(double x, double y) {
  struct S {
    std::unique_ptr<N> p = std::make_unique<N>(N{2, 1});
    double z;
    void go() {
      p->v++;
      z *= p->v;
    }
    double mul(double s) const { return s * p->v * z; }
  };
  S h;
  h.z = x;
  std::vector<std::unique_ptr<N>> all;
  all.push_back(std::make_unique<N>(N{2, 1}));
  all.push_back(std::make_unique<N>(N{1, 1}));
  double s = y;
  for (int k = 0; k < 2; ++k) {
    s = 0.1 * h.mul(s) * s + y;
    h.go();
    s *= 0.1 * all[k]->v;
    all[0]->v++;
    all[1]->v += 2;
  }
  return s;
}
TEST(OwnedState, OfOwnersThatKeepTheirObjects) {
  EXPECT_DERIVATIVES(owned, 0.9, 0.7);
  EXPECT_DERIVATIVES(shared, 0.9, 0.7);
  EXPECT_DERIVATIVES(by_members, 0.9, 0.7);
}

// Owners of which it is known only at run time what they own: what is read behind them is kept.
struct Owned {
  int n;
};
struct Lazy {
  std::unique_ptr<std::vector<int>> made;
  const std::vector<int>& get() {
    if (!made) {
      made = std::make_unique<std::vector<int>>();
      for (int i = 0; i < 3; ++i) made->push_back(i + 1);
    }
    return *made;
  }
};
double reseated(double x, double y) {
  auto p = std::make_unique<Owned>(Owned{1}), q = std::make_unique<Owned>(Owned{2});
  Lazy lazy;
  double s = x;
  for (int i = 0; i < 3; ++i) {
    s = s * y * p->n + x;
    p->n++;
    std::swap(p, q);
    for (int k : lazy.get()) s += 0.1 * k * s;
    if (i == 1) p = std::make_unique<Owned>(Owned{i + 2});
  }
  return s * q->n;
}
double registered(double x, double y) {
  std::map<std::string, std::shared_ptr<Owned>> all;
  all["a"] = std::make_shared<Owned>(Owned{2});
  all["b"] = x > y ? std::make_shared<Owned>(Owned{3}) : nullptr;
  double s = x;
  for (auto& [name, p] : all) {
    s = s * y * p->n + p->n;
    p->n++;
  }
  return s * all.at("a")->n;
}
double of_any_class(double x, double y) {
  std::vector<std::unique_ptr<Base>> all;
  all.push_back(std::make_unique<Base>());
  all.push_back(std::make_unique<Derived>());
  Base a;
  Derived b;
  const Base* some = &a;
  double s = x;
  for (int i = 0; i < 4; ++i) {
    const auto& p = all[i % 2];
    s = std::sin(s * p->k) + y * some->k;
    p->go();
    b.go();
    if (i == 2) some = &b;
  }
  return s * all[1]->k;
}
// Passed on from an owner that is not followed: it is there for the reverse sweep.
double pulled(Base* b, double s) {
  s *= 0.3 * s * b->k;
  b->go();
  return s * b->k;
}
double weighed(const Base* b, double s) { return s * s * b->k; }
double told(const Base& b, double s) { return 0.1 * s * s * b.k; }
std::unique_ptr<Base> make(int i) {
  if (i) return std::make_unique<Derived>();
  return std::make_unique<Base>();
}
double handed_on(double x, double y) {
  std::unique_ptr<Base> own = std::make_unique<Derived>();
  std::vector<std::shared_ptr<Base>> all;
  all.push_back(std::make_shared<Derived>());
  double s = x;
  for (int k = 0; k < 2; ++k) {
    const auto made = make(k);
    s = 0.1 * weighed(made.get(), s) + 0.1 * weighed(all[0].get(), y);
    s = pulled(own.get(), s) + y;
  }
  return s;
}
double handed_on_and_changed(double x, double y) {
  const std::unique_ptr<Base> own = std::make_unique<Derived>();
  double s = x;
  for (int k = 0; k < 2; ++k) {
    s = told(*own, s) + y;
    own->go();
  }
  return s;
}
TEST(OwnedState, OfOwnersThatGetOthers) {
  EXPECT_DERIVATIVES(handed_on, 0.9, 0.7);
  EXPECT_DERIVATIVES(handed_on_and_changed, 0.9, 0.7);
  EXPECT_DERIVATIVES(reseated, 0.9, 0.7);
  EXPECT_DERIVATIVES(registered, 0.9, 0.7);
  EXPECT_DERIVATIVES(of_any_class, 0.9, 0.7);
}

// Owners that are handed over, and what holds them.
struct Config {
  int n;
};
struct Holder {
  std::unique_ptr<Config> config;
  void set(std::unique_ptr<Config> c) { config = std::move(c); }
};
Holder holder_of(int n) {
  Holder h;
  h.config = std::make_unique<Config>(Config{n});
  return h;
}
double handed_over(double x, double y) {
  Holder h = holder_of(2);
  double s = x * h.config->n;
  h.set(std::make_unique<Config>(Config{3}));
  s = s * y * h.config->n;
  Holder other = std::move(h);
  other.config->n++;
  return s * other.config->n;
}
struct Phase {
  virtual ~Phase() = default;
  virtual std::unique_ptr<Phase> next() const = 0;
  virtual int id() const = 0;
};
struct Rest : Phase {
  std::unique_ptr<Phase> next() const override;
  int id() const override { return 2; }
};
struct Work : Phase {
  std::unique_ptr<Phase> next() const override { return std::make_unique<Rest>(); }
  int id() const override { return 1; }
};
std::unique_ptr<Phase> Rest::next() const { return std::make_unique<Work>(); }
double follows_phases(double x, double y) {
  std::unique_ptr<Phase> p = std::make_unique<Work>();
  double s = x;
  for (int i = 0; i < 4; ++i) {
    s = s * y + p->id();
    p = p->next();
  }
  return s * p->id();
}
double draws(double x, double y) {
  const auto random = std::make_unique<std::mt19937>(42);
  std::uniform_real_distribution<double> uniform;
  double s = 0;
  for (int i = 0; i < 3; ++i) s = s * y + x * uniform(*random) + (*random)() / 4294967296.0;
  return s;
}
TEST(OwnedState, IsHandedOver) {
  EXPECT_DERIVATIVES(handed_over, 0.9, 0.7);
  EXPECT_DERIVATIVES(follows_phases, 0.9, 0.7);
  EXPECT_DERIVATIVES(draws, 0.9, 0.7);
}

}  // namespace
