#include "cladtorch/ops/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"
#include "tensor/strided.h"

namespace cladtorch {
namespace {

using detail::CpuCall;
using detail::Operand;

/// The dtype in which PyTorch compares: bool, then integers, then floating ones, each by size.
DType common_dtype(DType a, DType b) {
  const auto rank = [](DType dtype) {
    constexpr std::array order = {DType::boolean,  DType::int32,   DType::int64,
                                  DType::bfloat16, DType::float32, DType::float64};
    return std::find(order.begin(), order.end(), dtype) - order.begin();
  };
  return rank(a) < rank(b) ? b : a;
}

/// f(a, b) of elements of one dtype, bfloat16 as floats.
template <class F>
Tensor compare(const char* operation, const Tensor& a, const Tensor& b, F f) {
  const NotRecorded constant;
  const CpuCall call(operation, {{"a", a, Operand::independent}, {"b", b, Operand::independent}});
  const DType dtype = common_dtype(a.dtype(), b.dtype());
  const Tensor x = a.to(dtype), y = b.to(dtype);
  Tensor result = call.result(broadcast_shapes(operation, a.shape(), b.shape()), DType::boolean);
  const Shape& shape = result.shape();
  const detail::StridedLoop<3> loop(
      shape, {result.strides(), detail::broadcast_strides(x.shape(), x.strides(), shape),
              detail::broadcast_strides(y.shape(), y.strides(), shape)});
  detail::dispatch_any(dtype, [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T *const left = x.data<T>(), *const right = y.data<T>();
    bool* const to = result.data<bool>();
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      for (int64_t i = 0; i < n; ++i)
        to[offsets[0] + i * steps[0]] = f(static_cast<C>(left[offsets[1] + i * steps[1]]),
                                          static_cast<C>(right[offsets[2] + i * steps[2]]));
    });
  });
  return result;
}

/// The number as PyTorch compares it with a tensor of the dtype.
Tensor number(double value, DType dtype) {
  const bool whole = value == std::floor(value) && std::abs(value) < 0x1p63;
  return full({}, value, is_floating(dtype) ? dtype : whole ? DType::int64 : DType::float64);
}

template <class F>
Tensor of_truth(const char* operation, const Tensor& a, const Tensor& b, F f) {
  const NotRecorded constant;
  return compare(operation, a.to(DType::boolean), b.to(DType::boolean), f);
}

/// Whether `wanted` is among the truth values of each line.
Tensor contains(const char* operation, const Tensor& x, int64_t dim, bool keepdim, bool wanted) {
  const NotRecorded constant;
  const CpuCall call(operation, {{"x", x, Operand::independent}});
  const int d = detail::line_dim(operation, x, dim);
  const Tensor dense = x.to(DType::boolean).contiguous();
  Tensor result = call.result(detail::without_line(x.shape(), d, keepdim), DType::boolean);
  const detail::Lines lines(x.shape(), d);
  const bool* const from = dense.data<bool>();
  bool* const to = result.data<bool>();
  lines.for_each([&](int64_t line, int64_t first) {
    bool found = false;
    for (int64_t i = 0; i < lines.n && !found; ++i) found = from[first + i * lines.inner] == wanted;
    to[line] = found;
  });
  return result;
}

}  // namespace

#define CLADTORCH_COMPARISON(name, F)                                                   \
  Tensor name(const Tensor& a, const Tensor& b) { return compare(#name, a, b, F<>{}); } \
  Tensor name(const Tensor& a, double b) { return compare(#name, a, number(b, a.dtype()), F<>{}); }
CLADTORCH_COMPARISON(eq, std::equal_to)
CLADTORCH_COMPARISON(ne, std::not_equal_to)
CLADTORCH_COMPARISON(lt, std::less)
CLADTORCH_COMPARISON(le, std::less_equal)
CLADTORCH_COMPARISON(gt, std::greater)
CLADTORCH_COMPARISON(ge, std::greater_equal)
#undef CLADTORCH_COMPARISON

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return of_truth("logical_and", a, b, std::logical_and<>{});
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return of_truth("logical_or", a, b, std::logical_or<>{});
}
Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return of_truth("logical_xor", a, b, std::not_equal_to<>{});
}
Tensor logical_not(const Tensor& x) {
  return of_truth("logical_not", x, x, [](bool value, bool) { return !value; });
}

Tensor isnan(const Tensor& x) { return compare("isnan", x, x, std::not_equal_to<>{}); }
Tensor isfinite(const Tensor& x) {
  return compare("isfinite", x, x, []<class C>(C value, C) {
    if constexpr (std::is_floating_point_v<C>) return std::isfinite(value);
    return true;
  });
}
Tensor isinf(const Tensor& x) {
  return compare("isinf", x, x, []<class C>(C value, C) {
    if constexpr (std::is_floating_point_v<C>) return std::isinf(value);
    return false;
  });
}

Tensor any(const Tensor& x, int64_t dim, bool keepdim) { return contains("any", x, dim, keepdim, true); }
Tensor any(const Tensor& x) { return any(x.flatten(), 0); }
Tensor all(const Tensor& x, int64_t dim, bool keepdim) {
  return logical_not(contains("all", x, dim, keepdim, false));
}
Tensor all(const Tensor& x) { return all(x.flatten(), 0); }

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  return compare("isclose", a, b, [=](auto left, auto right) {
    const auto x = static_cast<double>(left), y = static_cast<double>(right);
    if (x == y || (equal_nan && x != x && y != y)) return true;
    return std::isfinite(y) && std::abs(x - y) <= atol + rtol * std::abs(y);
  });
}
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  return all(isclose(a, b, rtol, atol, equal_nan)).item() != 0;
}

}  // namespace cladtorch
