// Frozen parameters of a Llama: the gradients of the others.
#include "cladtorch/models/llama.h"

#include "models/llama/small_llama.h"
#include "tests/support/frozen_check.h"
#include "tests/support/model_gradient.h"

namespace cladtorch {
namespace {

TEST(LlamaFrozen, LeavesTheOtherGradientsAsTheyAre) {
  const std::pair<const char*, testing::IsFrozen> selections[] = {
      {"embeddings", [](const std::string& name) { return name.starts_with("model.embed"); }},
      {"all but attention", [](const std::string& name) { return name.find("self_attn") == name.npos; }},
      {"all but gates", [](const std::string& name) { return name.find("gate_proj") == name.npos; }},
      {"all but norms", [](const std::string& name) { return name.find("norm") == name.npos; }},
      {"all but keys of the last block",
       [](const std::string& name) { return name != "model.layers.3.self_attn.k_proj.weight"; }},
      {"the beginning",
       [](const std::string& name) {
         return name.starts_with("model.embed") || name.starts_with("model.layers.0") ||
                name.starts_with("model.layers.1.mlp");
       }},
  };
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const bool tied : {true, false}) {
      for (const bool checkpointing : {false, true}) {
        LlamaConfig config = llama_preset("llama-toy");
        config.num_hidden_layers = 4;
        config.tie_word_embeddings = tied;
        config.gradient_checkpointing = checkpointing;
        config.dtype = dtype;
        Llama model(config);
        const testing::Batch batch = testing::batch_for(config.vocab_size, 3, 40);
        for (const auto& [name, is_frozen] : selections) {
          SCOPED_TRACE(::testing::Message()
                       << name << (tied ? " tied" : "") << (checkpointing ? " checkpoints " : " ") << dtype);
          testing::expect_freezing_keeps_gradients(model, batch.tokens, batch.targets, is_frozen);
        }
      }
    }
  }
}

TEST(LlamaFrozen, LeavesTheOtherGradientsAsTheyAreForAnySubset) {
  Random random(37);
  int number = 0;
  for (LlamaConfig config : testing::odd_llamas()) {
    for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
      config.dtype = dtype;
      config.gradient_checkpointing = ++number % 2 == 0;
      LoRALlama model(config, 7);
      const testing::Batch batch = testing::batch_for(config.vocab_size, 3, 8);
      SCOPED_TRACE(::testing::Message() << "odd llama " << number << ' ' << dtype);
      testing::expect_freezing_any_subset_keeps_gradients(model, batch.tokens, batch.targets, random, 4);
    }
  }
}

}  // namespace
}  // namespace cladtorch
