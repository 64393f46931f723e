// All operations.
#pragma once

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/along.h"
#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/attention.h"
#include "cladtorch/ops/composed.h"
#include "cladtorch/ops/count.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/ops/embedding.h"
#include "cladtorch/ops/float8.h"
#include "cladtorch/ops/fused.h"
#include "cladtorch/ops/loss.h"
#include "cladtorch/ops/matmul.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/ops/rotary.h"
#include "cladtorch/ops/views.h"
