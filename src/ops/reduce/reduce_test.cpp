#include "cladtorch/ops/reduce.h"

#include "cladtorch/tensor/parallel.h"
#include "ops/common/reduce_to.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gradients_match;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(Reduce, SumsAndAverages) {
  EXPECT_EQ(sum(arange(5, DType::float32)).item(), 10);
  EXPECT_EQ(mean(arange(5, DType::float64).reshape({5, 1})).item(), 2);
  EXPECT_EQ(sum(zeros({0})).item(), 0);
  EXPECT_EQ(testing::error_of([] { mean(zeros({0, 2})); }), "mean: no elements in shape [0,2]");
}

TEST(Reduce, SumsOfManyElementsDoNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({{300001}})[0].to(DType::float32);
  const int before = num_threads();
  set_num_threads(1);
  const double one = sum(x).item();
  set_num_threads(3);
  EXPECT_EQ(sum(x).item(), one);
  set_num_threads(before);
}

TEST(Reduce, FloatsAreSummedInDouble) {
  for (int64_t n : {1, 7, 31, 32, 33, 20001}) {
    const Tensor x = normals({{n}})[0].to(DType::float32);
    double exact = 0;
    for (int64_t i = 0; i < n; ++i) exact += double(x.data<float>()[i]);
    EXPECT_EQ(sum(x).item(), static_cast<float>(exact)) << n;
  }
}

TEST(Reduce, SumToUndoesABroadcast) {
  const Tensor x = arange(24, DType::float64).reshape({2, 3, 4});
  EXPECT_EQ(sum_to(x, {4}).select(0, 1).item(), 1 + 5 + 9 + 13 + 17 + 21);
  EXPECT_EQ(sum_to(x, {2, 1, 1}).flatten().select(0, 1).item(), 210);
  EXPECT_EQ(sum_to(x, {3, 1}).flatten().select(0, 0).item(), 0 + 1 + 2 + 3 + 12 + 13 + 14 + 15);
  EXPECT_EQ(sum_to(x, {}).item(), 276);
  EXPECT_EQ(sum_to(x.transpose(0, 2), {4, 1, 1}).flatten().select(0, 3).item(), 3 + 7 + 11 + 15 + 19 + 23);
}

TEST(Reduce, AlongOneDimension) {
  const Tensor x = arange(24, DType::float64).reshape({2, 3, 4});
  EXPECT_EQ(sum(x, -1).shape(), (Shape{2, 3}));
  EXPECT_EQ(sum(x, 1, true).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(sum(x, -1).flatten().select(0, 4).item(), 16 + 17 + 18 + 19);
  EXPECT_EQ(mean(x, 0).flatten().select(0, 11).item(), (11 + 23) / 2.0);
  EXPECT_EQ(sum(zeros({3, 0}), 1).flatten().select(0, 2).item(), 0);
  EXPECT_EQ(testing::error_of([] { mean(zeros({3, 0}), 1); }),
            "mean: no elements in dimension 1 of shape [3,0]");
  EXPECT_EQ(testing::error_of([&] { sum(x, 3); }), testing::error_of([] { checked_dim("sum", 3, 3); }));
}

TEST(Reduce, SumToMatchesDifferences) {
  for (const Shape& kept : {Shape{}, {5}, {3, 1}, {1, 5}, {3, 5}, {2, 1, 5}})
    EXPECT_TRUE(gradients_match([&](const Tensors& x) { return sum_to(x[0], kept); },
                                [&](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::sum_to_reverse_forw(x[0], kept, state);
                                  pullbacks::sum_to_pullback({}, kept, d_y, d[0], state);
                                },
                                normals({{2, 3, 5}})));
}

TEST(Reduce, GradientsMatchDifferences) {
  for (const Shape& shape : {Shape{}, {1}, {3, 5}}) {
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return sum(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::sum_reverse_forw(x[0], state);
                                  pullbacks::sum_pullback({}, d_y, d[0], state);
                                },
                                normals({shape})));
    EXPECT_TRUE(gradients_match([](const Tensors& x) { return mean(x[0]); },
                                [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                  clad::pullback_state<ShapeState> state;
                                  pullbacks::mean_reverse_forw(x[0], state);
                                  pullbacks::mean_pullback({}, d_y, d[0], state);
                                },
                                normals({shape})));
  }
}

}  // namespace
}  // namespace cladtorch
