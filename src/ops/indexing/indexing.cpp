// Each line of an index chooses among the elements of one line of x. Lines are independent, so that threads
// share them, and the elements of one go in their order.
#include "cladtorch/ops/indexing.h"

#include <cstring>

#include "cladtorch/ops/comparison.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

/// Throws Error for an index outside [0, extent). What broadcasting repeats is read once.
void check_range(const char* operation, Tensor index, int64_t dim, int64_t extent) {
  for (int i = 0; i < index.dim(); ++i)
    if (index.strides()[i] == 0 && index.size(i) > 1) index = index.narrow(i, 0, 1);
  const Tensor dense = index.contiguous();
  for (int64_t i = 0; i < dense.numel(); ++i) {
    const int32_t at = dense.data<int32_t>()[i];
    require(at >= 0 && at < extent, operation, ": index ", at, " is outside the ", extent,
            " entries of dimension ", dim);
  }
}

bool fits(const Shape& index, const Shape& shape, int but) {
  if (index.rank() != shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != but && index[i] > shape[i]) return false;
  return true;
}

using detail::CpuCall;
using detail::Operand;

/// The index as int32, which fits x and points into it.
Tensor checked_index(const char* operation, const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = detail::line_dim(operation, x, dim);
  require(fits(index.shape(), x.shape(), d), operation, ": an index of ", index.shape(),
          " does not fit x of ", x.shape(), " along dimension ", dim);
  Tensor result = detail::as_int32(operation, "indices", index);
  check_range(operation, result, dim, x.size(d));
  return result;
}

/// The lines of what an index points into, of the index, and of another tensor that has at least its shape.
struct IndexedLines {
  detail::StridedLines<3> lines;
  int64_t length, chosen_step, index_step, other_step;

  IndexedLines(const Tensor& index, int dim, const Shape& chosen_strides, const Shape& other_strides)
      : lines(index.shape(), dim, {chosen_strides, index.strides(), other_strides}),
        length(index.size(dim)),
        chosen_step(chosen_strides[dim]),
        index_step(index.strides()[dim]),
        other_step(other_strides[dim]) {}

  /// Calls body(chosen, other) for each pair of elements, in the order of `dim` for each line.
  template <class Chosen, class Other, class Body>
  void in_order(Chosen* chosen, const int32_t* index, Other* other, const Body& body) const {
    part(0, length, chosen, index, other, body);
  }

  /// The same in any order.
  template <class Chosen, class Other, class Body>
  void for_each(Chosen* chosen, const int32_t* index, Other* other, const Body& body) const {
    if (!lines.side_by_side()) return in_order(chosen, index, other, body);
    const int64_t grain = std::max<int64_t>(1, detail::line_grain / std::max<int64_t>(lines.count(), 1));
    parallel_for(length, grain,
                 [&](int64_t begin, int64_t end) { part(begin, end, chosen, index, other, body); });
  }

 private:
  template <class Chosen, class Other, class Body>
  void part(int64_t begin, int64_t end, Chosen* chosen, const int32_t* index, Other* other,
            const Body& body) const {
    lines.for_each(end - begin, [&](const auto& offsets, int64_t count, const auto& steps) {
      for (int64_t i = begin; i < end; ++i) {
        Chosen* const from = chosen + offsets[0];
        const int32_t* const at = index + offsets[1] + i * index_step;
        Other* const to = other + offsets[2] + i * other_step;
        if (steps[1] == 0 && steps[0] == 1 && steps[2] == 1) {  // neighbours along another dimension
          Chosen* const same = from + *at * chosen_step;
          for (int64_t j = 0; j < count; ++j) body(same[j], to[j]);
        } else {
          for (int64_t j = 0; j < count; ++j)
            body(from[at[j * steps[1]] * chosen_step + j * steps[0]], to[j * steps[2]]);
        }
      }
    });
  }
};

Tensor gathered(const Tensor& x, int dim, const Tensor& index) {
  Tensor y = Tensor::empty(index.shape(), x.dtype());
  const IndexedLines lines(index, dim, x.strides(), y.strides());
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    lines.for_each(x.data<T>(), index.data<int32_t>(), y.data<T>(),
                   [](const T& chosen, T& other) { other = chosen; });
  });
  return y;
}

/// Dense y[index] += src, for numbers of T in sums of Sum.
template <class T, class Sum>
void add_at(Sum* y, const Shape& shape, int dim, const Tensor& index, const Tensor& src) {
  const IndexedLines lines(index, dim, contiguous_strides(shape), src.strides());
  lines.in_order(y, index.data<int32_t>(), src.data<T>(),
                 [](Sum& sum, const T& term) { sum = static_cast<Sum>(sum + static_cast<Sum>(term)); });
}

/// The same for what is stored or added there.
Tensor checked_index(const char* operation, const Tensor& x, int64_t dim, const Tensor& index,
                     const Tensor& src) {
  require(fits(index.shape(), src.shape(), -1), operation, ": an index of ", index.shape(),
          " does not fit src of ", src.shape());
  return checked_index(operation, x, dim, index);
}

/// *d += `part` in the corner of zeros of `shape`.
void accumulate_corner(Tensor* d, Tensor part, const Shape& shape) {
  if (part.shape() == shape) return d->accumulate(std::move(part));
  Tensor whole = zeros(shape, part.dtype()), corner = whole;
  for (int i = 0; i < shape.rank(); ++i) corner = corner.narrow(i, 0, part.size(i));
  corner.copy_from(part);
  d->accumulate(std::move(whole));
}

}  // namespace

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  CLADTORCH_RECORD_STATE(GatherState, gather, unread(x), dim, index);
  const CpuCall call("gather", {{"x", x}, {"index", index, Operand::independent}});
  const Tensor places = checked_index("gather", x, dim, index);
  return call.finish(gathered(x, detail::line_dim("gather", x, dim), places));
}

Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  CLADTORCH_RECORD_STATE(ScatterState, scatter_add, unread(x), dim, index, unread(src));
  const CpuCall call("scatter_add", {{"x", x}, {"index", index, Operand::independent}, {"src", src}});
  const Tensor places = checked_index("scatter_add", x, dim, index, src);
  const int d = detail::line_dim("scatter_add", x, dim);
  require(x.dtype() != DType::boolean, "scatter_add: expected numbers, got bool");
  Tensor sum = x.dtype() == DType::bfloat16 ? x.to(DType::float32) : x.clone();
  detail::dispatch_any(
      x.dtype(), [&]<class T>(T) { add_at<T>(sum.data<detail::Computed<T>>(), x.shape(), d, places, src); });
  return call.finish(sum.to(x.dtype()));
}

Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  CLADTORCH_RECORD_STATE(ScatterState, scatter, unread(x), dim, index, unread(src));
  const CpuCall call("scatter", {{"x", x}, {"index", index, Operand::independent}, {"src", src}});
  const Tensor places = checked_index("scatter", x, dim, index, src);
  const int d = detail::line_dim("scatter", x, dim);
  Tensor y = x.clone();
  const IndexedLines lines(places, d, y.strides(), src.strides());
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    lines.in_order(y.data<T>(), places.data<int32_t>(), src.data<T>(),
                   [](T& chosen, const T& other) { chosen = other; });
  });
  return call.finish(std::move(y));
}

Tensor detail::index_along(const char* operation, const Tensor& index, int64_t dim, const Shape& shape,
                           int64_t extent) {
  const int d = checked_dim(operation, dim, shape.rank());
  require(index.defined() && index.dim() == 1, operation, ": expected an index of one dimension, got ",
          index.shape());
  require_cpu(operation, index);
  const Tensor places = as_int32(operation, "indices", index);
  check_range(operation, places, dim, extent);
  Shape flat = shape;
  for (int i = 0; i < flat.rank(); ++i) flat[i] = i == d ? index.size(0) : 1;
  return places.reshape(flat).expand(shape.with(d, index.size(0)));
}

Shape detail::broadcast_but(const char* operation, const Shape& shape, const Shape& other, int64_t dim) {
  const int d = checked_dim(operation, dim, shape.rank());
  require(shape.rank() == other.rank(), operation, ": expected one rank, got ", shape, " and ", other);
  return broadcast_shapes(operation, shape.with(d, 1), other.with(d, 1)).with(d, shape[d]);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

namespace {

/// index of what the forward pass has checked.
Tensor places_of(const Tensor& index) { return detail::as_int32("pullback", "indices", index); }

/// Which elements of src stay: the last at each place.
Tensor survivors(const Shape& shape, int dim, const Tensor& places) {
  Shape line = places.shape();
  for (int i = 0; i < line.rank(); ++i)
    if (i != dim) line[i] = 1;
  const Tensor numbers = ::cladtorch::arange(line[dim]).reshape(line).expand(places.shape());
  const Tensor last = ::cladtorch::scatter(full(shape, -1, DType::int32), dim, places, numbers);
  return ::cladtorch::eq(::cladtorch::gathered(last, dim, places), numbers);
}

}  // namespace

Tensor gather_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index,
                           pullback_state<GatherState>& state) {
  state.data = {x.shape(), x.is_frozen()};
  return ::cladtorch::gather(x, dim, index);
}
void gather_pullback(const Tensor&, int64_t dim, const Tensor& index, Tensor d_y, Tensor* d_x, Tensor*,
                     pullback_state<GatherState>& state) {
  d_x = wanted(d_x, state.data.frozen);
  if (!d_y.defined() || !d_x) return;
  const Shape& shape = state.data.x;
  const Tensor places = places_of(index);
  detail::dispatch_real("gather", d_y.dtype(), [&]<class T>(T) {
    detail::contribute_sum<T>(d_x, shape, [&](const auto& target) {
      if (!target.add) std::fill_n(target.data, shape.numel(), detail::Computed<T>(0));
      ::cladtorch::add_at<T>(target.data, shape, checked_dim("gather", dim, shape.rank()), places, d_y);
    });
  });
}

Tensor scatter_add_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                                pullback_state<ScatterState>& state) {
  state.data = {src.shape(), x.is_frozen(), src.is_frozen()};
  return ::cladtorch::scatter_add(x, dim, index, src);
}
void scatter_add_pullback(const Tensor&, int64_t dim, const Tensor& index, const Tensor&, Tensor d_y,
                          Tensor* d_x, Tensor*, Tensor* d_src, pullback_state<ScatterState>& state) {
  d_x = wanted(d_x, state.data.x_frozen);
  d_src = wanted(d_src, state.data.src_frozen);
  if (!d_y.defined()) return;
  const int d = checked_dim("scatter_add", dim, d_y.dim());
  if (d_src)
    ::cladtorch::accumulate_corner(d_src, ::cladtorch::gathered(d_y, d, places_of(index)), state.data.src);
  if (d_x) d_x->accumulate(std::move(d_y));
}

Tensor scatter_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                            pullback_state<ScatterState>& state) {
  state.data = {src.shape(), x.is_frozen(), src.is_frozen()};
  return ::cladtorch::scatter(x, dim, index, src);
}
void scatter_pullback(const Tensor&, int64_t dim, const Tensor& index, const Tensor&, Tensor d_y, Tensor* d_x,
                      Tensor*, Tensor* d_src, pullback_state<ScatterState>& state) {
  d_x = wanted(d_x, state.data.x_frozen);
  d_src = wanted(d_src, state.data.src_frozen);
  if (!d_y.defined()) return;
  const int d = checked_dim("scatter", dim, d_y.dim());
  const Tensor places = places_of(index);
  if (d_src) {
    const Tensor stays = survivors(d_y.shape(), d, places);
    ::cladtorch::accumulate_corner(d_src, ::cladtorch::where(stays, ::cladtorch::gathered(d_y, d, places), 0),
                                   state.data.src);
  }
  if (d_x) {
    const Tensor none = zeros({}, d_y.dtype()).expand(places.shape());
    d_x->accumulate(::cladtorch::scatter(d_y, d, places, none));
  }
}

}  // namespace clad::custom_derivatives::cladtorch
