// Accumulation of gradients: Tensor::accumulate, gradient buffers, and the targets that pullbacks write to.
#include <cmath>
#include <type_traits>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/bfloat16_kernels.h"
#include "tensor/strided.h"
#include "tensor/tensor_on_device.h"

namespace cladtorch {
namespace {

/// Gradients of bfloat16 parameters are summed in float32, so such a gradient takes bfloat16 contributions.
void check_takes(const char* operation, const Tensor& d, const Shape& shape, DType dtype, Device device) {
  require(d.device() == device, operation, ": gradient is on ", d.device(), ", contribution is on ", device);
  require(d.shape() == shape, operation, ": gradient has shape ", d.shape(), ", contribution has ", shape);
  require(d.dtype() == dtype || (d.dtype() == DType::float32 && dtype == DType::bfloat16), operation,
          ": gradient is ", d.dtype(), ", contribution is ", dtype);
}

/// y += x, element by element, in the dtype of y; bfloat16 is added in float.
template <class Y, class X>
void add_strided(Y* y, const Shape& y_strides, const X* x, const Shape& x_strides, const Shape& shape) {
  const detail::StridedLoop<2> loop(shape, {y_strides, x_strides});
  loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
    Y* const to = y + offsets[0];
    const X* const from = x + offsets[1];
    if (steps[0] != 1 || steps[1] != 1) {
      for (int64_t i = 0; i < n; ++i) {
        using Sum = std::conditional_t<std::is_same_v<Y, double>, double, float>;
        Y& sum = to[i * steps[0]];
        sum = static_cast<Y>(static_cast<Sum>(sum) + static_cast<Sum>(from[i * steps[1]]));
      }
    } else if constexpr (std::is_same_v<X, bfloat16>) {
      detail::add_to(n, from, to);
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    }
  });
}

}  // namespace

void Tensor::accumulate(const Tensor& d) {
  if (!d.defined() || d.is_gradient_sink()) return;
  if (!defined()) {
    *this = d;
    return;
  }
  check_takes("accumulate", *this, d.shape_, d.dtype_, d.device());
  if (!is_gradient_sink()) accumulate_in_place(d);
}

void Tensor::accumulate(Tensor&& d) {
  if (!defined() && !d.is_gradient_sink()) {
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
    const detail::GradientWrite write(*storage_.get());
    Tensor sum = clone();
    sum.accumulate_in_place(d);
    copy_from(sum);
    return;
  }
  const GradientTarget target = accumulate_into(this, d.shape_, d.dtype_, d.device());
  if (!target.add()) {
    copy_from(d);
    return;
  }
  if (is_cuda()) {
    detail::add_on_device(*this, d);
    return;
  }
  const auto add = [&]<class Y, class X>(Y* y, const X* x) {
    add_strided(y, strides_, x, d.strides_, shape_);
  };
  if (d.dtype_ == DType::float64) {
    add(target.data<double>(), d.data<double>());
  } else if (d.dtype_ == DType::float32) {
    add(target.data<float>(), d.data<float>());
  } else if (dtype_ == DType::float32) {
    add(target.data<float>(), d.data<bfloat16>());
  } else {
    require(dtype_ == DType::bfloat16, "accumulate: expected a floating dtype, got ", dtype_);
    add(target.data<bfloat16>(), d.data<bfloat16>());
  }
}

void Tensor::set_float8_scaling(std::shared_ptr<const Float8Scaling> scaling) {
  require(defined(), "set_float8_scaling: the tensor is undefined");
  storage_->float8 = std::move(scaling);
}

void Tensor::set_frozen(bool frozen) {
  require(defined(), "set_frozen: the tensor is undefined");
  storage_->frozen = frozen;
}

void Tensor::mark_zero() {
  require(is_gradient_buffer(), "mark_zero: not a gradient buffer; make one with gradient_buffer_like()");
  storage_->zero = true;
}

void Tensor::want_squares(bool wanted) {
  require(is_gradient_buffer(), "want_squares: not a gradient buffer; make one with gradient_buffer_like()");
  storage_->squares_wanted = wanted;
  storage_->squares = detail::Storage::unknown;
}

void Tensor::set_listener(GradientListener* listener, size_t number) {
  require(is_gradient_buffer() && !is_gradient_sink(),
          "set_listener: not a gradient buffer; make one with gradient_buffer_like()");
  storage_->listener = listener;
  storage_->listened_as = number;
}

std::optional<double> Tensor::squares() const {
  if (is_marked_zero()) return 0;
  // Squares of large floats may overflow where those of doubles do not: then nobody knows either.
  if (!defined() || !std::isfinite(storage_->squares)) return std::nullopt;
  return storage_->squares;
}

Tensor gradient_sink(const Shape& shape, DType dtype, Device device) {
  Tensor sink;
  sink.shape_ = shape;
  sink.strides_ = contiguous_strides(shape);
  sink.dtype_ = dtype;
  sink.storage_ = detail::StorageHandle(detail::sink_storage(device));
  return sink;
}

Tensor gradient_buffer_like(const Tensor& parameter) {
  if (!parameter.defined()) return {};
  const DType dtype = parameter.dtype() == DType::bfloat16 ? DType::float32 : parameter.dtype();
  if (parameter.is_frozen()) return gradient_sink(parameter.shape(), dtype, parameter.device());
  Tensor buffer = Tensor::empty(parameter.shape(), dtype, parameter.device());
  buffer.storage_->gradient_buffer = true;
  buffer.storage_->zero = true;
  return buffer;
}

Tensor gradient_buffer_in(const Tensor& memory, int64_t offset, const Shape& shape) {
  require(
      memory.defined() && memory.is_contiguous() && offset >= 0 && offset + shape.numel() <= memory.numel(),
      "gradient_buffer_in: ", shape, " at element ", offset, " does not fit into dense memory of ",
      memory.shape());
  require(!memory.storage_->workspace, "gradient_buffer_in: the memory belongs to a workspace's step");
  Tensor buffer;
  buffer.dtype_ = memory.dtype_;
  buffer.shape_ = shape;
  buffer.strides_ = contiguous_strides(shape);
  const size_t element = size_of(memory.dtype_);
  buffer.storage_ = detail::StorageHandle(detail::part_of_storage(
      memory.storage_.get(), memory.storage_->data + static_cast<size_t>(memory.offset_ + offset) * element,
      static_cast<size_t>(shape.numel()) * element));
  buffer.storage_->gradient_buffer = true;
  buffer.storage_->zero = true;
  return buffer;
}

GradientTarget::GradientTarget(Tensor* d, const Shape& shape, DType dtype, Device device) {
  if (!d->defined()) {
    *d = Tensor::empty(shape, dtype, device);
    data_ = d->raw_data(dtype, device.type);
    dtype_ = dtype;
    add_ = false;
    return;
  }
  check_takes("accumulate_into", *d, shape, dtype, device);
  if (d->is_gradient_sink()) {
    dropped_ = Tensor::empty(shape, d->dtype(), device);
    dtype_ = d->dtype();
    data_ = dropped_.raw_data(dtype_, device.type);
    add_ = false;
    return;
  }
  detail::Storage& storage = *d->storage_.get();
  const bool whole = d->is_contiguous() && d->nbytes() == storage.bytes;
  if (storage.gradient_buffer) {
    require(d->is_contiguous(), "accumulate_into: a gradient buffer must be contiguous, got strides ",
            d->strides());
    write_ = detail::GradientWrite(storage);
    add_ = !(storage.zero && whole);
    if (!add_) storage.zero = false;
    if (whole && storage.squares_wanted && device.type == DeviceType::cpu) {
      squares_ = &storage.squares;
      squares_before_ = add_ ? storage.squares : 0;
    }
    storage.squares = detail::Storage::unknown;
  } else {
    if (!d->storage_.unique() || !d->is_contiguous()) *d = d->clone();
    add_ = true;
  }
  dtype_ = d->dtype();
  data_ = d->raw_data(dtype_, device.type);
}

GradientTarget accumulate_into(Tensor* d, const Shape& shape, DType dtype, Device device) {
  return {d, shape, dtype, device};
}

GradientTarget::GradientTarget(Tensor& y)
    : data_(y.raw_data(y.dtype(), y.device().type)), dtype_(y.dtype()) {}

GradientTarget store_into(Tensor& y) { return GradientTarget(y); }

Tensor* wanted(Tensor* d, bool frozen) {
  if (!d || d->is_gradient_sink()) return nullptr;
  if (!frozen) return d;
  require(!d->is_gradient_buffer(), "gradient: a parameter of ", d->shape(),
          " was frozen after its gradient buffer was made; make the gradient again with like()");
  return nullptr;
}

}  // namespace cladtorch
