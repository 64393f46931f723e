#include "cladtorch/ops/embedding.h"

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::Tensors;

TEST(Embedding, PicksRows) {
  const Tensor table = arange(6, DType::float32).reshape({3, 2});
  const Tensor y = embedding(from_values<int32_t>({1, 2}, {2, 0}), table);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(y.data<float>()[0], 4);
  EXPECT_EQ(y.data<float>()[3], 1);
}

TEST(Embedding, NamesAnIndexOutsideTheTable) {
  EXPECT_EQ(error_of([] { embedding(from_values<int32_t>({1}, {3}), zeros({3, 2})); }),
            "embedding: index 3 is outside the 3 rows of the table");
  EXPECT_EQ(error_of([] { embedding(from_values<int32_t>({1}, {-1}), zeros({3, 2})); }),
            "embedding: index -1 is outside the 3 rows of the table");
  EXPECT_EQ(error_of([] { embedding(zeros({1}), zeros({3, 2})); }),
            "embedding: expected int32 or int64 indices, got float32");
  EXPECT_EQ(error_of([] { embedding(from_values<int64_t>({1}, {int64_t{1} << 32}), zeros({3, 2})); }),
            "embedding: 4294967296 among the indices does not fit in int32");
}

TEST(Embedding, TakesIndicesOf64Bits) {
  const Tensor table = arange(6, DType::float32).reshape({3, 2}), ids = from_values<int64_t>({2}, {2, 0});
  EXPECT_EQ(embedding(ids, table).to_string(), embedding(ids.to(DType::int32), table).to_string());
  clad::pullback_state<EmbeddingState> state;
  Tensor d;
  pullbacks::embedding_reverse_forw(ids, table, state);
  pullbacks::embedding_pullback(ids, {}, ones({2, 2}), nullptr, &d, state);
  EXPECT_EQ(d.to_string(), from_values<float>({3, 2}, {1, 1, 0, 0, 1, 1}).to_string());
}

TEST(Embedding, GradientAddsUpRepeatedIndices) {
  for (int64_t channels : {1, 3, 65}) {
    const Tensor ids = from_values<int32_t>({2, 3}, {1, 0, 1, 3, 1, 3});
    EXPECT_TRUE(testing::gradients_match([&](const Tensors& x) { return embedding(ids, x[0]); },
                                         [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                           clad::pullback_state<EmbeddingState> state;
                                           pullbacks::embedding_reverse_forw(ids, x[0], state);
                                           pullbacks::embedding_pullback(ids, {}, d_y, nullptr, d[0], state);
                                         },
                                         normals({{5, channels}})));
  }
}

}  // namespace
}  // namespace cladtorch
