// C++ that pages quote and that nothing else has compiled. snippets_test.cpp checks the quotes.
#include <gtest/gtest.h>

#include <filesystem>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/batch.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/lora.h"
#include "io/temporary_folder.h"

namespace cladtorch {
namespace {

TEST(Pages, DataMakesBatchesOfAText) {
  const io::TemporaryFolder folder;
  folder.write("input.txt", std::string(4000, 'a') + "bc");
  std::filesystem::current_path(folder.path());
  const uint64_t seed = 1;
  const data::Dataset text = data::open_dataset("input.txt");
  data::Loader loader(text.train, {.batch = 12, .time = 64}, seed);
  data::Batch batch(loader.shape());
  data::next(loader, batch);
  EXPECT_EQ(batch.tokens.shape(), (Shape{12, 64}));
  EXPECT_EQ(batch.targets.dtype(), DType::int32);
  std::filesystem::current_path("/");
}

TEST(Pages, TrainingKeepsMastersOfARoundedModel) {
  const GPT2Config config = gpt2_preset("toy");
  GPT2 master(config), model = master.to(DType::bfloat16), gradient = like(model);
  AdamW optimizer(TensorList(model), TensorList(master), {.lr = 6e-4});
  EXPECT_EQ(model.wte.weight.dtype(), DType::bfloat16);
  EXPECT_EQ(gradient.wte.weight.dtype(), DType::float32);
}

TEST(Pages, FinetuningTrainsAdaptersAlone) {
  std::filesystem::current_path(CLADTORCH_HELLASWAG);
  auto model = formats::load_model("gpt2");
  add_lora(*model, {.rank = 8, .alpha = 16}, /*seed=*/1);
  for (NamedTensor& p : model->parameters()) p.tensor.set_frozen(!is_lora_parameter(p.name));
  auto gradient = model->gradient_like();
  AdamW optimizer(TensorList(model->parameters()), {.lr = 2e-4});
  size_t adapters = 0;
  for (const NamedTensor& p : model->parameters()) adapters += is_lora_parameter(p.name);
  EXPECT_GT(adapters, 0u);
  EXPECT_EQ(TensorList(gradient->parameters()).size(), adapters);
}

}  // namespace
}  // namespace cladtorch
