// A GPT-2 on disk as Hugging Face's transformers writes it: model.safetensors and config.json.
#pragma once

#include <filesystem>

#include "cladtorch/io/json.h"
#include "cladtorch/models/gpt2.h"

namespace cladtorch::train {

/// The keys of a GPT2Config in transformers, and back. Reading throws Error, naming `where`, for another kind
/// of model or a GPT-2 that is built differently (activation, untied embeddings).
io::Json gpt2_config_json(const GPT2Config& config);
GPT2Config gpt2_config_from_json(const io::Json& json, const std::string& where);

/// Writes both files into `folder`, which must exist. Names are transformers' own, and so is the layout: the
/// weights of c_attn, c_fc and c_proj are stored [in, out].
void save_gpt2(const GPT2& model, const std::filesystem::path& folder);

/// Reads both files. Takes names with and without the "transformer." prefix and weights in float32, float16
/// and bfloat16. Throws Error naming the file and the tensor when they do not fit each other.
GPT2 load_gpt2(const std::filesystem::path& folder);

}  // namespace cladtorch::train
