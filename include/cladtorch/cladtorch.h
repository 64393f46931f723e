// All that a program which makes, trains and keeps a model of its own needs: tensors, operations, layers,
// kernels on raw memory, optimizers, schedules, batches, gradient checks, saving and loading.
#pragma once

#include "clad/Differentiator/Differentiator.h"
#include "cladtorch/data/tensor_loader.h"
#include "cladtorch/formats/state_dict.h"
#include "cladtorch/kernels/kernels.h"
#include "cladtorch/nn/nn.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/tensor.h"
#include "cladtorch/tensor/workspace.h"
#include "cladtorch/testing/gradcheck.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/schedule.h"
#include "cladtorch/train/sgd.h"
#include "cladtorch/train/tensor_list.h"
