#include "cladtorch/train/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/safetensors.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// A loss that is the sum of squares of one bias, shifted to where that of an untrained model lies.
class SmallLoss : public LanguageModelOf<GPT2> {
 public:
  using LanguageModelOf::LanguageModelOf;
  double loss(const Tensor&, const Tensor&) const override {
    const Tensor& bias = model().ln_f.bias;
    double sum = std::log(static_cast<double>(model().config.vocab_size));
    for (int64_t i = 0; i < bias.numel(); ++i)
      sum += std::pow(static_cast<double>(bias.data<float>()[i]) - 0.1, 2);
    return sum;
  }
  double loss_and_gradient(const Tensor& tokens, const Tensor& targets, LanguageModel& gradient,
                           double weight) const override {
    float* d_bias = own(gradient).model().ln_f.bias.data<float>();
    for (int64_t i = 0; i < model().ln_f.bias.numel(); ++i)
      d_bias[i] += static_cast<float>(weight) * 2 * (model().ln_f.bias.data<float>()[i] - 0.1f);
    return weight * loss(tokens, targets);
  }

 protected:
  std::unique_ptr<LanguageModel> with(GPT2 model) const override {
    return std::make_unique<SmallLoss>(std::move(model));
  }
};

std::unique_ptr<LanguageModel> small_model(const BenchOptions& options) {
  return std::make_unique<SmallLoss>(*model_if<GPT2>(*bench_model(options)));
}

GPT2 load_gpt2(const std::filesystem::path& folder) { return *model_if<GPT2>(*formats::load_model(folder)); }

const BenchOptions toy = {.model = "toy", .batch = 2, .seq = 5};

std::vector<nlohmann::json> serve(const BenchOptions& options, const std::string& requests) {
  std::istringstream in(requests);
  std::ostringstream out;
  serve_bench(options, small_model(options), in, out);
  std::vector<nlohmann::json> answers;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  return answers;
}

TEST(BenchDump, HoldsTheWeightsTheBatchTheLossAndTheGradient) {
  const io::TemporaryFolder folder;
  dump_bench(toy, small_model(toy), folder.path());
  const GPT2 weights = load_gpt2(folder / "weights"), gradient = load_gpt2(folder / "gradient");
  EXPECT_EQ(weights.config.vocab_size, 65);
  EXPECT_NE(weights.wte.weight.data<float>()[0], 0.0f);
  EXPECT_EQ(gradient.wte.weight.data<float>()[0], 0.0f);
  EXPECT_FLOAT_EQ(gradient.ln_f.bias.data<float>()[0], -0.2f);
  const io::SafetensorsFile batch(folder / "batch.safetensors");
  EXPECT_EQ(batch.at("tokens").shape, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(batch.at("targets").shape, (std::vector<int64_t>{2, 5}));
  double loss = 0;
  std::memcpy(&loss, batch.at("loss").data.data(), sizeof loss);
  EXPECT_NEAR(loss, std::log(65.0) + 32 * 0.01, 1e-6);
}

TEST(BenchDump, IsWhatAnotherRunLoads) {
  const io::TemporaryFolder first, second;
  dump_bench(toy, small_model(toy), first.path());
  BenchOptions smaller = toy;
  smaller.model = "no such model";
  smaller.load = first.path();
  smaller.seq = 3;
  dump_bench(smaller, small_model(smaller), second.path());
  const GPT2 a = load_gpt2(first / "weights"), b = load_gpt2(second / "weights");
  EXPECT_EQ(a.wte.weight.data<float>()[7], b.wte.weight.data<float>()[7]);
  const auto token = [](const io::TemporaryFolder& folder, size_t index) {
    int32_t value = 0;
    const io::SafetensorsFile batch(folder / "batch.safetensors");
    std::memcpy(&value, batch.at("tokens").data.data() + index * sizeof value, sizeof value);
    return value;
  };
  EXPECT_EQ(token(second, 0), token(first, 0));
  EXPECT_EQ(token(second, 3), token(first, 5));  // the second row
  smaller.seq = 6;
  EXPECT_THROW(dump_bench(smaller, small_model(smaller), second.path()), Error);
}

TEST(BenchWorker, AnswersEachLineWithAsManyTimes) {
  const auto answers = serve(toy, "forward 2\nforward_backward 3\ngenerate 4\n");
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_NEAR(answers[0]["loss"].get<double>(), std::log(65.0) + 32 * 0.01, 1e-6);
  EXPECT_THAT(answers[1]["ms"], SizeIs(2));
  EXPECT_THAT(answers[2]["ms"], SizeIs(3));
  EXPECT_THAT(answers[3]["ms"], SizeIs(4));
}

TEST(BenchWorker, OnlyAStepChangesTheWeights) {
  const auto answers = serve(toy, "forward 1\nforward_backward 3\nforward 1\nstep 2\nforward 1\n");
  ASSERT_THAT(answers, SizeIs(6));
  EXPECT_LT(answers[1]["loss"], answers[0]["loss"]);
  EXPECT_EQ(answers[3]["loss"], answers[1]["loss"]);
  EXPECT_LT(answers[5]["loss"], answers[3]["loss"]);
}

TEST(BenchWorker, RefusesWhatItDoesNotKnow) {
  for (const char* line : {"backward 1\n", "forward\n", "forward 0\n", "forward 1 2\n", "forward x\n"}) {
    EXPECT_THROW(serve(toy, line), Error) << line;
  }
}

}  // namespace
}  // namespace cladtorch::train
