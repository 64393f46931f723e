// From a run-time dtype to a compile-time element type.
#pragma once

#include <type_traits>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/tensor/dtype.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/host_device.h"

namespace cladtorch::detail {

/// What elements of T are computed in: bfloat16 in float.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;
constexpr DType computed_in(DType dtype) { return dtype == DType::bfloat16 ? DType::float32 : dtype; }

/// Calls f(T{}) with the element type of any dtype but float8, which products alone read; throws Error for
/// that.
template <class F>
decltype(auto) dispatch_any(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float64:
      return f(double{});
    case DType::int32:
      return f(int32_t{});
    case DType::int64:
      return f(int64_t{});
    case DType::boolean:
      return f(bool{});
    case DType::bfloat16:
      return f(bfloat16{});
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      fail("tensor: ", dtype, " is a format of products, expected one to compute in");
    case DType::float32:
      break;
  }
  return f(float{});
}

/// Calls f(T{}) for float32 and float64, the dtypes that operations compute in; throws Error for others.
template <class F>
decltype(auto) dispatch_floating(const char* operation, DType dtype, F&& f) {
  require(dtype == DType::float32 || dtype == DType::float64, operation,
          ": expected float32 or float64, got ", dtype, "; convert with to()");
  if (dtype == DType::float64) return f(double{});
  return f(float{});
}

/// The same for bfloat16 too: for operations that take it and compute in float.
template <class F>
decltype(auto) dispatch_real(const char* operation, DType dtype, F&& f) {
  if (dtype == DType::bfloat16) return f(bfloat16{});
  return dispatch_floating(operation, dtype, std::forward<F>(f));
}

/// Calls f(out, add) with the memory of a target for contributions of T: that of T, or of float for bfloat16.
template <class T, class F>
void write_to(const GradientTarget& target, F&& f) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (target.dtype() == DType::float32) return f(target.data<float>(), target.add());
  }
  f(target.data<T>(), target.add());
}

/// Towards zero; numbers out of range become the nearest, NaN 0.
template <class To, class From>
CLADTORCH_HOST_DEVICE inline To to_integer(From value) {
  constexpr To least = std::is_same_v<To, int32_t> ? To{INT32_MIN} : static_cast<To>(INT64_MIN),
               most = std::is_same_v<To, int32_t> ? To{INT32_MAX} : static_cast<To>(INT64_MAX);
  if constexpr (std::is_floating_point_v<From>) {
    constexpr auto end = From(std::is_same_v<To, int32_t> ? 0x1p31 : 0x1p63);
    if (value != value) return 0;
    if (value >= end) return most;
    return value < -end ? least : static_cast<To>(value);
  } else if constexpr (sizeof(From) > sizeof(To)) {
    if (value > From{most}) return most;
    return value < From{least} ? least : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, bfloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To>) {
    return to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace cladtorch::detail
