// Poolings and resizings that are linear, as one map along the rows of an image and one along its columns:
// result o is the sum of some elements, each times a weight.
#include "ops/pooling/windows.h"

#include <vector>

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/one_device.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"
#include "tensor/dispatch.h"

namespace cladtorch {

void detail::check_image(const char* operation, int rank, const Shape& x) {
  require(x.rank() == rank + 1 || x.rank() == rank + 2, operation, ": expected rank ", rank + 2, " or ",
          rank + 1, ", got shape ", x);
}

int64_t detail::image_size(const Shape& shape, int rank) {
  int64_t size = 1;
  for (int i = shape.rank() - rank; i < shape.rank(); ++i) size *= shape[i];
  return size;
}
int64_t detail::image_count(const Shape& shape, int rank) {
  int64_t count = 1;
  for (int i = 0; i < shape.rank() - rank; ++i) count *= shape[i];
  return count;
}

detail::PooledDimensions detail::pooled_dimensions(const char* operation, int rank, const Shape& x,
                                                   const PerDimension& window, const PerDimension& stride,
                                                   const PerDimension& padding, const PerDimension& dilation,
                                                   bool ceil_mode) {
  check_image(operation, rank, x);
  PooledDimensions dimensions;
  for (int i = 0; i < rank; ++i) {
    for (const PerDimension* numbers : {&window, &stride, &padding, &dilation})
      require(numbers->count() == 1 || numbers->count() == rank, operation, ": expected one number or ", rank,
              ", got ", numbers->count());
    PooledDimension& d = dimensions[static_cast<size_t>(2 - rank + i)];
    d.in = x[x.rank() - rank + i];
    d.window = window[i];
    d.stride = stride[i] == 0 ? d.window : stride[i];
    d.padding = padding[i];
    d.dilation = dilation[i];
    require(d.window > 0 && d.stride > 0 && d.dilation > 0, operation,
            ": expected a window, a stride and a dilation above 0, got ", d.window, ", ", d.stride, " and ",
            d.dilation);
    require(d.padding >= 0 && 2 * d.padding <= d.window, operation,
            ": expected padding of at most half the window of ", d.window, ", got ", d.padding);
    const int64_t rest = d.in + 2 * d.padding - d.dilation * (d.window - 1) - 1;
    require(d.in > 0 && rest >= 0, operation, ": a window of ", d.dilation * (d.window - 1) + 1,
            " does not fit into ", d.in, " elements with padding ", d.padding, ": x is ", x);
    d.out = rest / d.stride + 1;
    // A window begins inside, or in the padding before.
    if (ceil_mode && rest % d.stride != 0 && d.out * d.stride < d.in + d.padding) ++d.out;
  }
  return dimensions;
}

namespace {

/// Result o is the sum of weight[i] x[element[i]] for begin[o] <= i < begin[o + 1].
struct LinearMap {
  std::vector<int64_t> begin, element;
  std::vector<double> weight;
  int64_t in = 1;

  int64_t out() const { return static_cast<int64_t>(begin.size()) - 1; }
  void reset(int64_t extent) {
    in = extent;
    begin.assign(1, 0);
    element.clear();
    weight.clear();
  }
  void add(int64_t i, double w) {
    element.push_back(i);
    weight.push_back(w);
  }
  void end_result() { begin.push_back(static_cast<int64_t>(element.size())); }
  void set_identity() {
    reset(1);
    add(0, 1);
    end_result();
  }
};

/// Of the last dimensions of an image, height and width.
struct LinearMaps {
  LinearMap high, wide;
  LinearMap& operator[](int i) { return i == 0 ? high : wide; }
};
/// Kept by each thread, so that steps do not allocate.
LinearMaps& maps_of_thread(int rank) {
  thread_local LinearMaps maps;
  if (rank == 1) maps.high.set_identity();
  return maps;
}

LinearMaps& averages(const char* operation, int rank, const Shape& x, const PerDimension& window,
                     const AvgPoolOptions& options) {
  const detail::PooledDimensions dimensions = detail::pooled_dimensions(
      operation, rank, x, window, options.stride, options.padding, 1, options.ceil_mode);
  LinearMaps& maps = maps_of_thread(rank);
  for (int i = 2 - rank; i < 2; ++i) {
    const detail::PooledDimension& d = dimensions[static_cast<size_t>(i)];
    maps[i].reset(d.in);
    for (int64_t o = 0; o < d.out; ++o) {
      const auto [begin, end] = d.range(o);
      const int64_t first = o * d.stride - d.padding;
      const int64_t count =
          options.count_include_pad ? std::min(first + d.window, d.in + d.padding) - first : end - begin;
      for (int64_t k = begin; k < end; ++k) maps[i].add(k, 1 / static_cast<double>(count));
      maps[i].end_result();
    }
  }
  return maps;
}

void check_size(const char* operation, int rank, const Shape& x, const PerDimension& size) {
  detail::check_image(operation, rank, x);
  require(size.count() == 1 || size.count() == rank, operation, ": expected one size or ", rank, ", got ",
          size.count());
  for (int i = 0; i < rank; ++i)
    require(size[i] > 0 && x[x.rank() - rank + i] > 0, operation, ": cannot make ", size[i], " places of x ",
            x);
}

LinearMaps& adaptive_averages(const char* operation, int rank, const Shape& x, const PerDimension& size) {
  check_size(operation, rank, x, size);
  LinearMaps& maps = maps_of_thread(rank);
  for (int i = 0; i < rank; ++i) {
    LinearMap& map = maps[2 - rank + i];
    const int64_t in = x[x.rank() - rank + i], out = size[i];
    map.reset(in);
    for (int64_t o = 0; o < out; ++o) {
      const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
      for (int64_t k = begin; k < end; ++k) map.add(k, 1 / static_cast<double>(end - begin));
      map.end_result();
    }
  }
  return maps;
}

LinearMaps& resizing(int rank, const Shape& x, const PerDimension& size, Interpolation mode,
                     bool align_corners) {
  check_size("interpolate", rank, x, size);
  require(!align_corners || mode == Interpolation::bilinear,
          "interpolate: align_corners belongs to Interpolation::bilinear");
  LinearMaps& maps = maps_of_thread(rank);
  for (int i = 0; i < rank; ++i) {
    LinearMap& map = maps[2 - rank + i];
    const int64_t in = x[x.rank() - rank + i], out = size[i];
    map.reset(in);
    for (int64_t o = 0; o < out; ++o) {
      if (mode == Interpolation::nearest) {
        map.add(o * in / out, 1);
      } else {
        const double distance = !align_corners ? static_cast<double>(in) / static_cast<double>(out)
                                : out > 1      ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                                               : 0;
        const double at = align_corners ? static_cast<double>(o) * distance
                                        : std::max(0.0, (static_cast<double>(o) + 0.5) * distance - 0.5);
        const int64_t low = std::min(static_cast<int64_t>(at), in - 1), high = std::min(low + 1, in - 1);
        const double part = at - static_cast<double>(low);
        map.add(low, 1 - part);
        map.add(high, part);
      }
      map.end_result();
    }
  }
  return maps;
}

/// Along the rows, so that whole rows are added, and then along the columns.
template <class T>
void apply(const LinearMaps& maps, const T* x, T* y, detail::Computed<T>* row) {
  using C = detail::Computed<T>;
  const auto& [high, wide] = maps;
  for (int64_t o = 0; o < high.out(); ++o) {
    std::fill_n(row, wide.in, C(0));
    for (int64_t i = high.begin[static_cast<size_t>(o)]; i < high.begin[static_cast<size_t>(o) + 1]; ++i) {
      const C weight = static_cast<C>(high.weight[static_cast<size_t>(i)]);
      const T* const from = x + high.element[static_cast<size_t>(i)] * wide.in;
      for (int64_t j = 0; j < wide.in; ++j) row[j] += weight * static_cast<C>(from[j]);
    }
    for (int64_t p = 0; p < wide.out(); ++p) {
      C sum = 0;
      for (auto i = static_cast<size_t>(wide.begin[static_cast<size_t>(p)]);
           i < static_cast<size_t>(wide.begin[static_cast<size_t>(p) + 1]); ++i)
        sum += static_cast<C>(wide.weight[i]) * row[wide.element[i]];
      *y++ = static_cast<T>(sum);
    }
  }
}

/// The transpose: adds to `sums`, an image of x.
template <class T>
void apply_transposed(const LinearMaps& maps, const T* d_y, detail::Computed<T>* sums,
                      detail::Computed<T>* row) {
  using C = detail::Computed<T>;
  const auto& [high, wide] = maps;
  for (int64_t o = 0; o < high.out(); ++o) {
    std::fill_n(row, wide.in, C(0));
    for (int64_t p = 0; p < wide.out(); ++p, ++d_y)
      for (auto i = static_cast<size_t>(wide.begin[static_cast<size_t>(p)]);
           i < static_cast<size_t>(wide.begin[static_cast<size_t>(p) + 1]); ++i)
        row[wide.element[i]] += static_cast<C>(wide.weight[i]) * static_cast<C>(*d_y);
    for (auto i = static_cast<size_t>(high.begin[static_cast<size_t>(o)]);
         i < static_cast<size_t>(high.begin[static_cast<size_t>(o) + 1]); ++i) {
      const C weight = static_cast<C>(high.weight[i]);
      C* const to = sums + high.element[i] * wide.in;
      for (int64_t j = 0; j < wide.in; ++j) to[j] += weight * row[j];
    }
  }
}

Tensor mapped(const char* operation, int rank, const Tensor& x, const LinearMaps& maps) {
  detail::require_cpu(operation, x);
  detail::count_op();
  Shape shape = x.shape();
  shape[x.dim() - 1] = maps.wide.out();
  if (rank == 2) shape[x.dim() - 2] = maps.high.out();
  Tensor y = Tensor::empty(shape, x.dtype());
  y.set_frozen(x.is_frozen());
  const Tensor from = x.contiguous();
  const int64_t in = detail::image_size(x.shape(), rank), out = detail::image_size(shape, rank);
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const data = from.data<T>();
    T* const to = y.data<T>();
    parallel_for(
        detail::image_count(shape, rank), (1 << 14) / (in + out) + 1,
        [&] { detail::thread_scratch<C>(maps.wide.in); },
        [&](int64_t begin, int64_t end) {
          C* const row = detail::thread_scratch<C>(maps.wide.in);
          for (int64_t i = begin; i < end; ++i) apply(maps, data + i * in, to + i * out, row);
        });
  });
  return y;
}

void pull(const char* operation, int rank, const Shape& shape, const LinearMaps& maps, const Tensor& d_y,
          Tensor* d_x) {
  const Tensor from = d_y.contiguous();
  const int64_t in = detail::image_size(shape, rank), out = detail::image_size(d_y.shape(), rank);
  detail::dispatch_real(operation, d_y.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const data = from.data<T>();
    detail::write_to<T>(accumulate_into(d_x, shape, d_y.dtype()), [&]<class Out>(Out* to, bool add) {
      const auto memory = [&] { return detail::thread_scratch<C>(in + maps.wide.in); };
      parallel_for(
          detail::image_count(shape, rank), (1 << 14) / (in + out) + 1, [&] { memory(); },
          [&](int64_t begin, int64_t end) {
            C* const sums = memory();
            for (int64_t i = begin; i < end; ++i) {
              std::fill_n(sums, in, C(0));
              apply_transposed(maps, data + i * out, sums, sums + in);
              detail::write_sums(in, sums, add, to + i * in);
            }
          });
    });
  });
}

Tensor kept(const Tensor& x, ShapeState& state) {
  state = {x.shape(), x.dtype(), x.device()};
  return x;
}

int spatial_rank(const Shape& x) {
  require(x.rank() == 3 || x.rank() == 4, "interpolate: expected x [N, C, L] or [N, C, H, W], got ", x);
  return x.rank() - 2;
}

}  // namespace

Tensor avg_pool1d(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options) {
  CLADTORCH_RECORD_STATE(ShapeState, avg_pool1d, unread(x), window, options);
  return mapped("avg_pool1d", 1, x, averages("avg_pool1d", 1, x.shape(), window, options));
}
Tensor avg_pool2d(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options) {
  CLADTORCH_RECORD_STATE(ShapeState, avg_pool2d, unread(x), window, options);
  return mapped("avg_pool2d", 2, x, averages("avg_pool2d", 2, x.shape(), window, options));
}
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDimension& size) {
  CLADTORCH_RECORD_STATE(ShapeState, adaptive_avg_pool1d, unread(x), size);
  return mapped("adaptive_avg_pool1d", 1, x, adaptive_averages("adaptive_avg_pool1d", 1, x.shape(), size));
}
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDimension& size) {
  CLADTORCH_RECORD_STATE(ShapeState, adaptive_avg_pool2d, unread(x), size);
  return mapped("adaptive_avg_pool2d", 2, x, adaptive_averages("adaptive_avg_pool2d", 2, x.shape(), size));
}
Tensor interpolate(const Tensor& x, const PerDimension& size, Interpolation mode, bool align_corners) {
  CLADTORCH_RECORD_STATE(ShapeState, interpolate, unread(x), size, mode, align_corners);
  const int rank = spatial_rank(x.shape());
  return mapped("interpolate", rank, x, resizing(rank, x.shape(), size, mode, align_corners));
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace ops = ::cladtorch;

Tensor avg_pool1d_reverse_forw(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options,
                               pullback_state<ShapeState>& state) {
  return ops::avg_pool1d(ops::kept(x, state.data), window, options);
}
Tensor avg_pool2d_reverse_forw(const Tensor& x, const PerDimension& window, const AvgPoolOptions& options,
                               pullback_state<ShapeState>& state) {
  return ops::avg_pool2d(ops::kept(x, state.data), window, options);
}
Tensor adaptive_avg_pool1d_reverse_forw(const Tensor& x, const PerDimension& size,
                                        pullback_state<ShapeState>& state) {
  return ops::adaptive_avg_pool1d(ops::kept(x, state.data), size);
}
Tensor adaptive_avg_pool2d_reverse_forw(const Tensor& x, const PerDimension& size,
                                        pullback_state<ShapeState>& state) {
  return ops::adaptive_avg_pool2d(ops::kept(x, state.data), size);
}
Tensor interpolate_reverse_forw(const Tensor& x, const PerDimension& size, Interpolation mode,
                                bool align_corners, pullback_state<ShapeState>& state) {
  return ops::interpolate(ops::kept(x, state.data), size, mode, align_corners);
}

void avg_pool1d_pullback(const Tensor&, const PerDimension& window, const AvgPoolOptions& options, Tensor d_y,
                         Tensor* d_x, pullback_state<ShapeState>& state) {
  if (!d_y.defined() || !(d_x = ops::wanted(d_x))) return;
  const ops::Shape& x = state.data.shape;
  ops::pull("avg_pool1d", 1, x, ops::averages("avg_pool1d", 1, x, window, options), d_y, d_x);
}
void avg_pool2d_pullback(const Tensor&, const PerDimension& window, const AvgPoolOptions& options, Tensor d_y,
                         Tensor* d_x, pullback_state<ShapeState>& state) {
  if (!d_y.defined() || !(d_x = ops::wanted(d_x))) return;
  const ops::Shape& x = state.data.shape;
  ops::pull("avg_pool2d", 2, x, ops::averages("avg_pool2d", 2, x, window, options), d_y, d_x);
}
void adaptive_avg_pool1d_pullback(const Tensor&, const PerDimension& size, Tensor d_y, Tensor* d_x,
                                  pullback_state<ShapeState>& state) {
  if (!d_y.defined() || !(d_x = ops::wanted(d_x))) return;
  const ops::Shape& x = state.data.shape;
  ops::pull("adaptive_avg_pool1d", 1, x, ops::adaptive_averages("adaptive_avg_pool1d", 1, x, size), d_y, d_x);
}
void adaptive_avg_pool2d_pullback(const Tensor&, const PerDimension& size, Tensor d_y, Tensor* d_x,
                                  pullback_state<ShapeState>& state) {
  if (!d_y.defined() || !(d_x = ops::wanted(d_x))) return;
  const ops::Shape& x = state.data.shape;
  ops::pull("adaptive_avg_pool2d", 2, x, ops::adaptive_averages("adaptive_avg_pool2d", 2, x, size), d_y, d_x);
}
void interpolate_pullback(const Tensor&, const PerDimension& size, Interpolation mode, bool align_corners,
                          Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state) {
  if (!d_y.defined() || !(d_x = ops::wanted(d_x))) return;
  const ops::Shape& x = state.data.shape;
  const int rank = ops::spatial_rank(x);
  ops::pull("interpolate", rank, x, ops::resizing(rank, x, size, mode, align_corners), d_y, d_x);
}

}  // namespace clad::custom_derivatives::cladtorch
