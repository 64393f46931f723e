// Adapters that PEFT saved, against what PEFT computed with them: scores, loss, every gradient, ten steps of
// AdamW on the adapter, and the merged model. generate_adapters.py wrote the folders.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/train/adamw.h"
#include "tests/hf/hf_reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> adapter_folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(testing::HFReference::folder("adapters")))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The handles on the adapter of a model, or of its gradient.
std::map<std::string, Tensor> adapter_tensors(const LanguageModel& model) {
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& parameter : model.parameters()) {
    if (is_lora_parameter(parameter.name)) tensors[parameter.name] = parameter.tensor;
  }
  return tensors;
}

TensorList adapter_list(const LanguageModel& model) {
  std::vector<NamedTensor> list;
  for (const auto& [name, tensor] : adapter_tensors(model)) list.push_back({name, tensor});
  return TensorList(list);
}

class AdapterHF : public ::testing::TestWithParam<std::string> {
 protected:
  AdapterHF()
      : folder_(testing::HFReference::folder("adapters") / GetParam()),
        file_(folder_ / "reference.safetensors"),
        model_(formats::load_model(folder_.parent_path().parent_path() / formats::adapter_base(folder_))) {
    formats::load_adapter(folder_, model_);
  }

  Tensor operator[](const std::string& name) const { return testing::tensor_of(file_.at(name)); }

  void expect_logits(const std::string& name) const {
    const Tensor logits = model_->logits((*this)["input_ids"]), expected = (*this)[name];
    ASSERT_EQ(logits.shape(), expected.shape());
    for (int64_t i = 0; i < logits.numel(); ++i)
      ASSERT_NEAR(logits.data<float>()[i], expected.data<float>()[i], 1e-4) << i;
  }

  fs::path folder_;
  io::SafetensorsFile file_;
  std::unique_ptr<LanguageModel> model_;
};

TEST_P(AdapterHF, LogitsAndLossAreThoseOfPeft) {
  expect_logits("logits");
  EXPECT_NEAR(model_->loss((*this)["input_ids"], (*this)["targets"]), (*this)["loss"].item(), 1e-5);
}

TEST_P(AdapterHF, MergedItHasTheLogitsOfPeftsMergedModel) {
  merge_lora(model_);
  EXPECT_FALSE(has_lora(*model_));
  expect_logits("merged");
}

TEST_P(AdapterHF, EveryGradientIsThatOfPeft) {
  const auto gradient = model_->gradient_like();
  model_->loss_and_gradient((*this)["input_ids"], (*this)["targets"], *gradient);
  const std::string prefix = "gradient/base_model.model.";
  size_t expected = 0;
  for (const auto& [name, stored] : file_.tensors()) expected += name.starts_with(prefix);
  const auto found = adapter_tensors(*gradient);
  EXPECT_EQ(found.size(), expected);
  for (const auto& [name, d] : found) {
    const std::string stored = (model_->type() == "gpt2" ? "transformer." : "") + name + ".weight";
    EXPECT_LT(testing::relative_difference(d, (*this)[prefix + stored]), 1e-3) << name;
  }
}

TEST_P(AdapterHF, TenStepsOfAdamWOnTheAdapterHaveTheLossesOfPeft) {
  const Tensor ids = (*this)["input_ids"], targets = (*this)["targets"], expected = (*this)["adamw/losses"];
  const auto gradient = model_->gradient_like();
  AdamW optimizer(adapter_list(*model_),
                  {.lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1});
  TensorList gradients = adapter_list(*gradient);
  ASSERT_EQ(expected.numel(), 10);
  for (int64_t step = 0; step < 10; ++step) {
    EXPECT_NEAR(model_->loss_and_gradient(ids, targets, *gradient), expected.select(0, step).item(), 1e-3)
        << step;
    optimizer.step(gradients);
  }
  EXPECT_LT(model_->loss(ids, targets), expected.select(0, 0).item());
}

TEST(AdapterFolders, AreAllThere) { EXPECT_EQ(adapter_folders().size(), 7u); }

INSTANTIATE_TEST_SUITE_P(All, AdapterHF, ::testing::ValuesIn(adapter_folders()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace cladtorch
