// All layers.
#pragma once

#include "cladtorch/nn/attention.h"
#include "cladtorch/nn/embedding_bag.h"
#include "cladtorch/nn/encoder_decoder.h"
#include "cladtorch/nn/images.h"
#include "cladtorch/nn/init.h"
#include "cladtorch/nn/layers.h"
#include "cladtorch/nn/llama.h"
#include "cladtorch/nn/lora.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/nn/recurrent.h"
#include "cladtorch/nn/sequential.h"
#include "cladtorch/nn/small_layers.h"
#include "cladtorch/nn/summary.h"
#include "cladtorch/nn/transformer.h"
