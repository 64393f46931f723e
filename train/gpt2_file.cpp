#include "cladtorch/train/gpt2_file.h"

#include "cladtorch/io/conversion.h"
#include "cladtorch/io/safetensors_folder.h"

namespace cladtorch::train {
namespace {

constexpr const char* model_file = "model.safetensors";
constexpr const char* config_file = "config.json";

bool ends_with_any(const std::string& name, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

/// transformers calls these layers Conv1D and keeps their weights transposed.
bool stored_transposed(const std::string& name) {
  return ends_with_any(name,
                       {"attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"});
}

/// What files of older transformers hold beside the parameters: causal masks, and the tied embedding again.
bool is_redundant(const std::string& name) {
  return ends_with_any(name, {".attn.bias", ".attn.masked_bias"}) || name == "lm_head.weight";
}

/// The stored values as a dense float32 tensor of the stored shape.
Tensor to_float(const io::StoredTensor& stored, const std::string& where) {
  require(io::converts_to_float32(stored.type), where, " is ", io::stored_name(stored.type),
          ", expected a floating type such as F32, F16 or BF16");
  Tensor values = empty(Shape(std::span<const int64_t>(stored.shape)));
  io::to_float32(stored, {values.data<float>(), static_cast<size_t>(values.numel())});
  return values;
}

const io::StoredTensor* find(const io::StoredTensors& file, const std::string& name) {
  for (const std::string& candidate : {name, "transformer." + name}) {
    if (const auto found = file.tensors().find(candidate); found != file.tensors().end())
      return &found->second;
  }
  return nullptr;
}

/// Refuses a configuration far larger than the file before memory is asked for.
void check_size(const GPT2Config& config, const io::StoredTensors& file) {
  const auto c = static_cast<double>(config.n_embd);
  const double rows = static_cast<double>(config.vocab_size) + static_cast<double>(config.n_positions);
  const double described = rows * c + static_cast<double>(config.n_layer) * (12 * c * c + 13 * c);
  double stored = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    stored += static_cast<double>(io::element_count(tensor));
  }
  require(described <= 4 * stored + 1e6, "read '", file.path().string(), "': it holds ", stored,
          " numbers, but config.json describes a model of ", described, "; is it another model's file?");
}

}  // namespace

io::Json gpt2_config_json(const GPT2Config& config) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", config.vocab_size},
          {"n_positions", config.n_positions},
          {"n_ctx", config.n_positions},
          {"n_embd", config.n_embd},
          {"n_layer", config.n_layer},
          {"n_head", config.n_head},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", config.layer_norm_epsilon},
          {"resid_pdrop", config.dropout},
          {"embd_pdrop", config.dropout},
          {"attn_pdrop", 0.0},
          {"tie_word_embeddings", true},
          {"torch_dtype", "float32"}};
}

GPT2Config gpt2_config_from_json(const io::Json& json, const std::string& where) {
  const auto type = io::json_field<std::string>(json, "model_type", where);
  require(type == "gpt2", "read '", where, "': model_type is '", type, "', expected gpt2");
  const auto activation = io::json_field_or<std::string>(json, "activation_function", where, "gelu_new");
  require(activation == "gelu_new", "read '", where, "': activation_function is '", activation,
          "', expected gelu_new");
  for (const auto& [key, expected] : {std::pair{"tie_word_embeddings", true},
                                      {"scale_attn_weights", true},
                                      {"scale_attn_by_inverse_layer_idx", false}}) {
    require(io::json_field_or(json, key, where, expected) == expected, "read '", where, "': expected ", key,
            " to be ", expected ? "true" : "false");
  }
  GPT2Config config;
  config.vocab_size = io::json_field<int64_t>(json, "vocab_size", where);
  config.n_positions = io::json_field<int64_t>(json, "n_positions", where);
  config.n_embd = io::json_field<int64_t>(json, "n_embd", where);
  config.n_layer = io::json_field<int64_t>(json, "n_layer", where);
  config.n_head = io::json_field<int64_t>(json, "n_head", where);
  config.layer_norm_epsilon = io::json_field_or(json, "layer_norm_epsilon", where, 1e-5);
  config.dropout = io::json_field_or(json, "resid_pdrop", where, 0.0);
  try {
    validate(config);
  } catch (const Error& error) {
    fail("read '", where, "': ", error.what());
  }
  return config;
}

void save_gpt2(const GPT2& model, const std::filesystem::path& folder) {
  std::vector<Tensor> keep;  // the transposed copies, until they are written
  std::vector<std::pair<std::string, io::StoredTensor>> tensors;
  for_each_parameter(model, [&](const std::string& name, const Tensor& parameter) {
    require(parameter.dtype() == DType::float32, "save '", folder.string(), "': '", name, "' is ",
            parameter.dtype(), ", expected float32");
    keep.push_back((stored_transposed(name) ? parameter.transpose(0, 1) : parameter).contiguous());
    const Tensor& dense = keep.back();
    tensors.push_back({name,
                       {io::StoredType::f32,
                        {dense.shape().begin(), dense.shape().end()},
                        {static_cast<const std::byte*>(dense.data()), dense.nbytes()}}});
  });
  io::write_safetensors(folder / model_file, tensors, {{"format", "pt"}});
  io::write_json(folder / config_file, gpt2_config_json(model.config));
}

GPT2 load_gpt2(const std::filesystem::path& folder) {
  const std::string config_path = (folder / config_file).string();
  const io::SafetensorsFolder file(folder);
  const GPT2Config config = gpt2_config_from_json(io::read_json(config_path), config_path);
  check_size(config, file);
  GPT2 model(config);
  const std::string path = file.path().string();
  size_t used = 0;
  for_each_parameter(model, [&](const std::string& name, Tensor& parameter) {
    const io::StoredTensor* stored = find(file, name);
    require(stored != nullptr, "read '", path, "': there is no tensor '", name,
            "'; is it another model's file?");
    const Tensor values = to_float(*stored, "read '" + path + "': '" + name + "'");
    const bool transposed = stored_transposed(name);
    const Shape expected = transposed ? parameter.transpose(0, 1).shape() : parameter.shape();
    require(values.shape() == expected, "read '", path, "': '", name, "' is ", values.shape(), ", but ",
            config_file, " makes it ", expected);
    parameter.copy_from(transposed ? values.transpose(0, 1) : values);
    ++used;
  });
  for (const auto& [name, stored] : file.tensors()) {
    if (is_redundant(name)) ++used;
  }
  require(used == file.tensors().size(), "read '", path, "': it holds ", file.tensors().size(), " tensors, ",
          used, " of which a GPT-2 of ", model.config.n_layer, " layers has; is it another model's file?");
  return model;
}

}  // namespace cladtorch::train
