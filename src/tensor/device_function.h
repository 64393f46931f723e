// Code of an operation for CUDA devices, which the library of them brings.
#pragma once

#include "cladtorch/error.h"

namespace cladtorch::detail {

template <class Signature>
class DeviceFunction;

/// Declared beside the operation, and set by the .cu file beside it before main():
///
///     inline constinit DeviceFunction<void(const Tensor& x, Tensor& y)> gelu_tanh_on_device{"gelu_tanh"};
///     const DeviceFunctionCode code(gelu_tanh_on_device, launch_gelu_tanh);   // in gelu_tanh.cu
///
/// In a DryRun the code allocates what it needs and launches nothing.
template <class... Arguments>
class DeviceFunction<void(Arguments...)> {
 public:
  using Code = void (*)(Arguments...);

  explicit constexpr DeviceFunction(const char* operation) : operation_(operation) {}
  void set(Code code) { code_ = code; }

  void operator()(Arguments... arguments) const {
    require(code_ != nullptr, operation_, ": there is no code for CUDA devices in this build; use the cpu");
    code_(static_cast<Arguments>(arguments)...);
  }

 private:
  const char* operation_;
  Code code_ = nullptr;
};

/// Sets a function when the program starts.
struct DeviceFunctionCode {
  template <class... Arguments>
  DeviceFunctionCode(DeviceFunction<void(Arguments...)>& function, void (*code)(Arguments...)) {
    function.set(code);
  }
};

}  // namespace cladtorch::detail
