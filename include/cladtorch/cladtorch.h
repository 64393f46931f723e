// The whole library for model code: tensors, operations, layers, and kernels on raw memory.
#pragma once

#include "cladtorch/kernels/kernels.h"
#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/tensor.h"
#include "cladtorch/tensor/workspace.h"
