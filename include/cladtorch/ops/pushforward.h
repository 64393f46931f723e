// Forward mode through tensors: the tangent of an operation's result, written with operations that have
// pullbacks, so that it can be differentiated again. Include it where you call clad::pushforward,
// clad::differentiate or clad::hessian_vector_product for a function of tensors.
#pragma once

#include "cladtorch/ops/pushforward/along.h"
#include "cladtorch/ops/pushforward/arithmetic.h"
#include "cladtorch/ops/pushforward/attention.h"
#include "cladtorch/ops/pushforward/cumulative.h"
#include "cladtorch/ops/pushforward/fused.h"
#include "cladtorch/ops/pushforward/images.h"
#include "cladtorch/ops/pushforward/indexing.h"
#include "cladtorch/ops/pushforward/layers.h"
#include "cladtorch/ops/pushforward/linalg.h"
#include "cladtorch/ops/pushforward/loss.h"
#include "cladtorch/ops/pushforward/pairwise.h"
#include "cladtorch/ops/pushforward/pointwise.h"
#include "cladtorch/ops/pushforward/products.h"
#include "cladtorch/ops/pushforward/recurrent.h"
#include "cladtorch/ops/pushforward/shape.h"
#include "cladtorch/ops/pushforward/views.h"
