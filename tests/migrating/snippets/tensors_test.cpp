// The C++ of docs/migrating-from-pytorch.md about tensors, compiled and run. guide_test.cpp checks that
// none is missing in this folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cladtorch/cladtorch.h"
#include "tests/migrating/snippets/values.h"

namespace cladtorch {
using ::testing::ElementsAre;
using testing::values;

namespace {

TEST(Migrating, Tensors) {
  Random random(42);
  EXPECT_THAT(values(zeros({2, 3}) + ones({2, 3})), ::testing::Each(1));
  EXPECT_EQ(empty({2, 3}).shape(), (Shape{2, 3}));
  EXPECT_THAT(values(full({2, 3}, 0.5)), ::testing::Each(0.5));
  EXPECT_THAT(values(from_values<float>({2}, {1, 2})), ElementsAre(1, 2));
  EXPECT_EQ(arange(5).dtype(), DType::int32);
  EXPECT_NE(values(randn({2, 3}, random)), values(rand({2, 3}, random)));

  Tensor x = from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = full({2, 3}, 2), w = x.transpose(0, 1);
  EXPECT_THAT(values(zeros_like(x)), ::testing::Each(0));
  EXPECT_THAT(values(ones_like(x)), ::testing::Each(1));
  EXPECT_THAT(values(full_like(x, 2)), ::testing::Each(2));
  EXPECT_EQ(sum(eye(3)).item(), 3);
  EXPECT_THAT(values(linspace(0, 1, 5)), ::testing::ElementsAre(0, 0.25f, 0.5f, 0.75f, 1));
  {
    const Tensor ids = from_values<int32_t>({2}, {3, 0});
    EXPECT_THAT(values(one_hot(ids, 4)), ::testing::ElementsAre(0, 0, 0, 1, 1, 0, 0, 0));
    Random random(42);
    EXPECT_EQ(randint(0, 9, {2, 3}, random).dtype(), DType::int32);
    EXPECT_EQ(sum(randperm(8, random).to(DType::float32)).item(), 28);
    const Tensor p = from_values<float>({3}, {0, 1, 1});
    EXPECT_THAT(values(bernoulli(p, random)), ::testing::ElementsAre(0, 1, 1));
  }
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.size(-1) + x.dim() + x.numel(), 3 + 2 + 6);
  EXPECT_EQ(x.dtype(), DType::float32);
  EXPECT_EQ(x.to(DType::bfloat16).dtype(), DType::bfloat16);
  EXPECT_EQ(x.data<float>()[4], 5);
  EXPECT_EQ(x.reshape({6}).shape(), x.flatten().shape());
  EXPECT_THAT(values(x.permute({1, 0})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values(x.slice(1, 1, 3)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(x.narrow(1, 1, 2)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(x.select(1, 0)), ElementsAre(1, 4));
  EXPECT_EQ(x.split(1, 1).size(), 3u);
  EXPECT_EQ(x.unsqueeze(0).shape(), (Shape{1, 2, 3}));
  const Tensor row = x.unsqueeze(0);
  EXPECT_EQ(row.squeeze(0).shape(), x.shape());
  EXPECT_EQ(x.expand({4, 2, 3}).numel(), 24);
  EXPECT_TRUE(w.contiguous().is_contiguous());
  EXPECT_FALSE(x.clone().shares_storage_with(x));
  EXPECT_THAT(values(x + y), ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(values(x * y), values(2 * x));
  EXPECT_THAT(values(-x), ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_EQ(values(x / y)[5], 3);
  EXPECT_THAT(values(matmul(x, w)), ElementsAre(14, 32, 32, 77));
  EXPECT_EQ(sum(x).item(), 21);
  EXPECT_EQ(mean(x).item(), 3.5);
  EXPECT_EQ(sum(x, -1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(values(mean(x, 0))[2], 4.5);
  x = mean(x);
  EXPECT_EQ(x.item(), 3.5);
  ::testing::internal::CaptureStdout();
  print(x);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), ::testing::HasSubstr("3.5"));
  x.fill_(1);
  EXPECT_EQ(x.item(), 1);
  x.zero_();
  EXPECT_EQ(x.item(), 0);
  x.copy_from(from_values<float>({}, {7}));
  EXPECT_EQ(x.item(), 7);
  const int threads = num_threads();
  set_num_threads(2);
  EXPECT_EQ(num_threads(), 2);
  set_num_threads(threads);
}

TEST(Migrating, SharesMemoryWithOtherLibraries) {
  const Tensor x = from_values<float>({2}, {1, 2});
  DLManagedTensor* const handle = to_dlpack(x);
  const Tensor shared = from_dlpack(handle);
  EXPECT_EQ(shared.data<float>(), x.data<float>());
}

TEST(Migrating, CopiesInPlace) {
  Tensor x = zeros({2});
  const Tensor y = ones({2});
  x.copy_from(y);
  EXPECT_THAT(values(x), ElementsAre(1, 1));
}

TEST(Migrating, ShapesAndReductions) {
  const Tensor x = from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), row = x.select(0, 0), u = row,
               v = x.select(0, 1);
  EXPECT_EQ(broadcast_to(x, {4, 2, 3}).numel(), 24);
  EXPECT_EQ(flatten(x, 0, 1).shape(), (Shape{6}));
  EXPECT_EQ(unflatten(x, 1, {3, -1}).shape(), (Shape{2, 3, 1}));
  EXPECT_THAT(values(movedim(x, 0, 1)), values(swapaxes(x, 0, 1)));
  EXPECT_EQ(chunk(x, 3, 1).size(), 3u);
  EXPECT_EQ(unbind(x, 0).size(), 2u);
  EXPECT_THAT(values(pad(x, {1, 2}, PadMode::constant, 0.5)),
              ElementsAre(0.5, 1, 2, 3, 0.5, 0.5, 0.5, 4, 5, 6, 0.5, 0.5));
  EXPECT_THAT(values(pad(x, {1, 1}, PadMode::reflect)), ElementsAre(2, 1, 2, 3, 2, 5, 4, 5, 6, 5));
  EXPECT_EQ(repeat(x, {2, 1}).shape(), (Shape{4, 3}));
  EXPECT_EQ(tile(x, {2}).shape(), (Shape{2, 6}));
  EXPECT_THAT(values(repeat_interleave(x, 2, 0)), ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(values(roll(x, 1, 0)), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(values(diagonal(x)), ElementsAre(1, 5));
  EXPECT_THAT(values(diag_embed(row)), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 3));
  EXPECT_THAT(values(tril(x, 1)), ElementsAre(1, 2, 0, 4, 5, 6));
  EXPECT_THAT(values(triu(x, 1)), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_EQ(meshgrid({u, v})[1].shape(), (Shape{3, 3}));
  const Tensor images = ones({1, 2, 4, 4}), columns = unfold(images, 2, {.stride = 2});
  EXPECT_THAT(values(fold(columns, {4, 4}, 2, {.stride = 2})), ::testing::Each(1));
  EXPECT_EQ(sum(x, {0, 1}).item(), 21);
  EXPECT_EQ(mean(x, {0, 1}).item(), 3.5);
  EXPECT_EQ(var(x, {0, 1}).item(), var(x).item());
  EXPECT_EQ(amax(x, {0, 1}).item(), amax(x).item());
  EXPECT_EQ(amin(x).item(), 1);
  EXPECT_EQ(logsumexp(x, {0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(linalg::vector_norm(x, 1, {0, 1}).item(), 21);
}

}  // namespace
}  // namespace cladtorch
