#include "cladtorch/data/tensor_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cladtorch/tensor/factories.h"
#include "tests/support/count_allocations.h"

namespace cladtorch::data {
namespace {

/// Rows 0, 1, ...: x [rows, 2] holds the number and its square, y [rows] the number.
std::vector<Tensor> rows(int64_t count) {
  Tensor x = empty({count, 2}), y = empty({count}, DType::int32);
  for (int64_t i = 0; i < count; ++i) {
    x.data<float>()[2 * i] = static_cast<float>(i);
    x.data<float>()[2 * i + 1] = static_cast<float>(i * i);
    y.data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return {x, y};
}

std::vector<int32_t> next_labels(TensorLoader& loader) {
  const Tensor& y = loader.next()[1];
  return {y.data<int32_t>(), y.data<int32_t>() + y.numel()};
}

TEST(TensorLoader, TakesTheSameRowsOfEveryTensor) {
  TensorLoader loader(rows(10), 4, 1);
  for (int i = 0; i < 7; ++i) {
    const std::vector<Tensor>& batch = loader.next();
    ASSERT_EQ(batch[0].shape(), Shape({4, 2}));
    for (int64_t row = 0; row < 4; ++row) {
      const auto number = static_cast<float>(batch[1].data<int32_t>()[row]);
      EXPECT_EQ(batch[0].data<float>()[2 * row], number);
      EXPECT_EQ(batch[0].data<float>()[2 * row + 1], number * number);
    }
  }
}

TEST(TensorLoader, GivesNoRowTwiceInAnEpochAndAnotherOrderInTheNext) {
  TensorLoader loader(rows(100), 10, 1);
  std::vector<std::vector<int32_t>> orders;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int32_t> order;
    for (int64_t i = 0; i < loader.batches_per_epoch(); ++i) {
      const std::vector<int32_t> labels = next_labels(loader);
      order.insert(order.end(), labels.begin(), labels.end());
    }
    EXPECT_EQ(std::set<int32_t>(order.begin(), order.end()).size(), 100u);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
}

TEST(TensorLoader, GoesOnWhereItWas) {
  TensorLoader loader(rows(23), 5, 7), resumed(rows(23), 5, 7);
  for (int i = 0; i < 9; ++i) loader.next();
  resumed.seek(loader.given());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(next_labels(resumed), next_labels(loader));
}

TEST(TensorLoader, AllocatesNothing) {
  TensorLoader loader(rows(64), 8, 1);
  const long before = testing::allocations;
  for (int i = 0; i < 20; ++i) loader.next();
  EXPECT_EQ(testing::allocations, before);
}

TEST(TensorLoader, SaysWhatDoesNotFit) {
  const auto error_of = [](std::vector<Tensor> tensors, int64_t batch) -> std::string {
    try {
      TensorLoader(std::move(tensors), batch, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of({zeros({3, 2}), zeros({4})}, 1),
            "TensorDataset: the tensors have different numbers of rows: [3,2] and [4]");
  EXPECT_EQ(error_of({zeros({3, 2})}, 4), "DataLoader: batches of 4 rows cannot be made of 3");
  EXPECT_EQ(error_of({zeros({3, 2})}, 0), "DataLoader: batches of 0 rows cannot be made of 3");
  EXPECT_EQ(error_of({}, 1), "TensorDataset: expected at least one tensor");
}

}  // namespace
}  // namespace cladtorch::data
