#include "cladtorch/formats/state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cladtorch/io/safetensors.h"
#include "cladtorch/nn/nn.h"
#include "io/temporary_folder.h"

namespace cladtorch {
namespace {

using io::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

struct Net {
  nn::Linear in;
  std::vector<nn::Linear> h;
  Tensor counts;
  CLADTORCH_PARAMETERS(in, h, counts)
};

Net net(uint64_t seed, DType dtype = DType::float32, int64_t layers = 2, int64_t width = 3) {
  Random random(seed);
  Net result{nn::Linear(2, width, random, true, 1.0, dtype),
             {},
             from_values<int32_t>({2}, {1, static_cast<int32_t>(seed)})};
  for (int64_t i = 0; i < layers; ++i) result.h.emplace_back(width, width, random, false, 1.0, dtype);
  return result;
}

bool same_bits(const Net& a, const Net& b) {
  const auto x = named_parameters(a), y = named_parameters(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].name != y[i].name || x[i].tensor.dtype() != y[i].tensor.dtype() ||
        std::memcmp(x[i].tensor.data(), y[i].tensor.data(), x[i].tensor.nbytes()) != 0)
      return false;
  }
  return x.size() == y.size();
}

struct Other {
  nn::Linear in, out;
  CLADTORCH_PARAMETERS(in, out)
};

class StateDict : public testing::Test {
 protected:
  const io::TemporaryFolder folder;
  const std::filesystem::path file = folder / "model.safetensors";
};

TEST_F(StateDict, ComesBackBitForBitInEveryDtype) {
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const Net saved = net(1, dtype);
    save(saved, file);
    Net loaded = net(2, dtype);
    ASSERT_FALSE(same_bits(loaded, saved));
    const LoadResult result = load(file, loaded);
    EXPECT_TRUE(result.missing.empty() && result.unexpected.empty());
    EXPECT_TRUE(same_bits(loaded, saved));
  }
}

struct Counted {
  Tensor steps, mask;
  CLADTORCH_PARAMETERS(steps, mask)
};

TEST_F(StateDict, KeepsIntegersOf64BitsAndTruthValues) {
  const Counted saved{from_values<int64_t>({2}, {(int64_t{1} << 62) + 1, -5}),
                      from_values<bool>({2}, {true, false})};
  save(saved, file);
  Counted loaded{zeros({2}, DType::int64), zeros({2}, DType::boolean)};
  load(file, loaded);
  EXPECT_EQ(loaded.steps.to_string(), saved.steps.to_string());
  EXPECT_EQ(loaded.mask.to_string(), saved.mask.to_string());
  const io::SafetensorsFile stored(file);
  EXPECT_EQ(stored.at("steps").type, io::StoredType::i64);
  EXPECT_EQ(stored.at("mask").type, io::StoredType::boolean);
}

TEST_F(StateDict, HasTheNamesOfTheMacro) {
  save(net(1), file);
  const io::SafetensorsFile saved(file);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : saved.tensors()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("counts", "h.0.weight", "h.1.weight", "in.bias", "in.weight"));
}

TEST_F(StateDict, ConvertsToTheDtypeOfTheModel) {
  const Net saved = net(1);
  save(saved, file);
  Net wide = net(2, DType::float64);
  load(file, wide);
  const Tensor expected = saved.in.weight.to(DType::float64);
  EXPECT_EQ(std::memcmp(wide.in.weight.data(), expected.data(), expected.nbytes()), 0);
}

TEST_F(StateDict, KeepsTheStorageThatAnOptimizerHolds) {
  save(net(1), file);
  Net loaded = net(2);
  const Tensor handle = loaded.in.weight;
  load(file, loaded);
  EXPECT_TRUE(handle.shares_storage_with(loaded.in.weight));
  EXPECT_EQ(handle.data<float>()[0], net(1).in.weight.data<float>()[0]);
}

TEST_F(StateDict, TakesAListOfParametersInTheModelsPlace) {
  save(net(1), file);
  const Net loaded = net(2);
  std::vector<NamedTensor> parameters = named_parameters(loaded);
  load(file, parameters);
  EXPECT_EQ(loaded.in.weight.data<float>()[0], net(1).in.weight.data<float>()[0]);
  parameters.pop_back();
  save(parameters, file);
  EXPECT_EQ(load(file, parameters).missing.size(), 0u);
  EXPECT_THROW(load(file, named_parameters(loaded)), Error);
}

TEST_F(StateDict, ReadsAndWritesStridedParameters) {
  Net saved = net(1), loaded = net(2);
  saved.in.weight = saved.in.weight.transpose(0, 1).contiguous().transpose(0, 1);
  loaded.in.weight = loaded.in.weight.transpose(0, 1).contiguous().transpose(0, 1);
  save(saved, file);
  load(file, loaded);
  EXPECT_EQ(
      std::memcmp(loaded.in.weight.contiguous().data(), net(1).in.weight.data(), loaded.in.weight.nbytes()),
      0);
}

TEST_F(StateDict, ListsTheNamesThatOnlyOneSideHasAndChangesNothing) {
  save(net(1, DType::float32, 3), file);
  Random random(5);
  Other other{nn::Linear(2, 3, random), nn::Linear(3, 1, random)};
  const Tensor before = other.in.weight.clone();
  EXPECT_EQ(error_of([&] { load(file, other); }),
            "load '" + file.string() +
                "': the names differ: it has no out.weight, out.bias; the model has no counts, h.0.weight, "
                "h.1.weight, "
                "h.2.weight; load(path, model, {.strict = false}) takes what both have");
  EXPECT_EQ(std::memcmp(before.data(), other.in.weight.data(), before.nbytes()), 0);

  const LoadResult result = load(file, other, {.strict = false});
  EXPECT_THAT(result.missing, ElementsAre("out.weight", "out.bias"));
  EXPECT_THAT(result.unexpected, ElementsAre("counts", "h.0.weight", "h.1.weight", "h.2.weight"));
  EXPECT_EQ(other.in.weight.data<float>()[0], net(1).in.weight.data<float>()[0]);
}

struct Normalized {
  nn::BatchNorm2d norm{2};
  CLADTORCH_PARAMETERS(norm)
};

TEST_F(StateDict, IgnoresThatPyTorchCountsBatches) {
  const Normalized saved;
  std::vector<NamedTensor> parameters = named_parameters(saved);
  Tensor(saved.norm.running_mean).select(0, 1).copy_from(full({}, 3.0));
  parameters.push_back({"norm.num_batches_tracked", full({}, 7, DType::int64)});
  save(parameters, file);
  Normalized loaded;
  const LoadResult result = load(file, loaded);
  EXPECT_THAT(result.ignored, ElementsAre("norm.num_batches_tracked"));
  EXPECT_TRUE(result.missing.empty() && result.unexpected.empty());
  EXPECT_EQ(loaded.norm.running_mean.select(0, 1).item(), 3);

  // A parameter of that name is one as others are, and other names are not alike.
  Tensor batches = zeros({}, DType::int64);
  parameters = named_parameters(loaded);
  parameters.push_back({"norm.num_batches_tracked", batches});
  EXPECT_THAT(load(file, std::as_const(parameters)).ignored, ElementsAre());
  EXPECT_EQ(batches.item(), 7);
  parameters.back().name = "norm.old_num_batches_tracked";
  save(parameters, file);
  EXPECT_THAT(error_of([&] { load(file, loaded); }), HasSubstr("has no norm.old_num_batches_tracked"));
}

TEST_F(StateDict, RefusesAnotherShapeBeforeItWrites) {
  save(net(1, DType::float32, 2, 4), file);
  Net loaded = net(2);
  EXPECT_THAT(error_of([&] { load(file, loaded); }),
              HasSubstr("'in.weight' is [4,2], but the model's is [3,2]"));
  EXPECT_TRUE(same_bits(loaded, net(2)));
}

TEST_F(StateDict, QuotesNoLongNameOfAFile) {
  Net loaded = net(2);
  std::vector<NamedTensor> parameters = named_parameters(loaded);
  parameters.push_back({std::string(70'000, 'x'), zeros({1})});
  save(parameters, file);
  EXPECT_LT(error_of([&] { load(file, loaded); }).size(), file.string().size() + 300);
}

TEST_F(StateDict, RefusesIntegersForNumbers) {
  Net integers = net(1), loaded = net(2);
  integers.in.bias = arange(3);
  save(integers, file);
  EXPECT_THAT(error_of([&] { load(file, loaded); }),
              HasSubstr("'in.bias' is I32, which does not convert to the model's F32"));
  EXPECT_TRUE(same_bits(loaded, net(2)));
}

TEST_F(StateDict, NamesAFileThatIsNotThere) {
  Net loaded = net(2);
  EXPECT_THAT(error_of([&] { load(folder / "none.safetensors", loaded); }), HasSubstr("none.safetensors"));
}

}  // namespace
}  // namespace cladtorch
