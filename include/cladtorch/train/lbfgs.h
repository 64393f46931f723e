// The L-BFGS optimizer, for losses that are the same function each time: fits, not mini-batches.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "cladtorch/train/tensor_list.h"

namespace cladtorch {

enum class LineSearch {
  none,          ///< steps of the length `lr`
  strong_wolfe,  ///< of a length that satisfies the strong conditions of Wolfe
};

struct LBFGSOptions {
  double lr = 1;
  int64_t max_iter = 20;           ///< directions of one step()
  int64_t max_eval = 0;            ///< evaluations of one step() after which it ends; 0: max_iter * 5 / 4
  double tolerance_grad = 1e-7;    ///< ends where no element of the gradient is larger
  double tolerance_change = 1e-9;  ///< or where neither a parameter nor the loss changes by more
  int64_t history_size = 100;      ///< pairs of vectors as long as all parameters that are kept, in double
  LineSearch line_search_fn = LineSearch::none;
};

/// Minimizes a loss along directions that the last changes of the gradient make of it. As in PyTorch, one
/// step() evaluates the loss many times, through a function that returns the loss and adds its gradient:
///
///     LBFGS optimizer(model, {.line_search_fn = LineSearch::strong_wolfe});
///     optimizer.step(gradient, [&] { return loss_and_gradient(model, x, y, &gradient); });
///
/// Parameters are float32 or float64 on the CPU; the optimizer itself computes in double. Source: Liu and
/// Nocedal, "On the limited memory BFGS method for large scale optimization", 1989, and Nocedal and Wright,
/// "Numerical optimization", 2006, section 3.5, in the form of torch.optim.LBFGS.
class LBFGS {
 public:
  /// Updates the storage behind `parameters` from now on. Throws Error for bfloat16.
  LBFGS(TensorList parameters, LBFGSOptions options = {});
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  explicit LBFGS(Model& model, LBFGSOptions options = {}) : LBFGS(TensorList(model), options) {}

  /// Some directions from where the parameters are. Returns the loss there, before the first of them. The
  /// gradients are zero for each evaluation, and stay those of the last one. Throws Error if they do not
  /// match the parameters.
  double step(TensorList& gradients, const std::function<double()>& closure);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  double step(Model& gradient, const std::function<double()>& closure) {
    TensorList list(gradient);
    return step(list, closure);
  }

  double lr() const { return options_.lr; }
  void set_lr(double lr) { options_.lr = lr; }
  /// How often the loss was evaluated so far.
  int64_t evaluations() const { return evaluations_; }

 private:
  using Vector = std::vector<double>;
  struct Change {
    Vector y, s;  // of the gradient, and of the parameters
    double ro;    // 1 / y . s
  };
  struct Point {
    double t = 0, loss = 0, slope = 0;
    Vector gradient;
  };

  Vector parameters_at() const;
  /// Moves the parameters to x + t d.
  void move_to(const Vector& x, double t, const Vector& d);
  Point evaluate(TensorList& gradients, const std::function<double()>& closure);
  void remember(const Vector& gradient);
  Vector direction(const Vector& gradient) const;
  /// The point at which a line search along d ends.
  Point search(const Vector& d, Point start, double t, const std::function<Point(double)>& at) const;

  TensorList parameters_;
  LBFGSOptions options_;
  std::deque<Change> history_;
  Vector direction_, last_gradient_;
  double length_ = 0, scale_ = 1;
  int64_t iterations_ = 0, evaluations_ = 0;
};

}  // namespace cladtorch
