#include "cladtorch/train/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double largest(const Vector& x) {
  double most = 0;  // NaN stays
  for (const double value : x) most = std::abs(value) <= most ? most : std::abs(value);
  return most;
}
/// a += factor b.
void add(Vector& a, double factor, const Vector& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}
Vector scaled(const Vector& x, double factor) {
  Vector y(x.size());
  add(y, factor, x);
  return y;
}

/// All elements of a list, converted.
Vector flat(const TensorList& list) {
  Vector all;
  all.reserve(static_cast<size_t>(list.numel()));
  detail::dispatch_floating("LBFGS", list.dtype(), [&]<class T>(T) {
    for (const NamedTensor& named : list) {
      const Tensor& tensor = named.tensor;
      all.insert(all.end(), tensor.data<T>(), tensor.data<T>() + tensor.numel());
    }
  });
  return all;
}

/// The least of the cubic that has these values and slopes at both ends, in [low, high].
double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double low,
                     double high) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2), square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double place = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
                                : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(place, low), high);
}

}  // namespace

LBFGS::LBFGS(TensorList parameters, LBFGSOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  require(parameters_.dtype() != DType::bfloat16,
          "LBFGS: expected parameters of float32 or float64, got bfloat16; train the float32 masters");
  require(options.max_iter > 0 && options.history_size > 0,
          "LBFGS: expected max_iter and history_size above 0, got ", options.max_iter, " and ",
          options.history_size);
}

Vector LBFGS::parameters_at() const { return flat(parameters_); }

void LBFGS::move_to(const Vector& x, double t, const Vector& d) {
  detail::dispatch_floating("LBFGS", parameters_.dtype(), [&]<class T>(T) {
    size_t at = 0;
    for (NamedTensor& named : parameters_) {
      T* const to = named.tensor.data<T>();
      for (int64_t i = 0; i < named.tensor.numel(); ++i, ++at) to[i] = static_cast<T>(x[at] + t * d[at]);
    }
  });
}

LBFGS::Point LBFGS::evaluate(TensorList& gradients, const std::function<double()>& closure) {
  gradients.mark_zero();
  ++evaluations_;
  Point point;
  point.loss = closure();
  point.gradient = flat(gradients);
  return point;
}

void LBFGS::remember(const Vector& gradient) {
  Change change{gradient, scaled(direction_, length_), 0};
  add(change.y, -1, last_gradient_);
  const double product = dot(change.y, change.s);
  if (!(product > 1e-10)) return;  // the curvature would not be positive
  change.ro = 1 / product;
  scale_ = product / dot(change.y, change.y);
  if (std::ssize(history_) == options_.history_size) history_.pop_front();
  history_.push_back(std::move(change));
}

/// The recursion in two loops of Nocedal and Wright, algorithm 7.4.
Vector LBFGS::direction(const Vector& gradient) const {
  Vector q = scaled(gradient, -1), factors(history_.size());
  for (size_t i = history_.size(); i-- > 0;) {
    factors[i] = dot(history_[i].s, q) * history_[i].ro;
    add(q, -factors[i], history_[i].y);
  }
  Vector d = scaled(q, scale_);
  for (size_t i = 0; i < history_.size(); ++i)
    add(d, factors[i] - dot(history_[i].y, d) * history_[i].ro, history_[i].s);
  return d;
}

LBFGS::Point LBFGS::search(const Vector& d, Point start, double t,
                           const std::function<Point(double)>& at) const {
  constexpr double decrease = 1e-4, curvature = 0.9;
  constexpr int most = 25;
  const double size = largest(d);
  const auto too_high = [&](const Point& p) { return p.loss > start.loss + decrease * p.t * start.slope; };
  const auto is_flat = [&](const Point& p) { return std::abs(p.slope) <= -curvature * start.slope; };

  // Goes on until an interval holds a point that satisfies both conditions.
  Point before = start, now = at(t), first, second;
  int tries = 0;
  for (;; ++tries) {
    if (tries == most) {
      first = start;
      second = now;
      break;
    }
    if (too_high(now) || (tries > 1 && now.loss >= before.loss)) {
      first = before;
      second = now;
      break;
    }
    if (is_flat(now)) return now;
    if (now.slope >= 0) {
      first = before;
      second = now;
      break;
    }
    const double next = cubic_minimum(before.t, before.loss, before.slope, now.t, now.loss, now.slope,
                                      now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = std::move(now);
    now = at(next);
  }

  // Makes the interval smaller.
  Point *low = &first, *high = &second;
  if (!(first.loss <= second.loss)) std::swap(low, high);
  bool stalled = false;
  for (; tries < most; ++tries) {
    if (std::abs(first.t - second.t) * size < options_.tolerance_change) break;
    const double least = std::min(first.t, second.t), end = std::max(first.t, second.t);
    double next =
        cubic_minimum(first.t, first.loss, first.slope, second.t, second.loss, second.slope, least, end);
    // Away from the ends, where the interval would hardly become smaller.
    const double margin = 0.1 * (end - least);
    if (std::min(end - next, next - least) < margin) {
      if (stalled || next >= end || next <= least) {
        next = std::abs(next - end) < std::abs(next - least) ? end - margin : least + margin;
        stalled = false;
      } else {
        stalled = true;
      }
    } else {
      stalled = false;
    }
    now = at(next);
    if (too_high(now) || now.loss >= low->loss) {
      *high = std::move(now);
      low = &first;
      high = &second;
      if (!(first.loss <= second.loss)) std::swap(low, high);
    } else {
      const bool done = is_flat(now);
      if (!done && now.slope * (high->t - low->t) >= 0) *high = std::move(*low);
      *low = std::move(now);
      if (done) break;
    }
  }
  return *low;
}

double LBFGS::step(TensorList& gradients, const std::function<double()>& closure) {
  require(gradients.size() == parameters_.size(), "LBFGS: ", parameters_.size(), " parameters, but ",
          gradients.size(), " gradients");
  for (size_t i = 0; i < gradients.size(); ++i)
    require(gradients[i].tensor.shape() == parameters_[i].tensor.shape() &&
                gradients[i].tensor.dtype() == parameters_[i].tensor.dtype(),
            "LBFGS: parameter '", parameters_[i].name, "' is ", parameters_[i].tensor.shape(), " ",
            parameters_[i].tensor.dtype(), ", its gradient ", gradients[i].tensor.shape(), " ",
            gradients[i].tensor.dtype());
  const int64_t before = evaluations_,
                most = options_.max_eval > 0 ? options_.max_eval : options_.max_iter * 5 / 4;
  Point now = evaluate(gradients, closure);
  const double first_loss = now.loss;
  require(std::isfinite(first_loss) && std::isfinite(dot(now.gradient, now.gradient)),
          "LBFGS: expected a finite loss and gradient where a step begins, got a loss of ", first_loss,
          "; restore earlier parameters and lower lr");
  if (largest(now.gradient) <= options_.tolerance_grad) return first_loss;
  for (int64_t i = 1; i <= options_.max_iter; ++i) {
    if (iterations_++ == 0) {
      direction_ = scaled(now.gradient, -1);
      length_ = std::min(1.0, 1 / std::accumulate(now.gradient.begin(), now.gradient.end(), 0.0,
                                                  [](double sum, double g) { return sum + std::abs(g); })) *
                options_.lr;
    } else {
      remember(now.gradient);
      direction_ = direction(now.gradient);
      length_ = options_.lr;
    }
    last_gradient_ = now.gradient;
    const double last_loss = now.loss;
    now.slope = dot(now.gradient, direction_);
    now.t = 0;
    if (now.slope > -options_.tolerance_change) break;

    const Vector x = parameters_at();
    if (options_.line_search_fn == LineSearch::strong_wolfe) {
      now = search(direction_, std::move(now), length_, [&](double t) {
        move_to(x, t, direction_);
        Point point = evaluate(gradients, closure);
        point.t = t;
        point.slope = dot(point.gradient, direction_);
        return point;
      });
      length_ = now.t;
      move_to(x, length_, direction_);
    } else {
      move_to(x, length_, direction_);
      if (i < options_.max_iter) now = evaluate(gradients, closure);
    }
    if (evaluations_ - before >= most || largest(now.gradient) <= options_.tolerance_grad ||
        largest(direction_) * std::abs(length_) <= options_.tolerance_change ||
        std::abs(now.loss - last_loss) < options_.tolerance_change)
      break;
  }
  return first_loss;
}

}  // namespace cladtorch
