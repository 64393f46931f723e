#include "cladtorch/data/batch.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace cladtorch::data {
namespace {

TEST(Batch, HoldsWhatTheLoaderGivesAsTensors) {
  std::vector<uint32_t> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0u);
  const TokenSpan text = std::span<const uint32_t>(numbers);
  const BatchShape shape{2, 5};
  Loader loader(text, shape, 1);
  Batch batch(shape);
  next(loader, batch);
  EXPECT_EQ(batch.tokens.shape(), (Shape{2, 5}));
  EXPECT_EQ(batch.targets.dtype(), DType::int32);
  for (int64_t i = 0; i < shape.size(); ++i) {
    EXPECT_EQ(batch.targets.data<int32_t>()[i], batch.tokens.data<int32_t>()[i] + 1);
  }
  get(EvalBatches(text, shape), 0, batch);
  EXPECT_EQ(batch.tokens.data<int32_t>()[4], 4);
}

}  // namespace
}  // namespace cladtorch::data
