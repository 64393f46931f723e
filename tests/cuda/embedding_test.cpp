#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::error_of;
using testing::gpu;
using testing::normals;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

void check(const Tensor& ids, const Shape& table) {
  EXPECT_TRUE(agrees_with_cpu([&](const Tensors& x) { return embedding(ids.to(x[0].device()), x[0]); },
                              [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                const Tensor there = ids.to(x[0].device());
                                clad::pullback_state<EmbeddingState> state;
                                pullbacks::embedding_reverse_forw(there, x[0], state);
                                pullbacks::embedding_pullback(there, {}, std::move(d_y), nullptr, d[0],
                                                              state);
                              },
                              normals({table})));
}

/// Some more often than others: squares of numbers below 1 are small.
Tensor random_ids(const Shape& shape, int64_t rows) {
  Random random(8);
  const Tensor u = rand(shape, random);
  Tensor ids = Tensor::empty(shape, DType::int32);
  for (int64_t i = 0; i < ids.numel(); ++i) {
    const float x = u.data<float>()[i];
    ids.data<int32_t>()[i] = static_cast<int32_t>(x * x * static_cast<float>(rows));
  }
  return ids;
}

TEST(CudaEmbedding, PicksRowsAndAddsThem) {
  check(random_ids({0}, 3), {3, 8});
  check(random_ids({2, 3}, 5), {5, 1});
  check(random_ids({1}, 1), {1, 8});
  check(random_ids({31}, 7), {7, 9});
  check(random_ids({32}, 7), {7, 16});
  check(random_ids({33}, 2), {2, 24});
  check(random_ids({2, 500}, 300), {300, 40});
  check(random_ids({3, 7}, 9), {9, 2100});
  check(arange(70), {80, 64});
  check(random_ids({33}, 7).to(DType::int64), {7, 8});
}

TEST(CudaEmbedding, RowsOfManyChunks) {
  check(full({1100}, 1, DType::int32), {3, 8});
  check(random_ids({3000}, 4), {4, 5});
}

Tensor gradient(const Tensor& ids, const Tensor& table, const Tensor& d_y, Tensor d = {}) {
  clad::pullback_state<EmbeddingState> state;
  pullbacks::embedding_reverse_forw(ids, table, state);
  pullbacks::embedding_pullback(ids, {}, d_y, nullptr, &d, state);
  return d;
}

/// Indices of one, two and three digits of eight bits, and around these; more tiles than a warp has lanes.
TEST(CudaEmbedding, LargeTables) {
  for (int64_t rows : {255, 256, 257, 65535, 65536, 70000}) {
    const int64_t count = rows == 257 ? 40000 : 1500;
    const Tensor ids = random_ids({count}, rows), table = zeros({rows, 1}, DType::float64);
    const Tensor d_y = normals({{count, 1}})[0];
    const Tensor d = gradient(ids.to(gpu), table.to(gpu), d_y.to(gpu));
    EXPECT_LT(testing::relative_difference(d.to(Device{}), gradient(ids, table, d_y)), 1e-12) << rows;
  }
}

TEST(CudaEmbedding, PicksFromTablesOfAnyDtype) {
  const Tensor ids = random_ids({4, 9}, 20);
  for (DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::int32}) {
    const Tensor table = normals({{20, 12}})[0].to(dtype);
    EXPECT_TRUE(same_bits(embedding(ids.to(gpu), table.to(gpu)), embedding(ids, table)));
  }
}

TEST(CudaEmbedding, AnUnknownIndexShowsInItsRow) {
  const Tensor ids = from_values<int32_t>({4}, {2, -1, 5, INT32_MAX}).to(gpu);
  const Tensor table = normals({{5, 8}})[0].to(gpu);
  const Tensor y = embedding(ids, table).to(Device{});
  for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(std::isnan(y.data<double>()[i]), i >= 8);
  const Tensor integers = embedding(ids, arange(40, DType::int32, gpu).reshape({5, 8})).to(Device{});
  for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(integers.data<int32_t>()[i], i < 8 ? 16 + i : 0);

  const Tensor memory = zeros({48}, DType::float64, gpu);
  const Tensor d =
      gradient(ids, table, ones({4, 8}, DType::float64, gpu), gradient_buffer_in(memory, 0, {5, 8}));
  EXPECT_TRUE(same_bits(memory.narrow(0, 40, 8), zeros({8}, DType::float64))) << "behind the table";
  Tensor expected = zeros({5, 8}, DType::float64);
  expected.select(0, 2).fill_(1);
  EXPECT_TRUE(same_bits(d, expected));
  EXPECT_EQ(error_of([&] { embedding(ids.to(Device{}), table); }),
            "embedding: devices differ: indices is on cpu, weight is on cuda:0; copy with to(device)");
}

}  // namespace
}  // namespace cladtorch
