// All kernels on raw memory. They check nothing, keep nothing, and write where the caller says. Their
// parameters are the results, then the operands, then the sizes; the pullback of f is f_pullback, which also
// takes the pointers of the cotangents and gradients in the same order. A pullback adds to the gradients and
// leaves zero as the cotangent of what the kernel wrote (see contribution.h).
#pragma once

#include "cladtorch/kernels/arena.h"
#include "cladtorch/kernels/attention.h"
#include "cladtorch/kernels/contribution.h"
#include "cladtorch/kernels/encoder.h"
#include "cladtorch/kernels/layernorm.h"
#include "cladtorch/kernels/linear_cross_entropy.h"
#include "cladtorch/kernels/matmul.h"
#include "cladtorch/kernels/pointwise.h"
