#include <algorithm>
#include <array>
#include <vector>

#include "cladtorch/ops/shape.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

struct Sides {
  int64_t before = 0, after = 0;
};
using AllSides = std::array<Sides, max_rank>;

/// The amounts of each dimension of x.
AllSides sides_of(const Shape& amounts, int rank) {
  require(amounts.rank() % 2 == 0 && amounts.rank() / 2 <= rank,
          "pad: expected two amounts for each of the last ", "dimensions, of which there are ", rank,
          ", got ", amounts);
  AllSides sides;
  for (int i = 0; i < amounts.rank() / 2; ++i)
    sides[static_cast<size_t>(rank - 1 - i)] = {amounts[2 * i], amounts[2 * i + 1]};
  return sides;
}

/// Where in a dimension of n elements the element that lies `place` after its first comes from.
int64_t source_of(PadMode mode, int64_t place, int64_t n) {
  if (place >= 0 && place < n) return place;
  if (mode == PadMode::replicate) return place < 0 ? 0 : n - 1;
  if (mode == PadMode::circular) return place < 0 ? place + n : place - n;
  return place < 0 ? -place : 2 * (n - 1) - place;
}

Shape padded_shape(const Shape& shape, const AllSides& sides, PadMode mode) {
  Shape result = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto [before, after] = sides[static_cast<size_t>(i)];
    result[i] += before + after;
    if (mode == PadMode::constant) {
      require(result[i] >= 0, "pad: amounts ", before, " and ", after, " leave nothing of dimension ", i,
              " of ", shape);
    } else if (before != 0 || after != 0) {
      const int64_t most = mode == PadMode::reflect ? shape[i] - 1 : shape[i];
      require(before >= 0 && after >= 0, "pad: only constants take negative amounts, got ", before, " and ",
              after, " for dimension ", i);
      require(mode == PadMode::replicate ? shape[i] > 0 : std::max(before, after) <= most, "pad: dimension ",
              i, " of ", shape, " has too few elements for amounts ", before, " and ", after);
    }
  }
  return result;
}

/// The part of `padded` that is not padding, and the part of `x` that is in it.
void inner_parts(const AllSides& sides, Tensor* x, Tensor* padded) {
  for (int i = 0; i < x->dim(); ++i) {
    const auto [before, after] = sides[static_cast<size_t>(i)];
    const int64_t cut = std::max<int64_t>(0, -before), skipped = std::max<int64_t>(0, before);
    const int64_t length = std::max<int64_t>(0, x->size(i) - cut - std::max<int64_t>(0, -after));
    *x = x->narrow(i, std::min(cut, x->size(i)), length);
    *padded = padded->narrow(i, std::min(skipped, padded->size(i)), length);
  }
}

/// y from elements of x, or from `value` where source_of() gives none, row by row.
void gather(const Tensor& x, const AllSides& sides, PadMode mode, double value, Tensor& y) {
  const Tensor dense = x.contiguous();
  const int rank = x.dim();
  const Shape strides = contiguous_strides(x.shape());
  std::array<std::vector<int64_t>, max_rank> sources;  // offsets, or -1
  for (int i = 0; i < rank; ++i) {
    for (int64_t k = 0; k < y.size(i); ++k) {
      const int64_t place = k - sides[static_cast<size_t>(i)].before;
      const bool outside = place < 0 || place >= x.size(i);
      sources[static_cast<size_t>(i)].push_back(
          mode == PadMode::constant && outside ? -1 : source_of(mode, place, x.size(i)) * strides[i]);
    }
  }
  const auto offset_of = [&](int64_t outer) {
    int64_t offset = 0;
    for (int i = rank - 3; i >= 0; --i) {
      const int64_t source = sources[static_cast<size_t>(i)][static_cast<size_t>(outer % y.shape()[i])];
      if (source < 0) return source;
      offset += source;
      outer /= y.shape()[i];
    }
    return offset;
  };
  const int64_t* const heights = rank > 1 ? sources[static_cast<size_t>(rank - 2)].data() : nullptr;
  const int64_t length = y.shape().back(), rows = length == 0 ? 0 : y.numel() / length;
  const int64_t* const last = sources[static_cast<size_t>(rank - 1)].data();
  const int64_t before = sides[static_cast<size_t>(rank - 1)].before;
  const int64_t begin_inner = std::clamp<int64_t>(before, 0, length),
                end_inner = std::clamp<int64_t>(before + x.size(-1), begin_inner, length);
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    const T filler = detail::convert<T>(value);
    const auto fill_row = [&](T* out, int64_t offset) {
      const auto element = [&](int64_t k) { return last[k] < 0 ? filler : from[offset + last[k]]; };
      for (int64_t k = 0; k < begin_inner; ++k) out[k] = element(k);
      if (begin_inner < end_inner)
        std::copy_n(from + offset + last[begin_inner], end_inner - begin_inner, out + begin_inner);
      for (int64_t k = end_inner; k < length; ++k) out[k] = element(k);
    };
    parallel_for(rows, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(length, 1)),
                 [&](int64_t begin, int64_t end) {
                   int64_t outer = -1, outer_offset = 0;  // of the dimensions before the last two
                   for (int64_t row = begin; row < end; ++row) {
                     int64_t offset = 0;
                     if (rank > 1) {
                       const int64_t height = y.size(-2);
                       if (row / height != outer) {
                         outer = row / height;
                         outer_offset = offset_of(outer);
                       }
                       const int64_t source = heights[row - outer * height];
                       offset = source < 0 || outer_offset < 0 ? -1 : outer_offset + source;
                     }
                     T* const out = to + row * length;
                     if (offset < 0) {
                       std::fill_n(out, length, filler);
                     } else {
                       fill_row(out, offset);
                     }
                   }
                 });
  });
}

/// g without the padding of dimension d, whose elements are added to those that they came from.
Tensor folded(const Tensor& g, int d, Sides sides, PadMode mode) {
  const int64_t n = g.size(d) - sides.before - sides.after;
  Tensor sum = g.narrow(d, sides.before, n).clone();
  const Tensor dense = g.contiguous();
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < d; ++i) outer *= g.size(i);
  for (int i = d + 1; i < g.dim(); ++i) inner *= g.size(i);
  detail::dispatch_floating("pad", g.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = sum.data<T>();
    const int64_t work = std::max<int64_t>(1, (sides.before + sides.after) * inner);
    parallel_for(outer, std::max<int64_t>(1, (1 << 14) / work), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        for (int64_t k = 0; k < g.size(d); ++k) {
          const int64_t place = k - sides.before;
          if (place >= 0 && place < n) continue;
          const T* const row = from + (o * g.size(d) + k) * inner;
          T* const out = to + (o * n + source_of(mode, place, n)) * inner;
          for (int64_t i = 0; i < inner; ++i) out[i] += row[i];
        }
      }
    });
  });
  return sum;
}

}  // namespace

Tensor pad(const Tensor& x, const Shape& amounts, PadMode mode, double value) {
  CLADTORCH_RECORD(pad, unread(x), amounts, mode, value);
  // The value of constant padding may be trained where x is not.
  const bool by_value = mode == PadMode::constant;
  const detail::CpuCall call(
      "pad", {{"x", x, by_value ? detail::Operand::independent : detail::Operand::differentiable}});
  const AllSides sides = sides_of(amounts, x.dim());
  const Shape shape = padded_shape(x.shape(), sides, mode);
  Tensor y = call.result(shape);
  if (x.dim() == 0) {
    y.copy_from(x);
  } else {
    gather(x, sides, mode, value, y);
  }
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;

void pad_pullback(const Tensor&, const Shape& amounts, PadMode mode, double, Tensor d_y, Tensor* d_x,
                  double* d_value) {
  if (!d_y.defined()) return;
  const AllSides sides = sides_of(amounts, d_y.dim());
  if (mode == PadMode::constant) {
    Shape inverse = amounts;
    for (int i = 0; i < inverse.rank(); ++i) inverse[i] = -inverse[i];
    Tensor d = pad(d_y, inverse);
    if (d_value) {
      Tensor outer = d_y.clone(), of_x = d;
      inner_parts(sides, &of_x, &outer);
      const double inside = sum(outer).item();
      *d_value += sum(d_y).item() - inside;
    }
    if (wanted(d_x)) d_x->accumulate(std::move(d));
    return;
  }
  if (!wanted(d_x)) return;
  Tensor d = d_y.dtype() == DType::bfloat16 ? d_y.to(DType::float32) : d_y;
  for (int i = 0; i < d.dim(); ++i)
    if (const Sides at = sides[static_cast<size_t>(i)]; at.before + at.after > 0) d = folded(d, i, at, mode);
  const bool keeps = d_x->defined() && d_x->dtype() == d.dtype();
  d_x->accumulate(keeps ? d : d.to(d_y.dtype()));
}

}  // namespace clad::custom_derivatives::cladtorch
