// Pullbacks of Tensor's own methods. None of them keeps a value, only shapes.
#pragma once

#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/tensor.h"

namespace clad::custom_derivatives::class_functions {
using ::cladtorch::DType;
using ::cladtorch::Shape;
using ::cladtorch::ShapeState;
using ::cladtorch::Tensor;

double item_reverse_forw(const Tensor* self, pullback_state<ShapeState>& state);
void item_pullback(CLAD_UNUSED const Tensor* self, double d_y, Tensor* d_self,
                   pullback_state<ShapeState>& state);

Tensor reshape_reverse_forw(const Tensor* self, const Shape& shape, pullback_state<ShapeState>& state);
void reshape_pullback(CLAD_UNUSED const Tensor* self, const Shape& shape, Tensor d_y, Tensor* d_self,
                      pullback_state<ShapeState>& state);

Tensor flatten_reverse_forw(const Tensor* self, pullback_state<ShapeState>& state);
void flatten_pullback(CLAD_UNUSED const Tensor* self, Tensor d_y, Tensor* d_self,
                      pullback_state<ShapeState>& state);

void transpose_pullback(CLAD_UNUSED const Tensor* self, int64_t dim0, int64_t dim1, Tensor d_y,
                        Tensor* d_self);

void permute_pullback(CLAD_UNUSED const Tensor* self, const Shape& dims, Tensor d_y, Tensor* d_self);

Tensor narrow_reverse_forw(const Tensor* self, int64_t dim, int64_t start, int64_t length,
                           pullback_state<ShapeState>& state);
void narrow_pullback(CLAD_UNUSED const Tensor* self, int64_t dim, int64_t start, int64_t length, Tensor d_y,
                     Tensor* d_self, pullback_state<ShapeState>& state);

Tensor slice_reverse_forw(const Tensor* self, int64_t dim, int64_t start, int64_t end,
                          pullback_state<ShapeState>& state);
void slice_pullback(CLAD_UNUSED const Tensor* self, int64_t dim, int64_t start, int64_t end, Tensor d_y,
                    Tensor* d_self, pullback_state<ShapeState>& state);

Tensor select_reverse_forw(const Tensor* self, int64_t dim, int64_t index, pullback_state<ShapeState>& state);
void select_pullback(CLAD_UNUSED const Tensor* self, int64_t dim, int64_t index, Tensor d_y, Tensor* d_self,
                     pullback_state<ShapeState>& state);

std::vector<Tensor> split_reverse_forw(const Tensor* self, int64_t size, int64_t dim,
                                       pullback_state<ShapeState>& state);
void split_pullback(CLAD_UNUSED const Tensor* self, int64_t size, int64_t dim, std::vector<Tensor> d_y,
                    Tensor* d_self, pullback_state<ShapeState>& state);

Tensor unsqueeze_reverse_forw(const Tensor* self, int64_t dim, pullback_state<ShapeState>& state);
void unsqueeze_pullback(CLAD_UNUSED const Tensor* self, int64_t dim, Tensor d_y, Tensor* d_self,
                        pullback_state<ShapeState>& state);

Tensor squeeze_reverse_forw(const Tensor* self, int64_t dim, pullback_state<ShapeState>& state);
void squeeze_pullback(CLAD_UNUSED const Tensor* self, int64_t dim, Tensor d_y, Tensor* d_self,
                      pullback_state<ShapeState>& state);

Tensor expand_reverse_forw(const Tensor* self, const Shape& shape, pullback_state<ShapeState>& state);
void expand_pullback(CLAD_UNUSED const Tensor* self, const Shape& shape, Tensor d_y, Tensor* d_self,
                     pullback_state<ShapeState>& state);

void contiguous_pullback(CLAD_UNUSED const Tensor* self, Tensor d_y, Tensor* d_self);
void clone_pullback(CLAD_UNUSED const Tensor* self, Tensor d_y, Tensor* d_self);

Tensor to_reverse_forw(const Tensor* self, DType dtype, pullback_state<ShapeState>& state);
void to_pullback(CLAD_UNUSED const Tensor* self, DType dtype, Tensor d_y, Tensor* d_self,
                 pullback_state<ShapeState>& state);
}  // namespace clad::custom_derivatives::class_functions
