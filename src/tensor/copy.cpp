// Copies, conversions and fills of strided tensors.
#include <cstring>

#include "cladtorch/tensor/recorder.h"
#include "tensor/bfloat16_kernels.h"
#include "tensor/device_memory.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"
#include "tensor/tensor_on_device.h"

namespace cladtorch {
namespace {

template <class To, class From>
void copy_elements(To* out, const Shape& out_strides, const From* in, const Shape& in_strides,
                   const Shape& shape) {
  const detail::StridedLoop<2> loop(shape, {out_strides, in_strides});
  loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
    To* const y = out + offsets[0];
    const From* const x = in + offsets[1];
    if (std::is_same_v<To, From> && steps[0] == 1 && steps[1] == 1) {
      std::memcpy(static_cast<void*>(y), x, static_cast<size_t>(n) * sizeof(To));
      return;
    }
    if constexpr (std::is_same_v<To, float> && std::is_same_v<From, bfloat16>) {
      if (steps[0] == 1 && steps[1] == 1) return detail::widen(n, x, y);
    } else if constexpr (std::is_same_v<To, bfloat16> && std::is_same_v<From, float>) {
      if (steps[0] == 1 && steps[1] == 1) return detail::narrow(n, x, y);
    }
    for (int64_t i = 0; i < n; ++i) y[i * steps[0]] = detail::convert<To>(x[i * steps[1]]);
  });
}

}  // namespace

void Tensor::copy_from(const Tensor& source) {
  require(defined() && source.defined(), "copy_from: both tensors must be defined");
  require(shape_ == source.shape_, "copy_from: shapes differ: target is ", shape_, ", source is ",
          source.shape_);
  if (is_cuda() || source.is_cuda()) {
    copy_between_devices(source);
    return;
  }
  detail::dispatch_any(dtype_, [&]<class To>(To) {
    detail::dispatch_any(source.dtype_, [&]<class From>(From) {
      copy_elements(data<To>(), strides_, source.data<From>(), source.strides_, shape_);
    });
  });
}

void Tensor::copy_between_devices(const Tensor& source) {
  if (device() == source.device()) {
    detail::copy_on_device(*this, source);
  } else if (!is_cuda()) {
    Tensor here = empty(shape_, source.dtype_);
    const Tensor dense = source.contiguous();
    detail::download(source.device(), here.data(), dense.device_bytes(), here.nbytes());
    copy_from(here);
  } else if (source.is_cuda()) {
    copy_from(source.to(Device{}));
  } else if (is_contiguous()) {
    const Tensor dense = source.to(dtype_).contiguous();
    detail::upload(device(), device_bytes(), dense.data(), dense.nbytes());
  } else {
    detail::copy_on_device(*this, source.to(device()));
  }
}

Tensor Tensor::contiguous() const {
  if (Recorder* graph = detail::recorder_of_method(*this)) return graph->contiguous(*this);
  return is_contiguous() ? *this : clone();
}

Tensor Tensor::clone() const {
  if (Recorder* graph = detail::recorder_of_method(*this)) return graph->clone(*this);
  if (!defined()) return {};
  Tensor result = empty(shape_, dtype_, device());
  result.copy_from(*this);
  return result;
}

Tensor Tensor::to(DType dtype) const {
  if (Recorder* graph = detail::recorder_of_method(*this)) return graph->to(*this, dtype);
  if (!defined() || dtype == dtype_) return *this;
  Tensor result = empty(shape_, dtype, device());
  result.copy_from(*this);
  result.set_frozen(is_frozen());
  return result;
}

Tensor Tensor::to(Device device) const {
  if (!defined() || device == this->device()) return *this;
  if (is_gradient_sink()) return gradient_sink(shape_, dtype_, device);
  Tensor result = empty(shape_, dtype_, device);
  result.copy_from(*this);
  result.set_frozen(is_frozen());
  return result;
}

void Tensor::fill_(double value) {
  if (is_cuda()) {
    detail::fill_on_device(*this, value);
    return;
  }
  detail::dispatch_any(dtype_, [&]<class T>(T) {
    const T element = detail::convert<T>(value);
    T* out = data<T>();
    const detail::StridedLoop<1> loop(shape_, {strides_});
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      for (int64_t i = 0; i < n; ++i) out[offsets[0] + i * steps[0]] = element;
    });
  });
}

}  // namespace cladtorch
