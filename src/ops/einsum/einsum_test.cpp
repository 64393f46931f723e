#include <cmath>

#include "cladtorch/ops/products.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/factories.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::normals;
using testing::relative_difference;

TEST(Einsum, AgreesWithOtherProducts) {
  const auto x = normals({{2, 3, 4}, {2, 4, 5}, {4}, {4, 4}});
  EXPECT_LT(relative_difference(einsum("bij,bjk->bik", {x[0], x[1]}), bmm(x[0], x[1])), 1e-14);
  EXPECT_LT(relative_difference(einsum("bij, bjk", {x[0], x[1]}), sum(bmm(x[0], x[1]), 0)), 1e-13);
  EXPECT_LT(relative_difference(einsum("i,ij->j", {x[2], x[3]}), mv(x[3].transpose(0, 1), x[2])), 1e-14);
  EXPECT_NEAR(einsum("i,i->", {x[2], x[2]}).item(), dot(x[2], x[2]).item(), 1e-13);
  EXPECT_NEAR(einsum("ii", {x[3]}).item(), sum(diagonal(x[3])).item(), 1e-13);
  EXPECT_EQ(einsum("ba", {x[3]}).strides(), (Shape{1, 4}));  // in the order of the alphabet
  EXPECT_EQ(einsum("...i->i...", {x[0]}).shape(), (Shape{4, 2, 3}));
  EXPECT_LT(relative_difference(einsum("...i,...i", {x[0], x[2]}), sum(mul(x[0], x[2]), -1)), 1e-14);
  EXPECT_EQ(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}).shape(), (Shape{2, 3}));
}

TEST(Einsum, ErrorsNameTheLetter) {
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  EXPECT_EQ(error_of([&] { einsum("ij,jk->ik", {a, b}); }),
            "einsum: letter 'j' is 4 in operand 1 of shape [4,5], and 3 before, in \"ij,jk->ik\"");
  EXPECT_EQ(error_of([&] { einsum("ij->ik", {a}); }),
            "einsum: letter 'k' of the result is in no operand of \"ij->ik\"");
  EXPECT_EQ(error_of([&] { einsum("ij->ii", {a}); }),
            "einsum: letter 'i' is twice in the result of \"ij->ii\"");
  EXPECT_EQ(error_of([&] { einsum("ijk", {a}); }),
            "einsum: \"ijk\" does not fit operand 0 of shape [2,3] in \"ijk\"");
  EXPECT_EQ(error_of([&] { einsum("i.j", {a}); }), "einsum: unexpected '.' in \"i.j\"");
  EXPECT_EQ(error_of([&] { einsum("ij,jk", {a}); }), "einsum: \"ij,jk\" has 2 operands, got 1");
}

TEST(Products, OfMatricesAndVectors) {
  const auto x = normals({{3, 4}, {4, 2}, {3, 2}, {2, 3, 4}, {2, 4, 5}});
  const Tensor y = addmm(x[2], x[0], x[1], 0.5, 2);
  EXPECT_LT(relative_difference(y, add(scale(x[2], 0.5), scale(matmul(x[0], x[1]), 2))), 1e-14);
  EXPECT_LT(relative_difference(baddbmm(zeros({5}, DType::float64), x[3], x[4]), matmul(x[3], x[4])), 1e-14);
  EXPECT_EQ(kron(x[0], x[1]).shape(), (Shape{12, 8}));
  EXPECT_NEAR(kron(x[0], x[1]).select(0, 4 * 2 + 3).select(0, 2 * 1 + 1).item(),
              x[0].select(0, 2).select(0, 1).item() * x[1].select(0, 3).select(0, 1).item(), 1e-14);
  const Tensor u = from_values<float>({3}, {1, 2, 3}), v = from_values<float>({3}, {-1, 0, 2});
  EXPECT_EQ(cross(u, v).select(0, 0).item(), 4);
  EXPECT_EQ(cross(u, v).select(0, 1).item(), -5);
  EXPECT_EQ(cross(u, v).select(0, 2).item(), 2);
  EXPECT_EQ(error_of([&] { bmm(x[0], x[1]); }), "bmm: expected [B,M,K] and [B,K,N]: a is [3,4], b is [4,2]");
  EXPECT_EQ(error_of([&] { dot(u, zeros({2})); }), "dot: expected vectors of one length: a is [3], b is [2]");
}

}  // namespace
}  // namespace cladtorch
