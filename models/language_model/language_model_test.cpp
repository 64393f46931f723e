#include "cladtorch/models/language_model.h"

#include <gmock/gmock.h>

#include "cladtorch/models/lora.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

using ::testing::HasSubstr;
using testing::random_tokens;
using testing::relative_difference;
using ::testing::ThrowsMessage;

/// A model of another kind than those of the library.
struct Bigram {
  struct Config {
    int64_t vocab_size = 5;
    DType dtype = DType::float32;
    bool gradient_checkpointing = false;
  } config;
  struct Cache {
    Cache(const Config&, int64_t) {}
    int64_t length = 0;
  };
  Tensor table = ones({5, 5});

  Tensor logits(const Tensor& ids) const { return embedding(ids, table); }
  Tensor decode(const Tensor& ids, Cache& cache) const {
    cache.length += ids.size(1);
    return logits(ids).select(1, ids.size(1) - 1);
  }
  Bigram to(DType dtype) const { return {{5, dtype, false}, table.to(dtype)}; }
  CLADTORCH_PARAMETERS(table)
};

double loss(const Bigram& model, const Tensor& tokens, const Tensor& targets) {
  return cross_entropy(model.logits(tokens), targets).item();
}
double loss_and_gradient(const Bigram& model, const Tensor& tokens, const Tensor& targets, Bigram* gradient,
                         double weight) {
  gradient->table.accumulate(scale(model.table, weight));
  return weight * loss(model, tokens, targets);
}
double decode_loss(const Bigram& model, const Tensor& tokens, const Tensor& targets, Bigram::Cache& cache) {
  cache.length += tokens.size(1);
  return loss(model, tokens, targets);
}
double flops_per_token(const Bigram::Config& config, int64_t) {
  return static_cast<double>(config.vocab_size);
}

}  // namespace

template <>
struct LanguageModelTraits<Bigram> {
  using Cache = Bigram::Cache;
  static std::string type(const Bigram::Config&) { return "bigram"; }
  static ModelSizes sizes(const Bigram::Config& config) {
    return {.vocab_size = config.vocab_size, .context = 2, .layers = 1, .heads = 4, .key_value_heads = 2};
  }
};

namespace {

TEST(LanguageModel, DescribesGpt2) {
  const auto model = as_language_model(GPT2(gpt2_preset("toy")));
  EXPECT_EQ(model->type(), "gpt2");
  const ModelSizes sizes = model->sizes();
  EXPECT_EQ(sizes.vocab_size, 65);
  EXPECT_EQ(sizes.context, 64);
  EXPECT_EQ(describe(sizes), "2 layers, 4 heads, 32 channels");
  EXPECT_EQ(describe({.layers = 1, .heads = 4, .key_value_heads = 2, .channels = 8, .window = 3}),
            "1 layers, 4 heads, 2 of keys and values, a window of 3, 8 channels");
  EXPECT_EQ(model->dtype(), DType::float32);
  EXPECT_EQ(model->parameter_count(), parameter_count(*model_if<GPT2>(*model)));
  EXPECT_EQ(model->parameters().front().name, "wte.weight");
  EXPECT_EQ(model_if<Bigram>(*model), nullptr);
  EXPECT_FALSE(model->gradient_checkpointing());
  model->set_gradient_checkpointing(true);
  EXPECT_TRUE(model_if<GPT2>(*model)->config.gradient_checkpointing);
}

TEST(LanguageModel, ItsParametersAreTheModelsOwn) {
  const GPT2 model(gpt2_preset("toy"));
  const auto handle = as_language_model(model);
  EXPECT_TRUE(handle->parameters()[0].tensor.shares_storage_with(model.wte.weight));
  EXPECT_TRUE(handle->to(DType::float32)->parameters()[0].tensor.shares_storage_with(model.wte.weight));
  const auto narrow = handle->to(DType::bfloat16);
  EXPECT_EQ(narrow->dtype(), DType::bfloat16);
  EXPECT_EQ(narrow->parameters()[0].tensor.dtype(), DType::bfloat16);
  const Tensor d = narrow->gradient_like()->parameters()[0].tensor;
  EXPECT_EQ(d.dtype(), DType::float32);
  EXPECT_TRUE(d.is_marked_zero());
}

TEST(LanguageModel, ComputesWhatTheModelComputes) {
  const GPT2 model(gpt2_preset("toy"));
  const auto handle = as_language_model(model);
  const Tensor ids = random_tokens({2, 9}, 65, 1), targets = random_tokens({2, 9}, 65, 2);
  EXPECT_EQ(handle->loss(ids, targets), loss(model, ids, targets));
  EXPECT_EQ(relative_difference(handle->logits(ids), model.logits(ids)), 0);
  EXPECT_EQ(handle->flops_per_token(9), flops_per_token(model.config, 9));

  const auto cache = handle->make_cache(2);
  handle->decode(ids.narrow(1, 0, 4), *cache);
  EXPECT_EQ(cache->length(), 4);
  cache->clear();
  EXPECT_EQ(cache->length(), 0);
  handle->decode(ids.narrow(1, 0, 8), *cache);
  const Tensor scores = handle->decode(ids.narrow(1, 8, 1), *cache);
  EXPECT_LT(relative_difference(scores, model.logits(ids).select(1, 8)), 1e-5);
}

TEST(LanguageModel, GivesTheLossAfterWhatACacheHolds) {
  const Tensor ids = random_tokens({2, 9}, 65, 1), targets = random_tokens({2, 9}, 65, 2);
  Tensor later = targets.clone();  // those of the first five positions are left out
  for (int64_t row = 0; row < 2; ++row) std::fill_n(later.data<int32_t>() + 9 * row, 5, -100);
  for (const auto& handle :
       {as_language_model(GPT2(gpt2_preset("toy"))), as_language_model(Llama(llama_preset("llama-toy")))}) {
    const auto cache = handle->make_cache(2);
    handle->decode(ids.narrow(1, 0, 5), *cache);
    for (int i = 0; i < 2; ++i) {  // twice from the same beginning
      EXPECT_NEAR(handle->decode_loss(ids.narrow(1, 5, 4), targets.narrow(1, 5, 4), *cache),
                  handle->loss(ids, later), 1e-5)
          << handle->type();
      EXPECT_EQ(cache->length(), 9);
      cache->truncate(5);
      EXPECT_EQ(cache->length(), 5);
    }
    cache->truncate(7);
    EXPECT_EQ(cache->length(), 5);
  }
}

TEST(LanguageModel, GivesTheGradientOrSaysWhyThereIsNone) {
  const GPT2 model(gpt2_preset("toy"));
  const auto handle = as_language_model(model), gradient = handle->gradient_like();
  const Tensor ids = random_tokens({2, 9}, 65, 1), targets = random_tokens({2, 9}, 65, 2);
#ifdef CLADTORCH_WITH_CLAD
  GPT2 expected = like(model);
  EXPECT_EQ(handle->loss_and_gradient(ids, targets, *gradient),
            loss_and_gradient(model, ids, targets, &expected));
  const std::vector<NamedTensor> expected_list = named_parameters(expected), list = gradient->parameters();
  ASSERT_EQ(list.size(), expected_list.size());
  for (size_t i = 0; i < list.size(); ++i)
    EXPECT_EQ(relative_difference(list[i].tensor, expected_list[i].tensor), 0) << list[i].name;
#else
  EXPECT_THAT([&] { handle->loss_and_gradient(ids, targets, *gradient); },
              ThrowsMessage<Error>(HasSubstr("no compiler plugin")));
#endif
}

TEST(LanguageModel, TakesAModelOfAnotherKind) {
  const auto bigram = as_language_model(Bigram());
  const Tensor ids = random_tokens({1, 2}, 5, 1);
  EXPECT_EQ(bigram->type(), "bigram");
  EXPECT_EQ(bigram->flops_per_token(2), 5);
  const auto gradient = bigram->gradient_like();
  EXPECT_NEAR(bigram->loss_and_gradient(ids, ids, *gradient), std::log(5.0), 1e-6);
  EXPECT_EQ(gradient->parameters()[0].tensor.data<float>()[0], 1);

  const auto gpt2 = as_language_model(GPT2(gpt2_preset("toy")));
  const auto cache = gpt2->make_cache(1);
  EXPECT_THAT([&] { bigram->decode(ids, *cache); },
              ThrowsMessage<Error>(HasSubstr("of another kind than bigram")));
  EXPECT_THAT([&] { bigram->loss_and_gradient(ids, ids, *gpt2); },
              ThrowsMessage<Error>(HasSubstr("of another kind: gpt2, expected bigram")));
}

TEST(LanguageModel, WithoutAChoiceOfLinearLayersCannotHaveAdapters) {
  auto model = as_language_model(Bigram());
  EXPECT_EQ(testing::error_of([&] { add_lora(model, {.targets = {"all-linear"}}, 1); }),
            "lora: the linear layers of a bigram cannot have adapters; make it a template of their kind, "
            "template <class LinearLayer> struct Model, as BasicGPT2");
  merge_lora(model);
  EXPECT_NE(model_if<Bigram>(*model), nullptr);
}

}  // namespace
}  // namespace cladtorch
