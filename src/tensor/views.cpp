// Views: other shapes and strides on the same storage.
#include <algorithm>

#include "cladtorch/tensor/recorder.h"
#include "tensor/strided.h"

namespace cladtorch {

using detail::recorder_of_method;

namespace {

/// Replaces an extent of -1 by what makes the element counts equal.
Shape inferred(const Shape& from, const Shape& to) {
  int unknown = -1;
  int64_t known = 1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] != -1) {
      known *= to[i];
      continue;
    }
    require(unknown < 0, "reshape: at most one extent may be -1, got ", to);
    unknown = i;
  }
  Shape result = to;
  if (unknown >= 0 && known > 0) result[unknown] = from.numel() / known;
  require(result.numel() == from.numel(), "reshape: ", from, " has ", from.numel(),
          " elements and cannot become ", to);
  return result;
}

/// Finds strides for `to` over the elements of (from, strides) in row-major order; false if there are none.
bool strides_for(const Shape& from, const Shape& strides, const Shape& to, Shape& result) {
  const detail::StridedLoop<1> merged(from, {strides});
  result = to;
  int group = merged.shape.rank() - 1;
  int64_t taken = 1;  // elements of the merged group that trailing extents of `to` already cover
  for (int i = to.rank() - 1; i >= 0; --i) {
    if (to[i] == 1) {
      result[i] = 1;
      continue;
    }
    if (taken == merged.shape[group]) {
      if (--group < 0) return false;
      taken = 1;
    }
    result[i] = merged.strides[0][group] * taken;
    taken *= to[i];
    if (merged.shape[group] % taken != 0) return false;
  }
  return true;
}

}  // namespace

Tensor Tensor::view(const Shape& shape, const Shape& strides, int64_t offset) const {
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_ = strides;
  result.offset_ = offset;
  result.recorded_ = {};
  return result;
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->reshape(*this, shape);
  const Shape wanted = inferred(shape_, shape);
  if (is_contiguous()) return view(wanted, contiguous_strides(wanted), offset_);
  Shape strides;
  if (strides_for(shape_, strides_, wanted, strides)) return view(wanted, strides, offset_);
  const Tensor dense = clone();
  return dense.view(wanted, contiguous_strides(wanted), 0);
}

Tensor Tensor::flatten() const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->flatten(*this);
  return reshape({-1});
}

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->transpose(*this, dim0, dim1);
  const int i = checked_dim("transpose", dim0, dim()), j = checked_dim("transpose", dim1, dim());
  Shape shape = shape_, strides = strides_;
  std::swap(shape[i], shape[j]);
  std::swap(strides[i], strides[j]);
  return view(shape, strides, offset_);
}

Tensor Tensor::permute(const Shape& dims) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->permute(*this, dims);
  require(dims.rank() == dim(), "permute: expected ", dim(), " dimensions for ", shape_, ", got ", dims);
  Shape shape = shape_, strides = strides_;
  unsigned seen = 0;
  for (int i = 0; i < dim(); ++i) {
    const int source = checked_dim("permute", dims[i], dim());
    require(!(seen >> source & 1u), "permute: dimension ", source, " is named twice in ", dims);
    seen |= 1u << source;
    shape[i] = shape_[source];
    strides[i] = strides_[source];
  }
  return view(shape, strides, offset_);
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->narrow(*this, dim, start, length);
  const int d = checked_dim("narrow", dim, this->dim());
  require(start >= 0 && length >= 0 && start + length <= shape_[d], "narrow: entries ", start, " to ",
          start + length, " are outside dimension ", d, " of ", shape_);
  return view(shape_.with(d, length), strides_, offset_ + start * strides_[d]);
}

Tensor Tensor::slice(int64_t dim, int64_t start, int64_t end) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->slice(*this, dim, start, end);
  require(end >= start, "slice: end ", end, " is before start ", start);
  return narrow(dim, start, end - start);
}

Tensor Tensor::select(int64_t dim, int64_t index) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->select(*this, dim, index);
  const int d = checked_dim("select", dim, this->dim());
  require(index >= 0 && index < shape_[d], "select: index ", index, " is outside dimension ", d, " of ",
          shape_);
  return view(shape_.without(d), strides_.without(d), offset_ + index * strides_[d]);
}

std::vector<Tensor> Tensor::split(int64_t size, int64_t dim) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->split(*this, size, dim);
  const int d = checked_dim("split", dim, this->dim());
  require(size > 0, "split: pieces must have a positive size, got ", size);
  std::vector<Tensor> pieces;
  pieces.reserve(static_cast<size_t>((shape_[d] + size - 1) / size));
  for (int64_t start = 0; start < shape_[d]; start += size)
    pieces.push_back(narrow(d, start, std::min(size, shape_[d] - start)));
  return pieces;
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->unsqueeze(*this, dim);
  const int d = checked_dim("unsqueeze", dim, this->dim() + 1);
  Shape shape, strides;
  for (int i = 0; i <= this->dim(); ++i) {
    if (i == d) {
      shape.push_back(1);
      strides.push_back(1);
    }
    if (i == this->dim()) break;
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
  }
  return view(shape, strides, offset_);
}

Tensor Tensor::squeeze(int64_t dim) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->squeeze(*this, dim);
  const int d = checked_dim("squeeze", dim, this->dim());
  require(shape_[d] == 1, "squeeze: dimension ", d, " of ", shape_, " is not 1");
  return view(shape_.without(d), strides_.without(d), offset_);
}

Tensor Tensor::expand(const Shape& shape) const {
  if (Recorder* graph = recorder_of_method(*this)) return graph->expand(*this, shape);
  require(broadcast_shapes("expand", shape_, shape) == shape, "expand: ", shape_, " does not broadcast to ",
          shape);
  return view(shape, detail::broadcast_strides(shape_, strides_, shape), offset_);
}

}  // namespace cladtorch
