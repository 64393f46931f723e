// How each kind of model lies in a folder of transformers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cladtorch/io/json.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/quote.h"

namespace cladtorch::formats {

struct Architecture {
  /// Values of model_type that it reads.
  std::vector<std::string> types;
  /// What a whole model's names have before those of the model without its head: "transformer.".
  std::string prefix;
  /// The parameter that a tied output layer shares.
  std::string embedding;
  /// How many numbers the model of a config.json has, as a double that does not overflow. Throws Error naming
  /// the file `where` for a model that is not implemented.
  double (*numbers)(const io::Json& config, const std::string& where);
  /// That model. Its weights are drawn, unless an nn::SkipInitialization says otherwise.
  std::unique_ptr<LanguageModel> (*make)(const io::Json& config, const std::string& where, DType dtype);
  /// Its config.json. The dtype is added by the caller.
  io::Json (*config)(const LanguageModel& model);
  /// The name in the file of the parameter `name`.
  std::string (*stored_name)(const std::string& name);
  /// Whether the file keeps the matrix `name` as [in, out].
  bool (*stored_transposed)(const std::string& name);
  /// Whether `name` is a tensor beside the parameters that some versions write and nobody needs.
  bool (*redundant)(const std::string& name);
};

extern const Architecture gpt2_architecture, llama_architecture;

/// The architecture of a model_type. Throws Error naming `where` and those that are known.
const Architecture& architecture_of(const std::string& type, const std::string& where);

inline constexpr const char* tied_key = "tie_word_embeddings";
/// The output layer's weight, in files and in models whose embeddings are not tied.
inline constexpr const char* head_name = "lm_head.weight";

/// Throws Error unless `config`'s `key` is absent, null or `expected`.
template <class T>
void expect_value(const io::Json& config, const char* key, const std::string& where, const T& expected) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null() || *found == expected) return;
  throw Error(fmt::format("read '{}': {} is {}, which is not implemented; expected {}", where, key,
                          shortened(found->dump(-1, ' ', true, io::Json::error_handler_t::replace)),
                          io::Json(expected).dump()));
}

/// The number of `key`, or `absent` where it is absent or null.
template <class T>
T field_or(const io::Json& config, const char* key, const std::string& where, T absent) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() ? absent : io::json_field<T>(config, key, where);
}

}  // namespace cladtorch::formats
