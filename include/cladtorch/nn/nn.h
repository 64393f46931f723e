// All layers.
#pragma once

#include "cladtorch/nn/layers.h"
#include "cladtorch/nn/llama.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/nn/transformer.h"
