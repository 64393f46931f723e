// C++ that pages quote and that nothing else has compiled. snippets_test.cpp checks the quotes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/batch.h"
#include "cladtorch/data/csv.h"
#include "cladtorch/data/data_loader.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/image.h"
#include "cladtorch/data/image_folder.h"
#include "cladtorch/data/npy.h"
#include "cladtorch/data/transforms.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/models/gpt2.h"
#include "cladtorch/models/lora.h"
#include "examples/consumer/swish.h"
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

TEST(Pages, DataReadsFashionMnist) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "Debian's dataset-fashion-mnist is not installed";
  const uint64_t seed = 1;
  int64_t seen = 0;
  const auto train_on = [&](const Tensor& x, const Tensor& y) {
    EXPECT_EQ(x.shape(), (Shape{y.size(0), 28, 28}));
    seen += y.size(0);
  };
  const Tensor images = data::read_idx(folder / "train-images-idx3-ubyte.gz");
  const Tensor labels = data::read_idx(folder / "train-labels-idx1-ubyte.gz");
  data::DataLoader loader(data::TensorDataset({images, labels}), {.batch_size = 64, .shuffle = true}, seed);
  for (const std::vector<Tensor>& batch : loader) {
    train_on(batch[0], batch[1]);
  }
  EXPECT_EQ(seen, 60000);
}

TEST(Pages, DataKeepsATableForNumPy) {
  const io::TemporaryFolder folder;
  folder.write("flowers.csv", "length,width\n1,2\n3,4\n");
  std::filesystem::current_path(folder.path());
  const data::CsvTable table = data::read_csv("flowers.csv");
  data::write_npz("flowers.npz", {{"x", table.values}}, {.compressed = true});
  const Tensor x = data::read_npz("flowers.npz", "x");
  EXPECT_EQ(x.to_string(), table.values.to_string());
  std::filesystem::current_path("/");
}

struct Waves {
  int64_t size() const { return 1000; }
  std::vector<Tensor> get(int64_t i, Random& random) const {
    return {normal({64}, random, 0, 1 + 0.1 * (i % 10)), full({}, i % 10, DType::int32)};
  }
};

TEST(Pages, DataMakesBatchesOfADataSet) {
  const uint64_t seed = 1;
  data::DataLoader loader(Waves{}, {.batch_size = 50, .shuffle = true, .workers = 4}, seed);
  const std::vector<Tensor>& batch = loader.next();
  EXPECT_EQ(batch[0].shape(), (Shape{50, 64}));
  EXPECT_EQ(batch[1].shape(), (Shape{50}));
}

TEST(Pages, DataAugmentsImages) {
  const io::TemporaryFolder folder;
  const uint64_t seed = 1;
  for (const char* name : {"cat/1", "cat/2", "dog/3"}) {
    const std::filesystem::path path = folder / ("pictures/" + std::string(name) + ".png");
    std::filesystem::create_directories(path.parent_path());
    data::write_png(path, full({3, 50, 60}, 0.5));
  }
  std::filesystem::current_path(folder.path());
  const auto transform = [](const Tensor& image, Random& random) {
    const Tensor part = data::random_crop(data::resize(image, 40), 32, 32, /*padding=*/0, random);
    return data::normalize(data::random_horizontal_flip(part, random), {0.5f}, {0.25f});
  };
  data::ImageFolder pictures("pictures", {.transform = transform});
  data::DataLoader loader(std::move(pictures), {.batch_size = 8, .shuffle = true, .workers = 2}, seed);
  EXPECT_EQ(loader.next()[0].shape(), (Shape{3, 3, 32, 32}));
  std::filesystem::current_path("/");
}

struct Classifier {
  nn::Linear in, hidden, out;

  explicit Classifier(Random& random)
      : in(2, 32, random, true, 1.0), hidden(32, 32, random, true, 0.2), out(32, 2, random, true, 0.2) {}
  Tensor forward(const Tensor& x) const { return out(spiral::swish(hidden(spiral::swish(in(x))))); }
  CLADTORCH_PARAMETERS(in, hidden, out)
};

TEST(Pages, YourOwnModelHasTheOutputOfSummary) {
  Random random(1);
  const Classifier model(random);
  const Tensor points = zeros({400, 2});
  ::testing::internal::CaptureStdout();
  std::cout << summary(model, [&](const Classifier& m) { return m.forward(points); });
  const std::string printed = "```\n" + ::testing::internal::GetCapturedStdout() + "```\n";
  std::ifstream file(CLADTORCH_ROOT "/docs/your-own-model.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find(printed), std::string::npos) << printed;
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
  add_lora(model, {.rank = 8, .alpha = 16}, /*seed=*/1);
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
