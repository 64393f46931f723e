// Accumulation of gradients: Tensor::accumulate, gradient buffers, and the targets that pullbacks write to.
#include <cstring>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch {
namespace {

void check_same(const char* operation, const Tensor& d, const Shape& shape, DType dtype) {
  require(d.shape() == shape, operation, ": gradient has shape ", d.shape(), ", contribution has ", shape);
  require(d.dtype() == dtype, operation, ": gradient is ", d.dtype(), ", contribution is ", dtype);
}

}  // namespace

void Tensor::accumulate(const Tensor& d) {
  if (!d.defined()) return;
  if (!defined()) {
    *this = d;
    return;
  }
  check_same("accumulate", *this, d.shape_, d.dtype_);
  accumulate_in_place(d);
}

void Tensor::accumulate(Tensor&& d) {
  if (!defined()) {
    *this = std::move(d);
    return;
  }
  // Addition commutes exactly, so the sum may go into the operand that nobody else holds.
  const bool into_d = d.defined() && !is_gradient_buffer() && !storage_.unique() && d.storage_.unique() &&
                      d.is_contiguous() && d.shape_ == shape_ && d.dtype_ == dtype_;
  if (into_d) {
    d.accumulate_in_place(*this);
    *this = std::move(d);
  } else {
    accumulate(static_cast<const Tensor&>(d));
  }
}

void Tensor::accumulate_in_place(const Tensor& d) {
  if (d.is_marked_zero()) return;
  if (storage_->gradient_buffer && !is_contiguous()) {
    // A strided window of a gradient buffer: only an operation on Tensors reaches this, never a kernel.
    Tensor sum = clone();
    sum.accumulate_in_place(d);
    copy_from(sum);
    return;
  }
  const GradientTarget target = accumulate_into(this, d.shape_, d.dtype_);
  if (!target.add()) {
    copy_from(d);
    return;
  }
  detail::dispatch_floating("accumulate", dtype_, [&]<class T>(T) {
    T* out = target.data<T>();
    const T* in = d.data<T>();
    const detail::StridedLoop<2> loop(shape_, {strides_, d.strides_});
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      T* const y = out + offsets[0];
      const T* const x = in + offsets[1];
      if (steps[0] == 1 && steps[1] == 1) {
        for (int64_t i = 0; i < n; ++i) y[i] += x[i];
      } else {
        for (int64_t i = 0; i < n; ++i) y[i * steps[0]] += x[i * steps[1]];
      }
    });
  });
}

void Tensor::mark_zero() {
  require(is_gradient_buffer(), "mark_zero: not a gradient buffer; make one with gradient_buffer_like()");
  storage_->zero = true;
}

Tensor gradient_buffer_like(const Tensor& parameter) {
  if (!parameter.defined()) return {};
  Tensor buffer = Tensor::empty(parameter.shape(), parameter.dtype(), parameter.device());
  buffer.storage_->gradient_buffer = true;
  buffer.storage_->zero = true;
  return buffer;
}

GradientTarget::GradientTarget(Tensor* d, const Shape& shape, DType dtype) {
  if (!d->defined()) {
    *d = Tensor::empty(shape, dtype);
    data_ = d->raw_data(dtype);
    add_ = false;
    return;
  }
  check_same("accumulate_into", *d, shape, dtype);
  detail::Storage& storage = *d->storage_.get();
  const bool whole = d->is_contiguous() && d->nbytes() == storage.bytes;
  if (storage.gradient_buffer) {
    require(d->is_contiguous(), "accumulate_into: a gradient buffer must be contiguous, got strides ",
            d->strides());
    add_ = !(storage.zero && whole);
    if (!add_) storage.zero = false;
  } else {
    if (!d->storage_.unique() || !d->is_contiguous()) *d = d->clone();
    add_ = true;
  }
  data_ = d->raw_data(dtype);
}

GradientTarget accumulate_into(Tensor* d, const Shape& shape, DType dtype) { return {d, shape, dtype}; }

}  // namespace cladtorch
