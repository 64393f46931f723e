// The n-dimensional array of the library.
#pragma once

#include <clad/opaque.h>

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/tensor/dtype.h"
#include "cladtorch/tensor/shape.h"
#include "cladtorch/tensor/storage.h"

namespace cladtorch {

class Recorder;

namespace detail {
/// Who records the operations of this thread, or null (tensor/recorder.h).
inline constinit thread_local Recorder* recorder = nullptr;

/// Which result a handle is of the graph that is recorded; graph 0 is none.
struct Recorded {
  uint32_t graph = 0, place = 0;
};
}  // namespace detail

/// A handle on a strided view of reference-counted storage. Copying a handle shares the storage and allocates
/// nothing; views (reshape of dense data, transpose, permute, narrow, select, split) share it too.
///
/// A default-constructed Tensor is undefined: it has no shape, and as a gradient it is the symbolic zero.
///
/// A *gradient buffer* (see gradient_buffer_like) is storage that contributions are added to in place. Marked
/// zero, it reads as zero although nobody has written it, and its first contribution is stored instead of
/// added.
///
/// A *gradient sink* (see gradient_sink) is the gradient of a parameter that is not trained: a shape without
/// memory that drops what is added to it.
class CLAD_OPAQUE CLAD_INSTEAD(
    "the plugin does not see the elements of a tensor; use operations on tensors, make the loop over the "
    "elements an operation of its own with a pullback (docs/adding-an-op.md), or read one number by "
    "x.select(0, i).item()") Tensor {
 public:
  Tensor() = default;

  /// Storage with undefined contents; see also the factories in factories.h.
  static Tensor empty(const Shape& shape, DType dtype = DType::float32, Device device = {});

  bool defined() const { return static_cast<bool>(storage_); }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  int dim() const { return shape_.rank(); }
  /// Extent of one dimension; negative counts from the end.
  int64_t size(int64_t dim) const { return shape_[checked_dim("size", dim, shape_.rank())]; }
  int64_t numel() const { return shape_.numel(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * size_of(dtype_); }
  DType dtype() const { return dtype_; }
  Device device() const { return defined() ? storage_->device : Device{}; }
  bool is_cuda() const { return device().type == DeviceType::cuda; }
  bool is_contiguous() const;

  /// First element. Throws Error if T is not the tensor's dtype, the tensor is undefined, or it is not on the
  /// CPU. Reading a buffer that is marked zero writes the zeros first.
  template <class T>
  T* data() {
    forget_squares();
    return static_cast<T*>(raw_data(dtype_of<T>::value, DeviceType::cpu));
  }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(const_cast<Tensor*>(this)->raw_data(dtype_of<T>::value, DeviceType::cpu));
  }
  /// First element, untyped.
  void* data() {
    forget_squares();
    return raw_data(dtype_, DeviceType::cpu);
  }
  const void* data() const { return const_cast<Tensor*>(this)->raw_data(dtype_, DeviceType::cpu); }

  /// The same for kernels, for a tensor on a CUDA device.
  template <class T>
  T* device_data() {
    return static_cast<T*>(raw_data(dtype_of<T>::value, DeviceType::cuda));
  }
  template <class T>
  const T* device_data() const {
    return static_cast<const T*>(const_cast<Tensor*>(this)->raw_data(dtype_of<T>::value, DeviceType::cuda));
  }

  /// The only element, converted, so that an int64 beyond 2^53 is rounded; waits for the device. Throws Error
  /// unless numel() is 1.
  double item() const;

  // Views. Each throws Error naming the shapes when the request does not fit.
  /// Same elements in row-major order; one extent may be -1. Copies only if the strides do not allow a view.
  Tensor reshape(const Shape& shape) const;
  /// All dimensions in one.
  Tensor flatten() const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  /// Dimension i of the result is dimension dims[i] of this.
  Tensor permute(const Shape& dims) const;
  /// `length` entries of `dim` from `start`.
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  /// Entries [start, end) of `dim`.
  Tensor slice(int64_t dim, int64_t start, int64_t end) const;
  /// Entry `index` of `dim`, which disappears.
  Tensor select(int64_t dim, int64_t index) const;
  /// Consecutive pieces of `size` entries of `dim`; the last may be smaller.
  std::vector<Tensor> split(int64_t size, int64_t dim) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor squeeze(int64_t dim) const;
  /// Broadcasts to `shape` with stride 0 by PyTorch's rules. Not writable.
  Tensor expand(const Shape& shape) const;

  /// Itself if dense row-major, else a dense copy.
  Tensor contiguous() const;
  /// A dense copy with storage of its own.
  Tensor clone() const;
  /// Itself if it already has the dtype, else a dense converted copy. Numbers become integers towards zero,
  /// and those that do not fit the nearest that does; what is not 0 becomes true.
  Tensor to(DType dtype) const;
  /// Itself if it is there already, else a dense copy. Throws Error if the device is not there.
  Tensor to(Device device) const;

  // These work in place; in differentiated code they are for constants only.
  CLAD_INSTEAD("it changes a tensor in place; assign a new one: x = full(x.shape(), value)")
  void fill_(double value);
  CLAD_INSTEAD("it changes a tensor in place; assign a new one: x = zeros(x.shape())")
  void zero_() { fill_(0); }
  /// Copies the elements of `source` (same shape; any device, dtype converted) into this tensor's storage.
  CLAD_INSTEAD("it changes a tensor in place; assign the other one: x = source")
  void copy_from(const Tensor& source);
  /// Lets linear() multiply by this weight, and by all tensors that share its storage, in 8 bits (see
  /// ops/float8.h). Null ends that. Throws Error if the tensor is undefined.
  void set_float8_scaling(std::shared_ptr<const Float8Scaling> scaling);
  const Float8Scaling* float8_scaling() const { return defined() ? storage_->float8.get() : nullptr; }
  /// The current elements, for restore(): the reverse sweep gives constants that were changed in place their
  /// old values.
  Tensor snapshot() const { return clone(); }
  void restore(const Tensor& snapshot) {
    if (defined() && snapshot.defined()) copy_from(snapshot);
  }

  // Gradients.
  /// Makes all tensors that share this storage constants for derivatives, as a parameter that is not trained.
  /// Its gradient buffer is a sink. The result of an operation on frozen tensors alone is frozen too, so that
  /// the backward pass ends there; the epsilon of a norm counts as a part of its frozen layer. Throws Error
  /// if the tensor is undefined.
  void set_frozen(bool frozen);
  bool is_frozen() const { return defined() && storage_->frozen; }
  /// this += d, where an undefined `this` is zero and takes d, and an undefined d adds nothing. Writes in
  /// place only into storage that no other handle shares or into a gradient buffer. Throws Error if shapes or
  /// dtypes differ, except that float32 takes bfloat16.
  CLAD_INSTEAD("it changes a tensor in place; assign a new one: x = add(x, d)")
  void accumulate(const Tensor& d);
  CLAD_INSTEAD("it changes a tensor in place; assign a new one: x = add(x, d)")
  void accumulate(Tensor&& d);
  bool is_gradient_sink() const { return defined() && storage_->sink; }
  bool is_gradient_buffer() const { return defined() && storage_->gradient_buffer; }
  /// Whether the storage stands for zero without having been written.
  bool is_marked_zero() const { return defined() && storage_->zero; }
  /// Makes the whole storage stand for zero without writing it. Throws Error unless this is a gradient
  /// buffer.
  void mark_zero();
  /// Asks operations that write this gradient buffer from now on to sum the squares of its elements for the
  /// norm, while the elements are in registers. Throws Error unless this is a gradient buffer.
  void want_squares(bool wanted);
  /// `listener`, or nobody if it is null, hears of each contribution to this gradient buffer, as to buffer
  /// `number`, on the thread that writes it. Throws Error unless this is a gradient buffer.
  void set_listener(GradientListener* listener, size_t number);
  /// Who asks for the data of this storage from now on waits for `arrival`, as for tensor `number`, until
  /// this is called with null, on any thread.
  void set_arrival(TensorArrival* arrival, size_t number = 0);
  /// The sum of the squares of all elements, if the last operation that wrote them computed it.
  std::optional<double> squares() const;

  /// Where the elements begin in the dense `memory`, which holds them all and is of the same dtype.
  int64_t offset_in(const Tensor& memory) const;
  /// Whether both handles share one storage.
  bool shares_storage_with(const Tensor& other) const {
    return defined() && storage_.get() == other.storage_.get();
  }

  /// Where a computation graph has this handle and its copies (graph/tensors.h).
  detail::Recorded recorded() const { return recorded_; }
  void set_recorded(detail::Recorded place) { recorded_ = place; }

  /// Values (abridged when there are many), shape and dtype, as PyTorch prints them.
  std::string to_string() const;

 private:
  friend class GradientTarget;
  friend struct DLPackExchange;
  friend Tensor gradient_sink(const Shape& shape, DType dtype, Device device);
  friend Tensor gradient_buffer_like(const Tensor& parameter);
  friend Tensor gradient_buffer_in(const Tensor& memory, int64_t offset, const Shape& shape);
  void* raw_data(DType wanted, DeviceType where);
  [[noreturn]] void refuse_unseen() const;
  const void* device_bytes() const { return const_cast<Tensor*>(this)->raw_data(dtype_, DeviceType::cuda); }
  void* device_bytes() { return raw_data(dtype_, DeviceType::cuda); }
  void copy_between_devices(const Tensor& source);
  void accumulate_in_place(const Tensor& d);
  void write_pending_zero();
  void forget_squares() {
    if (storage_) storage_->squares = detail::Storage::unknown;
  }
  Tensor view(const Shape& shape, const Shape& strides, int64_t offset) const;

  detail::StorageHandle storage_;
  Shape shape_, strides_;
  int64_t offset_ = 0;  // in elements
  DType dtype_ = DType::float32;
  detail::Recorded recorded_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// Writes the tensor and a newline to standard output.
void print(const Tensor& tensor);

/// A gradient that is not needed. It has a shape and a dtype but no memory, stands for zero, and drops what
/// is added. Operations skip the work for it (see wanted() in gradient_target.h). Reading it throws Error.
Tensor gradient_sink(const Shape& shape, DType dtype = DType::float32, Device device = {});

/// A buffer of `parameter`'s shape, dtype and device, marked zero, to which gradients are added in place;
/// float32 for a bfloat16 parameter. A sink if `parameter` is frozen, undefined if it is undefined.
Tensor gradient_buffer_like(const Tensor& parameter);

/// The same in the memory of a dense tensor, from its element `offset` on, which lives as long as either. The
/// mark of the buffer does not change `memory`. Throws Error if it does not fit or if `memory` was made in an
/// open Workspace::Step.
Tensor gradient_buffer_in(const Tensor& memory, int64_t offset, const Shape& shape);

}  // namespace cladtorch

namespace clad {
/// The same for a graph that is recorded.
CLAD_NONDIFFERENTIABLE inline cladtorch::Tensor stop_gradient(const cladtorch::Tensor& x) {
  cladtorch::Tensor constant = x;
  constant.set_recorded({});
  return constant;
}
}  // namespace clad
