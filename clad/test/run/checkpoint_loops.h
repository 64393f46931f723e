// Programs with loops to checkpoint: included twice, with and without CHECKPOINT.

double wave(double x, int n, int c) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, c);
    u = count(u) + 0.1 * std::sin(u * x) * i;
  }
  return u * u;
}

double keeps(double x, int n) {
  Counted u;
  u.x = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 5);
    u.x = u.x + 0.1 * std::sin(u.x * x);
  }
  return u.x * x;
}

double bytes(const std::vector<double>& start, int n) {
  std::vector<double> u = start;
  for (int t = 0; t < n; ++t) {
    CHECKPOINT(bytes, 4 * (sizeof(std::vector<double>) + 3 * sizeof(double) + sizeof(int)));
    for (double& v : u) v = std::sin(v) + u[0] * 0.1;
    u[1] = count(u[1]);
  }
  return u[0] * u[1] * u[2];
}

double newton(double a) {
  double x = a;
  while (std::fabs(x * x - a) > 1e-12) {
    CHECKPOINT(loop, 2);
    x = 0.5 * (x + a / x);
  }
  return x * x * x;
}
double breaks(double x, int n) {
  double u = x, last = 0;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3);
    if (i % 3 == 1) continue;
    last = u;
    u = u * u * 0.4 + x;
    if (u > 1.5) break;
    u += 0.01 * i;
  }
  return u * last;
}
double returns(double x, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3);
    double v = u * u;
    if (v > 2) return v * i;
    u += 0.3 * v;
  }
  return u;
}
double at_least_once(double x, int n) {
  int i = 0;
  do {
    CHECKPOINT(loop, 2);
    x = std::sin(x) * 1.1 + 0.1 * x;
  } while (++i < n);
  return x * i;
}
double forever(double x) {
  double u = x;
  int i = 0;
  for (;;) {
    CHECKPOINT(loop, 4);
    u = std::cos(u) * x;
    if (++i == 17) break;
  }
  return u;
}
double declared(double x, int n) {
  double u = x;
  while (int left = n) {
    CHECKPOINT(loop, 2);
    u = std::sin(u * left) + x;
    --n;
  }
  return u;
}

double weights(const std::vector<double>& w, double x) {
  for (const double& v : w) {
    CHECKPOINT(loop, 2);
    x = std::tanh(v * x) + 0.1 * x;
  }
  for (double v : w) {
    CHECKPOINT(loop);
    x = std::tanh(v * x) + 0.1 * x;
  }
  return x;
}
double changes_range(std::vector<double> w) {
  double s = 1;
  for (double& v : w) {
    CHECKPOINT(loop, 2);
    v *= s;
    s += std::sin(v);
  }
  return w[0] * w[1] * w[2] * s;
}
double counters(double x, int n) {
  double u = x;
  for (int i = n; i > 0; i -= 3) {
    CHECKPOINT(loop, 2);
    u += 0.1 * std::sin(u * i);
  }
  for (std::size_t i = 2; i <= static_cast<std::size_t>(n); i += 2) {
    CHECKPOINT(loop, 2);
    u += 0.1 * std::sin(u * i);
  }
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    if (i == 2) i += 2;
    u += 0.1 * std::sin(u * i);
  }
  int j = 0;
  for (; j < n; ++j) {
    CHECKPOINT(loop, 2);
    if (j == 3) n += 2;
    u += 0.1 * std::sin(u * j);
  }
  return u * j;
}

struct Particle {
  double x[2], v[2];
  std::array<double, 2> force;
  std::vector<double> path;
  int bounces = 0;
  template <class V>
  void reals(V&& visit) {
    for (double* p : {x, v})
      for (int i = 0; i < 2; ++i) visit(p[i]);
    for (double& f : force) visit(f);
    for (double& f : path) visit(f);
  }
  void move(double dt) {
    for (int i = 0; i < 2; ++i) {
      force[i] = -x[i] * x[1 - i] - 0.1 * path[0];
      v[i] += dt * force[i];
      x[i] += dt * v[i];
    }
    if (x[0] < 0) ++bounces, v[0] = -v[0];
    path[1] = x[0] * x[1];
  }
  double run(double dt, int n) {
    for (int i = 0; i < n; ++i) {
      CHECKPOINT(loop, 3);
      move(dt);
      path[0] += 0.01 * x[1] * v[0];
    }
    return x[0] * v[1] + path[0] * path[1] + bounces;
  }
};
double by_value(Particle p, double dt, int n) { return p.run(dt, n); }
double by_reference(Particle& p, double& dt, int n) {
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3);
    p.move(dt);
    dt *= 0.99 + 0.001 * p.x[0];
  }
  return p.x[0] * p.v[1] + p.path[1];
}

double arrays(const double (&start)[3], double k, int n) {
  double u[3] = {start[0], start[1], start[2]}, grid[2][2] = {{1, k}, {k, 2}};
  std::array<double, 2> a{k, 1};
  double t;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    t = u[0] * k;
    for (int j = 0; j < 3; ++j) u[j] = std::sin(u[j] + u[(j + 1) % 3] * t);
    grid[i % 2][1] += u[i % 3];
    a[i % 2] *= grid[1][1];
  }
  return u[0] + u[1] * u[2] + grid[0][1] * grid[1][1] + a[0] * a[1];
}
double three(double x, double y, double z, int n) {
  double u[3] = {x, y, z};
  return arrays(u, x * y, n);
}
double pointer(double* u, const double* w, int n, int size) {
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3, std::span(u, size));
    for (int j = 0; j < size; ++j) u[j] = std::sin(u[j] * w[j]) + u[(j + 1) % size];
  }
  double s = 0;
  for (int j = 0; j < size; ++j) s += u[j] * u[j];
  return s;
}
double two_pointers(double* u, double* v, int n) {
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(bytes, 100, std::span(u, 2), std::span<double>(v, 2));
    double* from = i % 2 ? u : v;
    for (int j = 0; j < 2; ++j) u[j] = std::sin(u[j]) + v[1 - j];
    v[0] = u[0] * v[1];
  }
  return u[0] * v[0] + u[1];
}
double heap(double x, int n) {
  std::unique_ptr<double[]> a = std::make_unique<double[]>(3);
  double* b = new double[2]{x, 1};
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    a[i % 3] += std::sin(b[0] + a[(i + 1) % 3]);
    b[i % 2] *= x;
    b[0] += a[0];
  }
  double result = a[0] * a[1] + a[2] * b[0] + b[1];
  delete[] b;
  return result;
}

double aliases(double x, int n) {
  std::vector<double> v{x, 1, 2};
  double& first = v[0];
  const double* p = v.data() + 1;
  double* q = &v[2];
  double y = x;
  double& z = y;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    first += std::sin(p[0] * p[1]);
    *q *= 0.9 + 0.1 * first;
    double& inner = v[i % 3];
    inner += z * 0.1;
    z += first * 0.01;
  }
  first *= 2;
  return v[0] * v[1] * v[2] + y * *p;
}
double same(double& a, double& b, int n) {
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    a += std::sin(b);
    b *= 0.9 * a;
  }
  return a * b;
}
double twice_the_same(double x, int n) {
  double y = x * x;
  return same(y, y, n) * y;
}
double overwritten(double x, int n) {
  double a = x, b = 2 * x;
  std::vector<double> v{x, a};
  a *= b;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    a = std::sin(a * b) + v[1];
    v[0] += a;
  }
  b = a * v[0];
  a = 3;
  v.push_back(b);
  n = 2;
  return b * v[2] * a + v[0];
}
double grows(double x, int n) {
  std::vector<double> v{x};
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    v.push_back(std::sin(v.back() * x) + v[v.size() / 2]);
    if (i % 4 == 3) v.pop_back();
  }
  double s = 0;
  for (double y : v) s += y * y;
  return s;
}

double inner_only(double x, int n, int m) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    double v = u * 0.5;
    for (int j = 0; j < m; ++j) {
      CHECKPOINT(loop, 2);
      v = std::sin(v * u + j) + x * 0.1;
    }
    u += v;
  }
  return u;
}
double both(double x, int n, int m) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3);
    double v = u * 0.5, w = 1;
    for (int j = 0; j < m; ++j) {
      CHECKPOINT(loop, 2);
      v = count(std::sin(v * u + j)) + x * 0.1;
      w *= v;
      if (v > 0.95) break;
    }
    u += v + 0.1 * w;
  }
  return u;
}
double conditional(double x, int n) {
  double u = x;
  if (x > 0.1) {
    for (int j = 0; j < n; ++j) {
      CHECKPOINT(loop, 2);
      u = std::sin(u * x + j);
      if (j % 2) u *= 1.1;
    }
  } else {
    u *= 2;
  }
  return u * u;
}

double layer(double w, double x) {
  double y = std::tanh(w * x);
  return y * y + x;
}
double calls(double x, double w, int n) {
  auto f = [&](double z) { return layer(w, z) * 0.5 + x; };
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    u = f(u) + clad::checkpoint(layer(u, w));
    w += 0.01 * u;
  }
  return u;
}
double checkpointed(double x, double w, int n) { return clad::checkpoint(calls(x, w, n)) * x; }
double recursive(double x, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    u = std::sin(u) + 0.3 * recursive(u * x, n - 2);
  }
  return u * u;
}

double noise(double x, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    u = std::sin(u) * draw() + x;
  }
  return u;
}

double quartic(double x, double y, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    u = u * u * 0.5 + y * std::sin(u);
  }
  return u * u * y;
}

double error_of(double x, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    u = u * u * 0.5 + std::sin(u);
  }
  return u;
}

double inactive(double x, int n) {
  int k = 1;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    k = k * 3 % 7;
  }
  double unused = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    unused *= x;
  }
  return x * x * k;
}

double incremented(double x, int n) {
  double u = x, s = 0;
  double& r = u;
  for (int i = 0; i < n; ++i, r *= 0.9 + 0.1 * s) {
    CHECKPOINT(loop, 2);
    s += std::sin(u);
  }
  return u * s;
}
double in_a_lambda(double x, double k, int n) {
  std::vector<double> v{x, k};
  auto run = [&](double y) {
    for (int i = 0; i < n; ++i) {
      CHECKPOINT(loop, 2);
      auto f = [&](double z) { return std::sin(z * v[i % 2]) + y; };
      v[0] += 0.1 * f(v[1]);
      v[1] = f(v[0]) * 0.5;
    }
    return v[0];
  };
  return run(x) * v[1] + run(k);
}
struct NoDefault {
  double a, b;
  NoDefault(double x) : a(x), b(x * x) {}
  NoDefault(const NoDefault&) = default;
  template <class V>
  void reals(V&& v) {
    v(a), v(b);
  }
};
NoDefault advance(const NoDefault& s, double k) {
  NoDefault r(s.a + k * s.b);
  r.b = s.b - k * std::sin(s.a);
  return r;
}
double without_default(double x, double k, int n) {
  NoDefault s(x);
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 3);
    s = advance(s, k);
  }
  return s.a * s.b;
}
double pairs(const std::vector<std::pair<double, double>>& v, double x) {
  for (const auto& [a, b] : v) {
    CHECKPOINT(loop, 2);
    x = std::sin(a * x) + b;
  }
  return x * x;
}
double walk(const double* p, int n, double x) {
  const double* q = p;
  while (q != p + n) {
    CHECKPOINT(loop, 2);
    x += std::sin(*q++ * x);
  }
  return x;
}
double swapped(double x, int n) {
  double a[3] = {x, 1, 2}, b[3] = {0, x, 1};
  double *now = a, *next = b;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    for (int j = 0; j < 3; ++j) next[j] = std::sin(now[j]) + now[(j + 1) % 3] * x;
    std::swap(now, next);
  }
  return now[0] * next[1] + a[2] * b[0];
}
double in_a_span(std::span<double> u, int n) {
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2, u);
    for (double& v : u) v = std::sin(v) + u[0] * 0.2;
  }
  return u[0] * u[1];
}
double spans(std::vector<double> v, int n) { return in_a_span(v, n) * v[2]; }
double switches(double x, int n) {
  double u = x;
  for (int i = 0; i < n; ++i) {
    CHECKPOINT(loop, 2);
    switch (i % 3) {
      case 0:
        u = std::sin(u);
        break;
      case 1:
        u *= x;
        [[fallthrough]];
      default:
        u += 0.3;
        if (u > 1.2) return u * x * i;
    }
  }
  return u;
}
