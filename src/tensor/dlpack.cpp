#include "cladtorch/tensor/dlpack.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "cladtorch/tensor/device.h"
#include "tensor/dlpack_abi.h"

namespace cladtorch {
namespace {

struct ExchangedType {
  DType dtype;
  uint8_t code, bits;
};
constexpr std::array exchanged = {
    ExchangedType{DType::float32, kDLFloat, 32},   ExchangedType{DType::float64, kDLFloat, 64},
    ExchangedType{DType::int32, kDLInt, 32},       ExchangedType{DType::int64, kDLInt, 64},
    ExchangedType{DType::bfloat16, kDLBfloat, 16}, ExchangedType{DType::boolean, kDLBool, 8}};

std::string name_of(const DLDataType& type) {
  constexpr std::array names = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  if (type.code == kDLBool && type.bits == 8) return "bool";
  const std::string bits = std::to_string(type.bits);
  return type.code < names.size() ? names[type.code] + bits
                                  : "type " + std::to_string(type.code) + " of " + bits + " bits";
}

DType dtype_from(const DLDataType& type) {
  require(type.lanes == 1, "from_dlpack: the elements are vectors of ", type.lanes, " lanes, expected 1");
  const auto found = std::find_if(exchanged.begin(), exchanged.end(), [&](const ExchangedType& element) {
    return element.code == type.code && element.bits == type.bits;
  });
  require(found != exchanged.end(), "from_dlpack: the tensor is ", name_of(type),
          ", expected float32, float64, int32, int64, bool or bfloat16");
  return found->dtype;
}

Device device_from(const DLDevice& device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return {};
  require(device.device_type == kDLCUDA && device.device_id >= 0 && device.device_id < 128,
          "from_dlpack: the tensor is on device ", device.device_id, " of DLPack's type ", device.device_type,
          ", expected the CPU (1) or a CUDA device (2)");
  const Device cuda{DeviceType::cuda, static_cast<int8_t>(device.device_id)};
  require_available(cuda);
  return cuda;
}

Shape shape_from(const DLTensor& x) {
  require(x.ndim >= 0 && x.ndim <= max_rank, "from_dlpack: the tensor has ", x.ndim,
          " dimensions, expected at most ", max_rank);
  const Shape shape(std::span<const int64_t>(x.shape, static_cast<size_t>(x.ndim)));
  for (const int64_t extent : shape)
    require(extent >= 0, "from_dlpack: extents must not be negative, got ", shape);
  return shape;
}

Shape strides_from(const DLTensor& x, const Shape& shape) {
  Shape strides = contiguous_strides(shape);
  if (!x.strides || shape.numel() == 0) return strides;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) strides[i] = x.strides[i];
  for (const int64_t stride : strides)
    require(stride >= 0, "from_dlpack: strides must not be negative, got ", strides, " for ", shape,
            "; copy the tensor first");
  return strides;
}

/// Whether two indices name one element.
bool broadcasts(const Tensor& x) {
  for (int i = 0; i < x.dim(); ++i)
    if (x.shape()[i] > 1 && x.strides()[i] == 0) return true;
  return false;
}

/// A handle and all that it points to.
template <class Handle>
struct Exported {
  Handle handle{};
  Tensor tensor;
  Shape shape, strides;
};

}  // namespace

/// What is private in Tensor.
struct DLPackExchange {
  template <class Handle>
  static Handle* give(const Tensor& x) {
    require(x.defined(), "to_dlpack: the tensor is undefined");
    require(!x.is_gradient_buffer(), "to_dlpack: a gradient buffer cannot be shared; clone it");
    require(!x.storage_->workspace,
            "to_dlpack: the tensor was made in a Workspace::Step that is open, whose end "
            "may move it; clone it outside of the step");
    const auto element = std::find_if(exchanged.begin(), exchanged.end(),
                                      [&](const ExchangedType& known) { return known.dtype == x.dtype(); });
    require(element != exchanged.end(), "to_dlpack: the tensor is ", x.dtype(),
            ", expected float32, float64, int32, int64, bool or bfloat16");
    if (x.is_cuda()) synchronize(x.device());
    auto exported = std::make_unique<Exported<Handle>>();
    exported->tensor = x;
    exported->shape = x.shape();
    exported->strides = x.strides();
    Handle& handle = exported->handle;
    handle.dl_tensor = {.data = exported->tensor.raw_data(x.dtype(), x.device().type),
                        .device = {x.is_cuda() ? kDLCUDA : kDLCPU, x.device().index},
                        .ndim = x.dim(),
                        .dtype = {element->code, element->bits, 1},
                        .shape = &exported->shape[0],
                        .strides = &exported->strides[0],
                        .byte_offset = 0};
    handle.manager_ctx = exported.get();
    handle.deleter = [](Handle* self) { delete static_cast<Exported<Handle>*>(self->manager_ctx); };
    return &exported.release()->handle;
  }

  template <class Handle>
  static Tensor take(Handle* handle) {
    const DLTensor& x = handle->dl_tensor;
    Tensor result;
    result.dtype_ = dtype_from(x.dtype);
    result.shape_ = shape_from(x);
    result.strides_ = strides_from(x, result.shape_);
    const Device device = device_from(x.device);
    std::byte* const data = static_cast<std::byte*>(x.data) + x.byte_offset;
    const size_t element = size_of(result.dtype_);
    int64_t reach = 0;  // elements from the first to the one behind the last
    if (result.numel() > 0) {
      require(x.data != nullptr, "from_dlpack: the tensor of ", result.shape_, " has no memory");
      require(reinterpret_cast<uintptr_t>(data) % element == 0, "from_dlpack: the elements of ",
              result.dtype_, " are not aligned to ", element, " bytes; copy the tensor first");
      reach = 1;
      for (int i = 0; i < result.dim(); ++i) reach += (result.shape_[i] - 1) * result.strides_[i];
    }
    std::shared_ptr<void> keeper(handle, [](Handle* owned) {
      if (owned->deleter) owned->deleter(owned);
    });
    result.storage_ = detail::StorageHandle(
        detail::foreign_storage(std::move(keeper), data, static_cast<size_t>(reach) * element, device));
    return result;
  }
};

DLManagedTensor* to_dlpack(const Tensor& x) { return DLPackExchange::give<DLManagedTensor>(x); }

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& x) {
  auto* const handle = DLPackExchange::give<DLManagedTensorVersioned>(x);
  handle->version = {1, 0};
  handle->flags = broadcasts(x) ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return handle;
}

Tensor from_dlpack(DLManagedTensor* handle) {
  require(handle != nullptr, "from_dlpack: the handle is null");
  return DLPackExchange::take(handle);
}

Tensor from_dlpack(DLManagedTensorVersioned* handle) {
  require(handle != nullptr, "from_dlpack: the handle is null");
  require(handle->version.major == 1, "from_dlpack: the handle is of DLPack ", handle->version.major, ".",
          handle->version.minor, ", expected 1");
  const bool read_only = (handle->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  Tensor result = DLPackExchange::take(handle);
  return read_only ? result.clone() : result;
}

}  // namespace cladtorch
