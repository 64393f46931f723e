// Batch, group and instance normalization are one operation: elements are normalized in sets of planes, where
// a plane is one channel of one image. Each is read twice by the forward pass and by the backward pass: once
// for sums, which are added in the order of the planes, and once for the result.
#include "cladtorch/ops/batch_norm.h"

#include <cmath>
#include <type_traits>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/one_device.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

using detail::Computed;

/// Which planes belong together.
struct Sets {
  int64_t batch, channels, places;
  int64_t groups = 0;  // of the channels of each image; 0: each channel, of all images

  int64_t planes() const { return batch * channels; }
  int64_t count() const { return groups ? batch * groups : channels; }
  int64_t size() const { return groups ? channels / groups * places : batch * places; }
  /// Of a plane.
  int64_t operator()(int64_t plane) const {
    return groups ? plane / channels * groups + plane % channels / (channels / groups) : plane % channels;
  }
  template <class Body>
  void for_each_plane(Body&& body) const {
    parallel_for(planes(), (1 << 14) / (places + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) body(plane);
    });
  }
};

Sets sets_of(const char* operation, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(x.defined(), operation, ": the tensor is undefined");
  detail::require_cpu(operation, x);
  require(x.dim() >= 2, operation, ": expected x [N, C, ...], got ", x.shape());
  const int64_t channels = x.size(1);
  for (const Tensor* one : {&weight, &bias})
    require(!one->defined() || (one->shape() == Shape{channels} && one->dtype() == x.dtype()), operation,
            ": expected weight and bias [", channels, "] of ", x.dtype(), ", got ", one->shape(), " of ",
            one->dtype());
  const int64_t planes = x.size(0) * channels;
  return {x.size(0), channels, planes ? x.numel() / planes : 0};
}

Sets groups_of(const char* operation, const Tensor& x, int64_t groups, const Tensor& weight,
               const Tensor& bias) {
  Sets sets = sets_of(operation, x, weight, bias);
  require(groups > 0 && sets.channels % groups == 0, operation, ": ", sets.channels,
          " channels cannot be divided into ", groups, " groups");
  sets.groups = groups;
  return sets;
}

/// The sum of f(0) to f(n - 1), in double after some hundred terms of C each, in 16 lanes.
template <class C, class F>
double sum_of(int64_t n, F f) {
  double total = 0;
  constexpr int64_t lanes = 16, block = 4096;
  for (int64_t first = 0; first < n; first += block) {
    const int64_t end = std::min(n, first + block);
    C sums[lanes] = {};
    int64_t i = first;
    for (; i + lanes <= end; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += f(i + lane);
    for (; i < end; ++i) sums[0] += f(i);
    for (const C sum : sums) total += static_cast<double>(sum);
  }
  return total;
}

/// Numbers of the calling thread for each plane and for each set, zero at first.
class Numbers {
 public:
  Numbers(const Sets& sets, int64_t of_planes, int64_t of_sets) {
    static thread_local detail::Scratch memory;
    const int64_t count = of_planes * sets.planes() + of_sets * sets.count();
    at_ = memory.get<double>(count);
    std::fill_n(at_, count, 0.0);
  }
  double* next(int64_t count) { return std::exchange(at_, at_ + count); }

 private:
  double* at_;
};

/// value(plane, first element) of each plane, summed over the planes of each set.
template <class Value>
void sum_planes(const Sets& sets, double* of_planes, double* of_sets, Value value) {
  sets.for_each_plane([&](int64_t plane) { of_planes[plane] = value(plane); });
  for (int64_t plane = 0; plane < sets.planes(); ++plane) of_sets[sets(plane)] += of_planes[plane];
}

template <class T>
double at(const Tensor& x, int64_t i, double otherwise) {
  return x.defined() ? static_cast<double>(static_cast<Computed<T>>(x.data<T>()[i])) : otherwise;
}

/// Statistics of the elements.
struct Statistics {
  double *mean, *variance;
};
template <class T>
Statistics statistics_of(const char* operation, const Sets& sets, const T* x) {
  using C = Computed<T>;
  require(sets.size() > 0 || sets.count() == 0, operation, ": there are no elements to normalize");
  Numbers numbers(sets, 1, 2);
  double* const planes = numbers.next(sets.planes());
  const Statistics s{numbers.next(sets.count()), numbers.next(sets.count())};
  const auto size = static_cast<double>(sets.size());
  sum_planes(sets, planes, s.mean, [&](int64_t plane) {
    const T* const from = x + plane * sets.places;
    return sum_of<C>(sets.places, [&](int64_t i) { return static_cast<C>(from[i]); });
  });
  for (int64_t i = 0; i < sets.count(); ++i) s.mean[i] /= size;
  sum_planes(sets, planes, s.variance, [&](int64_t plane) {
    const T* const from = x + plane * sets.places;
    const C mean = static_cast<C>(s.mean[sets(plane)]);
    return sum_of<C>(sets.places, [&](int64_t i) {
      const C difference = static_cast<C>(from[i]) - mean;
      return difference * difference;
    });
  });
  for (int64_t i = 0; i < sets.count(); ++i) s.variance[i] /= size;
  return s;
}

/// The result by the mean and rstd of each set.
Tensor normalized(const char* operation, const Sets& sets, const Tensor& x, const Tensor& weight,
                  const Tensor& bias, const ChannelNormState& state) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Tensor w = weight.contiguous(), b = bias.contiguous();
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    const C *const means = state.mean.data<C>(), *const rstd = state.rstd.data<C>();
    sets.for_each_plane([&](int64_t plane) {
      const int64_t channel = plane % sets.channels, set = sets(plane);
      const C mean = means[set], factor = rstd[set] * static_cast<C>(at<T>(w, channel, 1)),
              shift = static_cast<C>(at<T>(b, channel, 0));
      for (int64_t i = plane * sets.places; i < (plane + 1) * sets.places; ++i)
        to[i] = static_cast<T>((static_cast<C>(from[i]) - mean) * factor + shift);
    });
  });
  return y;
}

void store_statistics(const Sets& sets, const Statistics& s, double eps, DType dtype,
                      ChannelNormState& state) {
  state.mean = Tensor::empty({sets.count()}, detail::computed_in(dtype));
  state.rstd = Tensor::empty({sets.count()}, detail::computed_in(dtype));
  detail::dispatch_floating("norm", state.mean.dtype(), [&]<class C>(C) {
    for (int64_t i = 0; i < sets.count(); ++i) {
      state.mean.data<C>()[i] = static_cast<C>(s.mean[i]);
      state.rstd.data<C>()[i] = static_cast<C>(1 / std::sqrt(s.variance[i] + eps));
    }
  });
}

Tensor norm_of_groups(const char* operation, const Tensor& x, int64_t groups, const Tensor& weight,
                      const Tensor& bias, double eps, ChannelNormState& state) {
  const Sets sets = groups_of(operation, x, groups, weight, bias);
  detail::count_op();
  const Tensor dense = x.contiguous();
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    store_statistics(sets, statistics_of(operation, sets, dense.data<T>()), eps, x.dtype(), state);
  });
  Tensor y = normalized(operation, sets, dense, weight, bias, state);
  y.set_frozen(all_frozen(x, weight, bias));
  return y;
}

/// running = (1 - momentum) running + momentum * (mean, unbiased variance), through handles that share
/// storage.
void move_running(const Sets& sets, const Statistics& s, double momentum, Tensor mean, Tensor variance) {
  if (!mean.defined()) return;
  const auto size = static_cast<double>(sets.size());
  const double unbiased = size > 1 ? size / (size - 1) : 1;
  detail::dispatch_real("batch_norm", mean.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < sets.channels; ++i) {
      const auto move = [&](Tensor& running, double to) {
        const double from = at<T>(running, i, 0);
        running.data<T>()[i] = static_cast<T>(static_cast<Computed<T>>(from + momentum * (to - from)));
      };
      move(mean, s.mean[i]);
      move(variance, s.variance[i] * unbiased);
    }
  });
}

Tensor norm_of_batch(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps,
                     ChannelNormState& state) {
  const Sets sets = sets_of("batch_norm", x, weight, bias);
  require(running_mean.defined() == running_var.defined() && (training || running_mean.defined()),
          "batch_norm: expected a running mean and a running variance");
  for (const Tensor* one : {&running_mean, &running_var})
    require(!one->defined() || (one->shape() == Shape{sets.channels} && one->is_contiguous()),
            "batch_norm: expected dense running statistics [", sets.channels, "], got ", one->shape());
  require(!training || sets.size() != 1,
          "batch_norm: expected more than one value for each channel while training, got x ", x.shape());
  detail::count_op();
  const Tensor dense = x.contiguous();
  if (training) {
    const bool first = TrainingScope::is_first_run();
    detail::dispatch_real("batch_norm", x.dtype(), [&]<class T>(T) {
      const Statistics s = statistics_of("batch_norm", sets, dense.data<T>());
      store_statistics(sets, s, eps, x.dtype(), state);
      if (first) move_running(sets, s, momentum, running_mean, running_var);
    });
  } else {
    Numbers numbers(sets, 0, 2);
    const Statistics s{numbers.next(sets.count()), numbers.next(sets.count())};
    detail::dispatch_real("batch_norm", running_mean.dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < sets.channels; ++i) {
        s.mean[i] = at<T>(running_mean, i, 0);
        s.variance[i] = at<T>(running_var, i, 1);
      }
    });
    store_statistics(sets, s, eps, x.dtype(), state);
  }
  Tensor y = normalized("batch_norm", sets, dense, weight, bias, state);
  y.set_frozen(all_frozen(x, weight, bias) && (training || all_frozen(running_mean, running_var)));
  return y;
}

struct NormGradients {
  Tensor *x = nullptr, *weight = nullptr, *bias = nullptr, *mean = nullptr, *variance = nullptr;
  double* eps = nullptr;
};

/// *d [count] += value(i), a sum of many terms.
template <class T, class Value>
void contribute_each(Tensor* d, int64_t count, Value value) {
  if (!d) return;
  detail::contribute_sum<T>(d, Shape{count}, [&](auto target) {
    using Out = std::remove_reference_t<decltype(*target.data)>;
    for (int64_t i = 0; i < count; ++i)
      target.data[i] = static_cast<Out>((target.add ? static_cast<double>(target.data[i]) : 0) + value(i));
  });
}

/// `fixed`: the statistics are not those of x.
void pull_norm(const Sets& sets, bool fixed, const Tensor& x, const Tensor& weight, const Tensor& d_y,
               const ChannelNormState& state, const NormGradients& d) {
  const Tensor dense = x.contiguous(), seed = d_y.contiguous(), w = weight.contiguous();
  detail::dispatch_real("norm", x.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const T *const from = dense.data<T>(), *const d_out = seed.data<T>();
    const C *const means = state.mean.data<C>(), *const rstd = state.rstd.data<C>();
    // Of d_y, and of d_y (x - mean): by plane, by set with the channel's weight, by channel.
    Numbers numbers(sets, 2, 2);
    double *const sums = numbers.next(sets.planes()), *const products = numbers.next(sets.planes());
    double *const sums_of = numbers.next(sets.count()), *const products_of = numbers.next(sets.count());
    sets.for_each_plane([&](int64_t plane) {
      const T *const a = d_out + plane * sets.places, *const b = from + plane * sets.places;
      const C mean = means[sets(plane)];
      sums[plane] = sum_of<C>(sets.places, [&](int64_t i) { return static_cast<C>(a[i]); });
      products[plane] = sum_of<C>(
          sets.places, [&](int64_t i) { return static_cast<C>(a[i]) * (static_cast<C>(b[i]) - mean); });
    });
    const auto weight_of = [&](int64_t plane) { return at<T>(w, plane % sets.channels, 1); };
    for (int64_t plane = 0; plane < sets.planes(); ++plane) {
      sums_of[sets(plane)] += weight_of(plane) * sums[plane];
      products_of[sets(plane)] += weight_of(plane) * products[plane];
    }
    const auto of_channel = [&](const auto& value) {
      return [&sets, value](int64_t channel) {
        double sum = 0;
        for (int64_t plane = channel; plane < sets.planes(); plane += sets.channels) sum += value(plane);
        return sum;
      };
    };
    contribute_each<T>(d.bias, sets.channels, of_channel([&](int64_t plane) { return sums[plane]; }));
    contribute_each<T>(d.weight, sets.channels, of_channel([&](int64_t plane) {
                         return products[plane] * static_cast<double>(rstd[sets(plane)]);
                       }));
    const auto cubed = [&](int64_t set) { return std::pow(static_cast<double>(rstd[set]), 3); };
    contribute_each<T>(d.mean, sets.count(),
                       [&](int64_t set) { return -static_cast<double>(rstd[set]) * sums_of[set]; });
    contribute_each<T>(d.variance, sets.count(),
                       [&](int64_t set) { return -0.5 * cubed(set) * products_of[set]; });
    if (d.eps)
      for (int64_t set = 0; set < sets.count(); ++set) *d.eps -= 0.5 * cubed(set) * products_of[set];
    if (!d.x) return;

    const double share = fixed || sets.size() == 0 ? 0 : 1 / static_cast<double>(sets.size());
    detail::write_to<T>(accumulate_into(d.x, x.shape(), x.dtype()), [&]<class Out>(Out* to, bool add) {
      sets.for_each_plane([&](int64_t plane) {
        const int64_t set = sets(plane);
        const C mean = means[set], of_d_y = rstd[set] * static_cast<C>(weight_of(plane)),
                of_x = static_cast<C>(-cubed(set) * products_of[set] * share),
                constant = static_cast<C>(-static_cast<double>(rstd[set]) * sums_of[set] * share);
        const auto gradient = [&](int64_t i) {
          return of_d_y * static_cast<C>(d_out[i]) + (of_x * (static_cast<C>(from[i]) - mean) + constant);
        };
        const int64_t begin = plane * sets.places, end = begin + sets.places;
        if (add) {
          for (int64_t i = begin; i < end; ++i) to[i] = static_cast<Out>(static_cast<C>(to[i]) + gradient(i));
        } else {
          for (int64_t i = begin; i < end; ++i) to[i] = static_cast<Out>(gradient(i));
        }
      });
    });
  });
}

/// Of an affine part that is there.
Tensor* of_affine(Tensor* d, const Tensor& parameter) {
  return parameter.defined() ? wanted(d, parameter) : nullptr;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  CLADTORCH_RECORD_STATE(ChannelNormState, batch_norm, x, running_mean, running_var, weight, bias, training,
                         momentum, eps);
  ChannelNormState state;
  return norm_of_batch(x, running_mean, running_var, weight, bias, training, momentum, eps, state);
}
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  CLADTORCH_RECORD_STATE(ChannelNormState, group_norm, x, groups, weight, bias, eps);
  ChannelNormState state;
  return norm_of_groups("group_norm", x, groups, weight, bias, eps, state);
}
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  CLADTORCH_RECORD_STATE(ChannelNormState, instance_norm, x, weight, bias, eps);
  ChannelNormState state;
  return norm_of_groups("instance_norm", x, x.dim() >= 2 ? x.size(1) : 1, weight, bias, eps, state);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace ops = ::cladtorch;

Tensor batch_norm_reverse_forw(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                               const Tensor& weight, const Tensor& bias, bool training, double momentum,
                               double eps, pullback_state<ChannelNormState>& state) {
  return ops::norm_of_batch(x, running_mean, running_var, weight, bias, training, momentum, eps, state.data);
}
Tensor group_norm_reverse_forw(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                               double eps, pullback_state<ChannelNormState>& state) {
  return ops::norm_of_groups("group_norm", x, groups, weight, bias, eps, state.data);
}
Tensor instance_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                                  pullback_state<ChannelNormState>& state) {
  return ops::norm_of_groups("instance_norm", x, x.dim() >= 2 ? x.size(1) : 1, weight, bias, eps, state.data);
}

void batch_norm_pullback(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                         const Tensor& weight, const Tensor& bias, bool training, double, double, Tensor d_y,
                         Tensor* d_x, Tensor* d_running_mean, Tensor* d_running_var, Tensor* d_weight,
                         Tensor* d_bias, double*, double* d_eps, pullback_state<ChannelNormState>& state) {
  ops::NormGradients d{ops::wanted(d_x, x),
                       ops::of_affine(d_weight, weight),
                       ops::of_affine(d_bias, bias),
                       nullptr,
                       nullptr,
                       d_eps};
  if (!training) {
    d.mean = ops::of_affine(d_running_mean, running_mean);
    d.variance = ops::of_affine(d_running_var, running_var);
  }
  ops::detail::refuse_lost(
      "batch_norm", d_eps, d_y,
      ops::all_frozen(x, weight, bias) && (training || ops::all_frozen(running_mean, running_var)));
  if (d_y.defined())
    ops::pull_norm(ops::sets_of("batch_norm", x, weight, bias), !training, x, weight, d_y, state.data, d);
}
void group_norm_pullback(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double,
                         Tensor d_y, Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_eps,
                         pullback_state<ChannelNormState>& state) {
  const ops::NormGradients d{ops::wanted(d_x, x),
                             ops::of_affine(d_weight, weight),
                             ops::of_affine(d_bias, bias),
                             nullptr,
                             nullptr,
                             d_eps};
  ops::detail::refuse_lost("group_norm", d_eps, d_y, ops::all_frozen(x, weight, bias));
  if (d_y.defined())
    ops::pull_norm(ops::groups_of("group_norm", x, groups, weight, bias), false, x, weight, d_y, state.data,
                   d);
}
void instance_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor d_y,
                            Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_eps,
                            pullback_state<ChannelNormState>& state) {
  group_norm_pullback(x, x.dim() >= 2 ? x.size(1) : 1, weight, bias, eps, std::move(d_y), d_x, d_weight,
                      d_bias, d_eps, state);
}

}  // namespace clad::custom_derivatives::cladtorch
