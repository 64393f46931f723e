// With the labels l of a sequence and blanks around them, z = (b, l_1, b, l_2, ..., b), and x[t, c] the
// log-probability of class c at step t, the probability of all paths that have reached place s of z is
//
//     exp f[t, s] = exp x[t, z_s] (exp f[t - 1, s] + exp f[t - 1, s - 1] + exp f[t - 1, s - 2]),
//
// where s - 2 counts if z_s is a label that differs from z_(s - 2), and g[t, s] is the same from the end,
// without x[t, z_s]. The loss is -log of the sum of f at the last two places, and its derivative by x[t, c]
// is the sum of -exp(f[t, s] + g[t, s] + loss) over the places s of class c.
#include "cladtorch/ops/ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "tensor/dispatch.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most == never ? never : most + std::log1p(std::exp(std::min(a, b) - most));
}

struct Sequences {
  Tensor labels, steps, counts;  // dense int32
  std::vector<int64_t> first;    // where the labels of each sequence begin
  int64_t time, batch, classes, places, blank;

  Sequences(const Tensor& x, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
            int64_t blank);

  int64_t steps_of(int64_t n) const { return steps.data<int32_t>()[n]; }
  int64_t places_of(int64_t n) const { return 2 * counts.data<int32_t>()[n] + 1; }
  int64_t class_at(int64_t n, int64_t place) const {
    return place % 2 == 0 ? blank : labels.data<int32_t>()[first[static_cast<size_t>(n)] + place / 2];
  }
  /// Whether a path may come to the place from the one two before.
  bool skips_blank(int64_t n, int64_t place) const {
    return place >= 2 && place % 2 == 1 && class_at(n, place) != class_at(n, place - 2);
  }
};

Sequences::Sequences(const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, int64_t blank)
    : blank(blank) {
  require(x.defined() && x.dim() == 3, "ctc_loss: expected log-probabilities [T, N, C], got ",
          x.defined() ? x.shape() : Shape());
  detail::require_cpu("ctc_loss", x);
  time = x.size(0);
  batch = x.size(1);
  classes = x.size(2);
  require(blank >= 0 && blank < classes, "ctc_loss: the blank ", blank, " is outside the ", classes,
          " classes");
  const auto lengths = [&](const char* what, const Tensor& given) {
    require(given.defined() && given.shape() == Shape{batch}, "ctc_loss: expected ", what, " [", batch,
            "], got ", given.defined() ? given.shape() : Shape());
    return detail::as_int32("ctc_loss", what, given).contiguous();
  };
  steps = lengths("input_lengths", input_lengths);
  counts = lengths("target_lengths", target_lengths);
  require(targets.defined() && (targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == batch)),
          "ctc_loss: expected targets [", batch, ", S] or of one dimension, got ",
          targets.defined() ? targets.shape() : Shape());
  labels = detail::as_int32("ctc_loss", "targets", targets).contiguous();
  const bool padded = targets.dim() == 2;
  int64_t next = 0, longest = 0;
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t count = counts.data<int32_t>()[n];
    require(steps_of(n) >= 0 && steps_of(n) <= time, "ctc_loss: sequence ", n, " has ", steps_of(n),
            " steps, expected at most ", time);
    require(count >= 0 && count <= (padded ? targets.size(1) : targets.numel() - next), "ctc_loss: sequence ",
            n, " has ", count, " labels, which targets ", targets.shape(), " do not have");
    first.push_back(padded ? n * targets.size(1) : next);
    next += count;
    longest = std::max(longest, count);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = labels.data<int32_t>()[first.back() + i];
      require(label >= 0 && label < classes && label != blank, "ctc_loss: label ", label, " of sequence ", n,
              " is the blank or outside the ", classes, " classes");
    }
  }
  require(padded || next == targets.numel(), "ctc_loss: the target_lengths sum to ", next, ", but there are ",
          targets.numel(), " targets");
  places = 2 * longest + 1;
}

/// f and the losses.
template <class T>
CTCState run_forward(const Sequences& all, const T* x) {
  CTCState state{Tensor::empty({all.batch, all.time, all.places}, DType::float64),
                 Tensor::empty({all.batch}, DType::float64)};
  double *const tables = state.forward.data<double>(), *const losses = state.losses.data<double>();
  parallel_for(all.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t steps = all.steps_of(n), places = all.places_of(n);
      double* const f = tables + n * all.time * all.places;
      for (int64_t t = 0; t < steps; ++t) {
        double* const now = f + t * all.places;
        const double* const before = now - all.places;
        const T* const scores = x + (t * all.batch + n) * all.classes;
        for (int64_t s = 0; s < places; ++s) {
          double sum = t == 0 ? (s < 2 ? 0 : never) : before[s];
          if (t > 0 && s > 0) sum = log_sum(sum, before[s - 1]);
          if (t > 0 && all.skips_blank(n, s)) sum = log_sum(sum, before[s - 2]);
          now[s] = sum + static_cast<double>(scores[all.class_at(n, s)]);
        }
      }
      if (steps == 0) {
        losses[n] = places == 1 ? 0 : -never;
      } else {
        const double* const last = f + (steps - 1) * all.places;
        losses[n] = -(places == 1 ? last[0] : log_sum(last[places - 1], last[places - 2]));
      }
    }
  });
  return state;
}

/// The derivative of sequence n times `seed`, added to zeros.
template <class T>
void add_derivative(const Sequences& all, const T* x, const CTCState& state, int64_t n, double seed, T* d_x) {
  const int64_t steps = all.steps_of(n), places = all.places_of(n);
  const double* const f = state.forward.data<double>() + n * all.time * all.places;
  const double loss = state.losses.data<double>()[n];
  std::vector<double> g(static_cast<size_t>(places), never), later(g), sums(static_cast<size_t>(all.classes));
  for (int64_t s = std::max<int64_t>(places - 2, 0); s < places; ++s) g[static_cast<size_t>(s)] = 0;
  for (int64_t t = steps - 1; t >= 0; --t) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t s = 0; s < places; ++s)
      sums[static_cast<size_t>(all.class_at(n, s))] +=
          std::exp(f[t * all.places + s] + g[static_cast<size_t>(s)] + loss);
    const int64_t row = (t * all.batch + n) * all.classes;
    for (int64_t c = 0; c < all.classes; ++c)
      d_x[row + c] = static_cast<T>(-seed * sums[static_cast<size_t>(c)]);
    for (int64_t s = 0; s < places; ++s)
      later[static_cast<size_t>(s)] =
          g[static_cast<size_t>(s)] + static_cast<double>(x[row + all.class_at(n, s)]);
    for (int64_t s = 0; s < places; ++s) {
      double sum = later[static_cast<size_t>(s)];
      if (s + 1 < places) sum = log_sum(sum, later[static_cast<size_t>(s + 1)]);
      if (s + 2 < places && all.skips_blank(n, s + 2)) sum = log_sum(sum, later[static_cast<size_t>(s + 2)]);
      g[static_cast<size_t>(s)] = sum;
    }
  }
}

Tensor run(const Tensor& x, const Sequences& all, CTCState* state) {
  const detail::CpuCall call("ctc_loss", {{"log_probabilities", x}});
  const Tensor dense = x.contiguous();
  detail::dispatch_floating("ctc_loss", x.dtype(),
                            [&]<class T>(T) { *state = run_forward(all, dense.data<T>()); });
  Tensor y = state->losses.to(x.dtype());
  return call.finish(y.shares_storage_with(state->losses) ? y.clone() : y);
}

}  // namespace

Tensor detail::ctc_losses(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                          const Tensor& target_lengths, int64_t blank) {
  using ::clad::custom_derivatives::cladtorch::detail::ctc_losses_pullback;
  using ::clad::custom_derivatives::cladtorch::detail::ctc_losses_reverse_forw;
  CLADTORCH_RECORD_STATE(CTCState, ctc_losses, log_probabilities, targets, input_lengths, target_lengths,
                         blank);
  CTCState state;
  return run(log_probabilities, Sequences(log_probabilities, targets, input_lengths, target_lengths, blank),
             &state);
}

Tensor detail::label_counts(const Tensor& target_lengths, DType dtype) {
  Tensor counts = target_lengths.to(DType::int32).clone();
  for (int64_t i = 0; i < counts.numel(); ++i)
    counts.data<int32_t>()[i] = std::max(counts.data<int32_t>()[i], 1);
  return counts.to(dtype);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::require;

Tensor detail::ctc_losses_reverse_forw(const Tensor& log_probabilities, const Tensor& targets,
                                       const Tensor& input_lengths, const Tensor& target_lengths,
                                       int64_t blank, pullback_state<CTCState>& state) {
  const ::cladtorch::Sequences all(log_probabilities, targets, input_lengths, target_lengths, blank);
  return ::cladtorch::run(log_probabilities, all, &state.data);
}

void detail::ctc_losses_pullback(const Tensor& log_probabilities, const Tensor& targets,
                                 const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                                 Tensor d_y, Tensor* d_log_probabilities, Tensor*, Tensor*, Tensor*,
                                 pullback_state<CTCState>& state) {
  const Tensor& x = log_probabilities;
  Tensor* const d_x = ::cladtorch::wanted(d_log_probabilities, x);
  if (!d_x || !d_y.defined()) return;
  const ::cladtorch::Sequences all(x, targets, input_lengths, target_lengths, blank);
  const Tensor seeds = d_y.to(::cladtorch::DType::float64).contiguous(), dense = x.contiguous();
  Tensor contribution = ::cladtorch::zeros(x.shape(), x.dtype());
  for (int64_t n = 0; n < all.batch; ++n)
    require(seeds.data<double>()[n] == 0 || !std::isinf(state.data.losses.data<double>()[n]),
            "ctc_loss: sequence ", n, " of ", all.steps_of(n), " steps has an infinite loss for its ",
            all.places_of(n) / 2, " labels, which has no derivative; set zero_infinity to leave it out");
  ::cladtorch::detail::dispatch_floating("ctc_loss", x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = contribution.data<T>();
    ::cladtorch::parallel_for(all.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        if (seeds.data<double>()[n] != 0)
          ::cladtorch::add_derivative(all, from, state.data, n, seeds.data<double>()[n], to);
    });
  });
  d_x->accumulate(std::move(contribution));
}

}  // namespace clad::custom_derivatives::cladtorch
