// The frame of a call: what every operation does around its kernel. It checks what the operands have in
// common, counts itself, makes its result, and runs the code of the device on which the operands are.
//
//     Tensor swiglu(const Tensor& gate, const Tensor& up) {
//       const Call call("swiglu", {{"gate", gate}, {"up", up}});
//       require(gate.shape() == up.shape(), ...);
//       const Tensor g = gate.contiguous(), u = up.contiguous();
//       return call.result(
//           gate.shape(), [&](const GradientTarget& y) { map2_on_device<Swiglu>({}, g, u, y); },
//           [&]<class T>(Target<T> y) { swiglu(g.numel(), g.data<T>(), u.data<T>(), y); });
//     }
#pragma once

#include <initializer_list>
#include <utility>

#include "cladtorch/ops/count.h"
#include "ops/common/one_device.h"
#include "ops/common/target.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {

struct Operand {
  enum Kind : uint8_t {
    differentiable,
    optional,     ///< the same, but may be undefined
    independent,  ///< its dtype is its own, and it does not make the result a constant: indices, masks
  };
  const char* name;
  const Tensor& tensor;
  Kind kind = differentiable;
};

class Call {
 public:
  /// Throws Error naming `operation` unless the operands are defined, on one device, and of one dtype but for
  /// independent ones.
  Call(const char* operation, std::initializer_list<Operand> operands) : operation_(operation) {
    bool placed = false, typed = false;
    for (const Operand& one : operands) {
      const Tensor& x = one.tensor;
      if (!x.defined() && one.kind == Operand::optional) continue;
      const bool typeless = one.kind == Operand::independent;
      if (!x.defined() || (placed && x.device() != device_) || (typed && !typeless && x.dtype() != dtype_))
        refuse(operation, operands, one);
      if (!placed) device_ = x.device();
      if (!placed || (!typed && !typeless)) dtype_ = x.dtype();
      placed = true;
      if (typeless) continue;
      frozen_ = x.is_frozen() && (frozen_ || !typed);
      typed = true;
    }
  }

  const char* operation() const { return operation_; }

  /// Memory where the operands are: of their dtype, or of what they are computed in, for statistics and sums.
  Tensor empty(const Shape& shape) const { return Tensor::empty(shape, dtype_, device_); }
  Tensor sums(const Shape& shape) const { return Tensor::empty(shape, computed_in(dtype_), device_); }

  /// Counts the call and returns memory for its result, which is a constant if all operands are but for
  /// independent ones.
  Tensor result(const Shape& shape) const { return result(shape, dtype_); }
  Tensor result(const Shape& shape, DType dtype) const {
    count_op();
    Tensor y = Tensor::empty(shape, dtype, device_);
    freeze(y);
    return y;
  }
  /// The same for a result that has been computed by other means.
  Tensor finish(Tensor&& y) const {
    count_op();
    freeze(y);
    return std::move(y);
  }
  /// For another result besides that.
  void freeze(Tensor& y) const { y.set_frozen(frozen_); }

  /// The result, which on_device(const GradientTarget& y) or on_cpu(Target<T> y) stores.
  template <class OnDevice, class OnCpu>
  Tensor result(const Shape& shape, const OnDevice& on_device, const OnCpu& on_cpu) const;

 private:
  /// Throws Error saying why `one` does not fit.
  [[noreturn]] static void refuse(const char* operation, std::initializer_list<Operand> operands,
                                  const Operand& one);

  const char* operation_;
  DType dtype_ = DType::float32;
  Device device_;
  bool frozen_ = false;
};

/// For an operation without code for CUDA devices: throws Error there.
struct CpuCall : Call {
  CpuCall(const char* operation, std::initializer_list<Operand> operands) : Call(operation, operands) {
    require_cpu(operation, operands.begin()->tensor);
  }
};

/// on_device() if x is on a CUDA device, else on_cpu(T()) with the type of its elements.
template <class OnDevice, class OnCpu>
void run_where(const char* operation, const Tensor& x, const OnDevice& on_device, const OnCpu& on_cpu) {
  if (x.is_cuda()) {
    on_device();
  } else {
    dispatch_real(operation, x.dtype(), on_cpu);
  }
}

template <class OnDevice, class OnCpu>
Tensor Call::result(const Shape& shape, const OnDevice& on_device, const OnCpu& on_cpu) const {
  Tensor y = result(shape);
  run_where(
      operation_, y, [&] { on_device(store_into(y)); }, [&]<class T>(T) { on_cpu(Target<T>{y.data<T>()}); });
  return y;
}

/// The same for a pullback: *d += a gradient of x's shape and dtype, which on_device(const GradientTarget& d)
/// or on_cpu(Target<T> d) stores or adds.
template <class OnDevice, class OnCpu>
void add_gradient(const char* operation, Tensor* d, const Tensor& x, const OnDevice& on_device,
                  const OnCpu& on_cpu) {
  run_where(
      operation, x, [&] { on_device(accumulate_into(d, x.shape(), x.dtype(), x.device())); },
      [&]<class T>(T) { contribute<T>(d, x.shape(), on_cpu); });
}

/// For a pullback: throws Error if the derivative by a number is wanted where the result was a constant, so
/// that no cotangent came.
inline void refuse_lost(const char* operation, const double* d, const Tensor& d_y, bool constant) {
  require(!d || d_y.defined() || !constant, operation,
          ": all operands are frozen, so that the result is a constant and a number that is trained gets no "
          "derivative; leave an operand without set_frozen(true)");
}

/// Throws Error unless both tensors are defined, of one dtype and on one device.
inline void check_operands(const char* operation, const Tensor& a, const Tensor& b) {
  Call(operation, {{"a", a}, {"b", b}});
}

}  // namespace cladtorch::detail
