// The names of adapters in files.
#pragma once

#include <string>

#include "formats/hugging_face/architecture.h"

namespace cladtorch::formats {

/// PEFT wraps a model twice.
inline constexpr const char* adapter_prefix = "base_model.model.";

/// "transformer.h.0.attn.c_attn" for the layer "h.0.attn.c_attn".
std::string stored_layer_name(const Architecture& architecture, const std::string& layer);

/// "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight" for "h.0.attn.c_attn.lora_A".
std::string stored_adapter_name(const Architecture& architecture, const std::string& parameter);

}  // namespace cladtorch::formats
