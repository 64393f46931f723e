#include "cladtorch/ops/grid_sample.h"

#include <algorithm>

#include "cladtorch/tensor/recorder.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {
namespace {

/// result(column, row) of each place, in the dtype of `result`.
template <class Result, class F>
Tensor of_places(const Tensor& column, const Tensor& row, F f) {
  const Tensor c = column.contiguous(), r = row.contiguous();
  Tensor y = Tensor::empty(column.shape(), dtype_of<Result>::value);
  dispatch_floating("grid_sample", column.dtype(), [&]<class T>(T) {
    const T *const columns = c.data<T>(), *const rows = r.data<T>();
    for (int64_t i = 0; i < y.numel(); ++i) y.data<Result>()[i] = static_cast<Result>(f(columns[i], rows[i]));
  });
  return y;
}

/// 0 for what is no number.
template <class T>
int64_t clamped(T at, int64_t extent) {
  return at > 0 ? static_cast<int64_t>(std::min(at, static_cast<T>(extent - 1))) : 0;
}

}  // namespace

Tensor image_places(const Tensor& column, const Tensor& row, int64_t width, int64_t height) {
  const NotRecorded constant;
  require(width * height <= INT32_MAX, "grid_sample: expected an image of at most 2^31 - 1 elements, got ",
          height, " x ", width);
  return of_places<int32_t>(column, row,
                            [=](auto c, auto r) { return clamped(r, height) * width + clamped(c, width); });
}

Tensor inside_image(const Tensor& column, const Tensor& row, int64_t width, int64_t height) {
  const NotRecorded constant;
  const auto is_inside = [=](auto c, auto r) {
    using T = decltype(c);
    return c >= 0 && r >= 0 && c < static_cast<T>(width) && r < static_cast<T>(height);
  };
  return of_places<bool>(column, row, is_inside).to(column.dtype());
}

Tensor affine_places(int64_t height, int64_t width, bool align_corners, DType dtype) {
  Tensor places = Tensor::empty({height * width, 3}, DType::float64);
  const auto place = [=](int64_t i, int64_t extent) {
    const auto at = static_cast<double>(i), size = static_cast<double>(extent);
    if (!align_corners) return (2 * at + 1) / size - 1;
    return extent > 1 ? 2 * at / (size - 1) - 1 : 0.0;
  };
  double* to = places.data<double>();
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      *to++ = place(j, width);
      *to++ = place(i, height);
      *to++ = 1;
    }
  return places.to(dtype);
}

}  // namespace cladtorch::detail
