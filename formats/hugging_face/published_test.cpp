// The config.json of published models, with all of their keys and the values that decide how they are read;
// sizes are made small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/formats/convert.h"
#include "cladtorch/formats/hugging_face.h"
#include "formats/hugging_face/architecture.h"
#include "io/temporary_folder.h"

namespace cladtorch::formats {
namespace {

struct Published {
  const char* name;
  const char* config;
  const char* type;
  ModelSizes sizes;
};

void PrintTo(const Published& model, std::ostream* out) { *out << model.name; }

// In the order of names of the models' pages, as their files were in 2024 and 2025.
const Published published[] = {
    {"gpt2",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
         "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 64, "n_embd": 24, "n_head": 12, "n_layer": 2,
         "n_positions": 64, "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1,
         "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 257})",
     "gpt2",
     {257, 64, 2, 12, 12, 24, 0}},
    {"gpt2-medium",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
         "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 64, "n_embd": 32, "n_head": 16, "n_layer": 3,
         "n_positions": 64, "n_special": 0, "predict_special_tokens": true, "resid_pdrop": 0.1,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 257})",
     "gpt2",
     {257, 64, 3, 16, 16, 32, 0}},
    {"gpt2-xl",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
         "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 64, "n_embd": 50, "n_head": 25, "n_layer": 2,
         "n_positions": 64, "output_past": true, "resid_pdrop": 0.1, "summary_activation": null,
         "summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_type": "cls_index",
         "summary_use_proj": true, "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
         "vocab_size": 257})",
     "gpt2",
     {257, 64, 2, 25, 25, 50, 0}},
    {"distilgpt2",
     R"({"_num_labels": 1, "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "id2label": {"0": "LABEL_0"},
         "initializer_range": 0.02, "label2id": {"LABEL_0": 0}, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
         "n_ctx": 64, "n_embd": 24, "n_head": 12, "n_layer": 1, "n_positions": 64, "resid_pdrop": 0.1,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 257})",
     "gpt2",
     {257, 64, 1, 12, 12, 24, 0}},
    {"gpt2, saved by transformers 5, computed in half precision",
     R"({"activation_function": "gelu_new", "add_cross_attention": false, "architectures": ["GPT2LMHeadModel"],
         "attn_pdrop": 0.1, "bos_token_id": 50256, "dtype": "bfloat16", "embd_pdrop": 0.1, "eos_token_id": 50256,
         "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_embd": 24, "n_head": 12,
         "n_inner": null, "n_layer": 1, "n_positions": 64, "pad_token_id": null, "reorder_and_upcast_attn": true,
         "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true, "tie_word_embeddings": true,
         "transformers_version": "5.0.0", "use_cache": true, "vocab_size": 304})",
     "gpt2",
     {304, 64, 1, 12, 12, 24, 0}},
    {"alias-gpt2-small-x21, trained with another scale of attention",
     R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
         "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "gradient_checkpointing": false,
         "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 64, "n_embd": 24,
         "n_head": 12, "n_inner": null, "n_layer": 2, "n_positions": 64, "reorder_and_upcast_attn": true,
         "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": true, "scale_attn_weights": true,
         "summary_activation": null, "summary_first_dropout": 0.2, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 1024}}, "torch_dtype": "float32",
         "transformers_version": "4.12.5", "use_cache": false, "vocab_size": 257})",
     "gpt2",
     {257, 64, 2, 12, 12, 24, 0}},
    {"llama-7b, of the first generation",
     R"({"architectures": ["LLaMAForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
         "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 44, "max_position_embeddings": 64,
         "max_sequence_length": 64, "model_type": "llama", "num_attention_heads": 8, "num_hidden_layers": 2,
         "pad_token_id": -1, "rms_norm_eps": 1e-06, "torch_dtype": "float16", "transformers_version": "4.27.0.dev0",
         "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 64, 2, 8, 8, 32, 0}},
    {"Llama-2-7b-hf",
     R"({"_name_or_path": "meta-llama/Llama-2-7b-hf", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1,
         "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02,
         "intermediate_size": 44, "max_position_embeddings": 64, "model_type": "llama", "num_attention_heads": 8,
         "num_hidden_layers": 2, "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_scaling": null, "tie_word_embeddings": false, "torch_dtype": "float16",
         "transformers_version": "4.31.0.dev0", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 64, 2, 8, 8, 32, 0}},
    {"Meta-Llama-3-8B",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "eos_token_id": 128001, "hidden_act": "silu", "hidden_size": 32,
         "initializer_range": 0.02, "intermediate_size": 56, "max_position_embeddings": 64, "model_type": "llama",
         "num_attention_heads": 8, "num_hidden_layers": 2, "num_key_value_heads": 2, "pretraining_tp": 1,
         "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 500000.0, "tie_word_embeddings": false,
         "torch_dtype": "bfloat16", "transformers_version": "4.40.0.dev0", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 64, 2, 8, 2, 32, 0}},
    {"Llama-3.1-8B-Instruct",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 32,
         "initializer_range": 0.02, "intermediate_size": 56, "max_position_embeddings": 1024, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 8, "num_hidden_layers": 2, "num_key_value_heads": 2,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
         "high_freq_factor": 4.0, "original_max_position_embeddings": 64, "rope_type": "llama3"},
         "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.42.3", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 1024, 2, 8, 2, 32, 0}},
    {"Llama-3.2-1B",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 8, "hidden_act": "silu", "hidden_size": 32,
         "initializer_range": 0.02, "intermediate_size": 64, "max_position_embeddings": 1024, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 1,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
         "low_freq_factor": 1.0, "original_max_position_embeddings": 64, "rope_type": "llama3"},
         "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 1024, 2, 4, 1, 32, 0}},
    {"Llama-3.2-1B, saved by transformers 5",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "dtype": "bfloat16", "eos_token_id": 128001, "head_dim": 8, "hidden_act": "silu",
         "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 64, "max_position_embeddings": 1024,
         "mlp_bias": false, "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 2,
         "num_key_value_heads": 1, "pad_token_id": null, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_parameters": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
         "original_max_position_embeddings": 64, "rope_theta": 500000.0, "rope_type": "llama3"},
         "tie_word_embeddings": true, "transformers_version": "5.0.0", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 1024, 2, 4, 1, 32, 0}},
    {"TinyLlama-1.1B-Chat-v1.0",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 44,
         "max_position_embeddings": 64, "model_type": "llama", "num_attention_heads": 8, "num_hidden_layers": 2,
         "num_key_value_heads": 1, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
         "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.35.0", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 64, 2, 8, 1, 32, 0}},
    {"SmolLM2-135M",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 0,
         "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 36, "initializer_range": 0.041666666666666664,
         "intermediate_size": 96, "is_llama_config": true, "max_position_embeddings": 64, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 2, "num_key_value_heads": 3,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null,
         "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.40.1", "use_cache": true, "vocab_size": 320})",
     "llama",
     {320, 64, 2, 9, 3, 36, 0}},
    {"Mistral-7B-v0.1",
     R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
         "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 56, "max_position_embeddings": 256,
         "model_type": "mistral", "num_attention_heads": 8, "num_hidden_layers": 2, "num_key_value_heads": 2,
         "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 32, "tie_word_embeddings": false,
         "torch_dtype": "bfloat16", "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 320})",
     "mistral",
     {320, 256, 2, 8, 2, 32, 32}},
    {"Mistral-7B-Instruct-v0.2",
     R"({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 56,
         "max_position_embeddings": 256, "model_type": "mistral", "num_attention_heads": 8, "num_hidden_layers": 2,
         "num_key_value_heads": 2, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "sliding_window": null,
         "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.36.0",
         "use_cache": true, "vocab_size": 320})",
     "mistral",
     {320, 256, 2, 8, 2, 32, 0}},
    {"Mistral-7B-v0.3",
     R"({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
         "head_dim": null, "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02,
         "intermediate_size": 56, "max_position_embeddings": 256, "model_type": "mistral",
         "num_attention_heads": 8, "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-05,
         "rope_theta": 1000000.0, "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.42.0.dev0", "use_cache": true, "vocab_size": 328})",
     "mistral",
     {328, 256, 2, 8, 2, 32, 0}},
};

class PublishedModel : public testing::TestWithParam<Published> {
 protected:
  PublishedModel() {
    const Architecture& architecture = architecture_of(GetParam().type, "");
    save_parameters(*architecture.make(config, "config.json", DType::float32), folder / "model.safetensors");
    io::write_json(folder / "config.json", config);
  }
  const io::Json config = io::Json::parse(GetParam().config);
  const io::TemporaryFolder folder;
};

TEST_P(PublishedModel, IsReadAsWhatItIs) {
  const auto model = load_model(folder.path());
  const ModelSizes sizes = model->sizes(), &expected = GetParam().sizes;
  EXPECT_EQ(model->type(), GetParam().type);
  EXPECT_EQ(sizes.vocab_size, expected.vocab_size);
  EXPECT_EQ(sizes.context, expected.context);
  EXPECT_EQ(sizes.layers, expected.layers);
  EXPECT_EQ(sizes.heads, expected.heads);
  EXPECT_EQ(sizes.key_value_heads, expected.key_value_heads);
  EXPECT_EQ(sizes.channels, expected.channels);
  EXPECT_EQ(sizes.window, expected.window);
}

/// All of the keys, and in the new folder again the same model.
TEST_P(PublishedModel, KeepsItsKeysWhenItIsWrittenAgain) {
  convert_model(folder.path(), folder / "copy", {});
  const io::Json copy = io::read_json(folder / "copy" / "config.json");
  for (const auto& [key, value] : config.items()) {
    if (key == "torch_dtype" || key == "dtype" || key == "architectures") continue;  // of what was written
    // What is absent here has a value there.
    if (value.is_null() || value == -1) continue;
    EXPECT_EQ(nlohmann::json(copy[key]), nlohmann::json(value)) << key;  // in whatever order
  }
  EXPECT_EQ(copy["torch_dtype"], "float32");
  EXPECT_EQ(difference(folder / "copy", *load_model(folder.path())), "");
}

INSTANTIATE_TEST_SUITE_P(All, PublishedModel, testing::ValuesIn(published), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace cladtorch::formats
