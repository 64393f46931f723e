// GPT-2 in llm.c's format: one .bin file with a header of 256 int32 and the parameters.
// Source: https://github.com/karpathy/llm.c, train_gpt2.py and dev/eval/export_hf.py.
#pragma once

#include <filesystem>
#include <memory>

#include "cladtorch/io/stored_tensor.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::formats {

/// Whether `file` begins like a model file of llm.c.
bool is_llmc_model(const std::filesystem::path& file);

/// The element type of the file's numbers: f32 or bf16. Throws Error as load_llmc() does.
io::StoredType llmc_stored_type(const std::filesystem::path& file);

/// Reads a model file of version 3 (float32) or 5 (bfloat16). The rows that pad the vocabulary are left out.
/// Throws Error naming the file when its length does not fit its header.
std::unique_ptr<LanguageModel> load_llmc(const std::filesystem::path& file, DType dtype = DType::float32);

/// Writes version 3 for f32 and version 5 for bf16, atomically; the vocabulary is padded to a multiple of 128
/// with zeros. Throws Error for a model that llm.c cannot express, which is anything but a GPT-2 with biases,
/// tied embeddings and a layer_norm_epsilon of 1e-5.
void save_llmc(const LanguageModel& model, const std::filesystem::path& file,
               io::StoredType type = io::StoredType::f32);

}  // namespace cladtorch::formats
