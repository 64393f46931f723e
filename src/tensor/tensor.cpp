#include "cladtorch/tensor/tensor.h"

#include <cstring>

#include "tensor/device_memory.h"
#include "tensor/dispatch.h"

namespace cladtorch {

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  for (int64_t extent : shape) require(extent >= 0, "empty: extents must not be negative, got ", shape);
  Tensor result;
  result.shape_ = shape;
  result.strides_ = contiguous_strides(shape);
  result.dtype_ = dtype;
  result.storage_ = detail::StorageHandle(
      detail::allocate_storage(static_cast<size_t>(shape.numel()) * size_of(dtype), device));
  return result;
}

bool Tensor::is_contiguous() const {
  if (numel() == 0) return true;
  int64_t stride = 1;
  for (int i = shape_.rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[i] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

void* Tensor::raw_data(DType wanted, DeviceType where) {
  require(defined(), "data: the tensor is undefined");
  if (recorded_.graph != 0 && detail::recorder) [[unlikely]]
    refuse_unseen();
  require(device().type == where, "data: the tensor is on ", device(), ", asked for on ",
          where == DeviceType::cpu ? "cpu" : "cuda", "; copy it with to(device)");
  require(wanted == dtype_, "data: the tensor is ", dtype_, ", asked for ", wanted, "; convert with to()");
  require(!storage_->sink, "data: the gradient of a frozen parameter of ", shape_, " is not computed");
  if (storage_->zero) write_pending_zero();
  if (TensorArrival* arrival = storage_->arrival.load(std::memory_order_acquire))
    arrival->wait_for(storage_->arrives_as);
  return storage_->data + offset_ * static_cast<int64_t>(size_of(dtype_));
}

void Tensor::refuse_unseen() const {
  fail("a computation graph is being recorded and does not see what happens to the elements of a tensor of ",
       shape_,
       " in it: call an operation that has a pullback, take the elements of clad::stop_gradient(x), or end "
       "the "
       "graph first");
}

void Tensor::write_pending_zero() {
  if (is_cuda()) {
    detail::clear_on(device(), storage_->data, storage_->bytes);
  } else {
    std::memset(storage_->data, 0, storage_->bytes);
  }
  storage_->zero = false;
}

void Tensor::set_arrival(TensorArrival* arrival, size_t number) {
  require(defined(), "set_arrival: the tensor is undefined");
  if (arrival) storage_->arrives_as = number;
  storage_->arrival.store(arrival, std::memory_order_release);
}

int64_t Tensor::offset_in(const Tensor& memory) const {
  require(defined() && memory.defined() && memory.dtype_ == dtype_ && memory.is_contiguous(),
          "offset_in: expected dense memory of ", dtype_);
  const auto element = static_cast<int64_t>(size_of(dtype_));
  const int64_t offset = (storage_->data - memory.storage_->data) / element + offset_ - memory.offset_;
  require(offset >= 0 && offset + numel() <= memory.numel(), "offset_in: ", shape_,
          " does not lie in the memory of ", memory.shape_);
  return offset;
}

double Tensor::item() const {
  require(defined(), "item: the tensor is undefined");
  require(numel() == 1, "item: expected one element, got shape ", shape_);
  if (is_cuda()) return to(Device{}).item();
  return detail::dispatch_any(dtype_, [&]<class T>(T) { return detail::convert<double>(*data<T>()); });
}

}  // namespace cladtorch
