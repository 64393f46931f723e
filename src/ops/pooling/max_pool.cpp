#include <limits>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/pooling.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/one_device.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"
#include "ops/pooling/windows.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

struct Pool {
  detail::PooledDimensions dimensions;
  Shape shape;  // of the result
};

Pool pool_of(const char* operation, int rank, const Tensor& x, const PerDimension& window,
             const PoolOptions& options) {
  Pool pool{detail::pooled_dimensions(operation, rank, x.shape(), window, options.stride, options.padding,
                                      options.dilation, options.ceil_mode),
            x.shape()};
  for (int i = 0; i < rank; ++i)
    pool.shape[x.dim() - rank + i] = pool.dimensions[static_cast<size_t>(2 - rank + i)].out;
  return pool;
}

/// The largest elements of one image and where they are.
template <class T>
void pool_plane(const detail::PooledDimension& high, const detail::PooledDimension& wide, const T* x, T* y,
                int32_t* places) {
  using C = detail::Computed<T>;
  const bool all_inside =
      wide.padding == 0 && (wide.out - 1) * wide.stride + (wide.window - 1) * wide.dilation < wide.in;
  for (int64_t row = 0; row < high.out; ++row) {
    const detail::PooledDimension::Range rows = high.range(row);
    if constexpr (std::is_same_v<T, float>) {
      if (all_inside) {
        const int64_t first = rows.begin * wide.in;
        simd::kernels().max_of_windows({.x = x + first,
                                        .windows = wide.out,
                                        .stride = wide.stride,
                                        .rows = (rows.end - rows.begin + high.dilation - 1) / high.dilation,
                                        .row_step = high.dilation * wide.in,
                                        .taps = wide.window,
                                        .tap_step = wide.dilation,
                                        .first = first},
                                       y, places);
        y += wide.out;
        places += wide.out;
        continue;
      }
    }
    for (int64_t column = 0; column < wide.out; ++column) {
      const detail::PooledDimension::Range columns = wide.range(column);
      C best = -std::numeric_limits<C>::infinity();
      int64_t place = rows.begin * wide.in + columns.begin;
      for (int64_t i = rows.begin; i < rows.end; i += high.dilation) {
        for (int64_t j = columns.begin; j < columns.end; j += wide.dilation) {
          const C value = static_cast<C>(x[i * wide.in + j]);
          if (value > best || value != value) {
            best = value;
            place = i * wide.in + j;
          }
        }
      }
      *y++ = static_cast<T>(best);
      *places++ = static_cast<int32_t>(place);
    }
  }
}

/// The result; the places are put into `state`.
Tensor max_pool(const char* operation, int rank, const Tensor& x, const PerDimension& window,
                const PoolOptions& options, MaxPoolState& state) {
  const Pool pool = pool_of(operation, rank, x, window, options);
  detail::require_cpu(operation, x);
  detail::count_op();
  Tensor y = Tensor::empty(pool.shape, x.dtype());
  y.set_frozen(x.is_frozen());
  state.places = Tensor::empty(pool.shape, DType::int32);
  state.places.set_frozen(x.is_frozen());
  state.shape = x.shape();
  state.rank = rank;
  const Tensor from = x.contiguous();
  const auto& [high, wide] = pool.dimensions;
  const int64_t in = high.in * wide.in, out = high.out * wide.out;
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    const T* const data = from.data<T>();
    T* const to = y.data<T>();
    auto* const places = state.places.data<int32_t>();
    parallel_for(detail::image_count(x.shape(), rank), (1 << 14) / (in + 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     pool_plane(high, wide, data + i * in, to + i * out, places + i * out);
                 });
  });
  return y;
}

/// *d_x += d_y at the places that were largest.
void pull_max_pool(const MaxPoolState& state, const Tensor& d_y, Tensor* d_x) {
  d_x = wanted(d_x, state.places);
  if (!d_y.defined() || !d_x) return;
  const Tensor from = d_y.contiguous();
  const int64_t in = detail::image_size(state.shape, state.rank),
                out = detail::image_size(state.places.shape(), state.rank);
  detail::dispatch_real("max_pool", d_y.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const data = from.data<T>();
    const auto* const places = std::as_const(state.places).data<int32_t>();
    detail::write_to<T>(accumulate_into(d_x, state.shape, d_y.dtype()), [&]<class Out>(Out* to, bool add) {
      parallel_for(
          detail::image_count(state.shape, state.rank), (1 << 14) / (in + 1) + 1,
          [&] { detail::thread_scratch<C>(in); },
          [&](int64_t begin, int64_t end) {
            C* const sums = detail::thread_scratch<C>(in);
            for (int64_t i = begin; i < end; ++i) {
              std::fill_n(sums, in, C(0));
              for (int64_t j = i * out; j < (i + 1) * out; ++j) sums[places[j]] += static_cast<C>(data[j]);
              detail::write_sums(in, sums, add, to + i * in);
            }
          });
    });
  });
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const PerDimension& window, const PoolOptions& options) {
  CLADTORCH_RECORD_STATE(MaxPoolState, max_pool1d, unread(x), window, options);
  MaxPoolState state;
  return max_pool("max_pool1d", 1, x, window, options, state);
}
Tensor max_pool2d(const Tensor& x, const PerDimension& window, const PoolOptions& options) {
  CLADTORCH_RECORD_STATE(MaxPoolState, max_pool2d, unread(x), window, options);
  MaxPoolState state;
  return max_pool("max_pool2d", 2, x, window, options, state);
}

Tensor tangents::of_max_pool(int rank, const Tensor& x, const PerDimension& window,
                             const PoolOptions& options, const Tensor& d_x) {
  MaxPoolState state;
  Tensor y = max_pool("max_pool", rank, x, window, options, state);
  const Tensor from = d_x.contiguous();
  const int64_t in = detail::image_size(x.shape(), rank), out = detail::image_size(y.shape(), rank);
  detail::dispatch_real("max_pool", x.dtype(), [&]<class T>(T) {
    const auto* const places = std::as_const(state.places).data<int32_t>();
    for (int64_t i = 0; i < y.numel(); ++i) y.data<T>()[i] = from.data<T>()[i / out * in + places[i]];
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {

Tensor max_pool1d_reverse_forw(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                               pullback_state<MaxPoolState>& state) {
  return ::cladtorch::max_pool("max_pool1d", 1, x, window, options, state.data);
}
Tensor max_pool2d_reverse_forw(const Tensor& x, const PerDimension& window, const PoolOptions& options,
                               pullback_state<MaxPoolState>& state) {
  return ::cladtorch::max_pool("max_pool2d", 2, x, window, options, state.data);
}
void max_pool1d_pullback(const Tensor&, const PerDimension&, const PoolOptions&, Tensor d_y, Tensor* d_x,
                         pullback_state<MaxPoolState>& state) {
  ::cladtorch::pull_max_pool(state.data, d_y, d_x);
}
void max_pool2d_pullback(const Tensor&, const PerDimension&, const PoolOptions&, Tensor d_y, Tensor* d_x,
                         pullback_state<MaxPoolState>& state) {
  ::cladtorch::pull_max_pool(state.data, d_y, d_x);
}

void tangents::of_max_pool_pullback(int rank, const Tensor& x, const PerDimension& window,
                                    const PoolOptions& options, const Tensor&, Tensor d_y, Tensor*,
                                    Tensor* d_of_d_x) {
  if (!d_y.defined() || !d_of_d_x) return;
  MaxPoolState state;
  ::cladtorch::max_pool("max_pool", rank, x, window, options, state);
  state.places.set_frozen(false);
  ::cladtorch::pull_max_pool(state, d_y, d_of_d_x);
}

}  // namespace clad::custom_derivatives::cladtorch
