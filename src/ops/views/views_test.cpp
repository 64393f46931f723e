#include "cladtorch/ops/views.h"

#include "cladtorch/ops/arithmetic.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::class_functions;
using testing::gradients_match;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;
using State = clad::pullback_state<ShapeState>;

TEST(ViewGradients, ReshapeFlattenAndRankChangesMatchDifferences) {
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].reshape({3, -1}); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::reshape_reverse_forw(&x[0], {3, -1}, state);
                                pullbacks::reshape_pullback(nullptr, {3, -1}, d_y, d[0], state);
                              },
                              normals({{2, 3, 2}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].flatten(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::flatten_reverse_forw(&x[0], state);
                                pullbacks::flatten_pullback(nullptr, d_y, d[0], state);
                              },
                              normals({{2, 3}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].unsqueeze(1); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::unsqueeze_reverse_forw(&x[0], 1, state);
                                pullbacks::unsqueeze_pullback(nullptr, 1, d_y, d[0], state);
                              },
                              normals({{2, 3}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].squeeze(1); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::squeeze_reverse_forw(&x[0], 1, state);
                                pullbacks::squeeze_pullback(nullptr, 1, d_y, d[0], state);
                              },
                              normals({{2, 1, 3}})));
}

TEST(ViewGradients, TransposePermuteAndExpandMatchDifferences) {
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].transpose(0, -1); },
                              [](const Tensors&, Tensor d_y, const Gradients& d) {
                                pullbacks::transpose_pullback(nullptr, 0, -1, d_y, d[0]);
                              },
                              normals({{2, 3, 4}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].permute({2, 0, 1}); },
                              [](const Tensors&, Tensor d_y, const Gradients& d) {
                                pullbacks::permute_pullback(nullptr, {2, 0, 1}, d_y, d[0]);
                              },
                              normals({{2, 3, 4}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].expand({4, 2, 3}); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::expand_reverse_forw(&x[0], {4, 2, 3}, state);
                                pullbacks::expand_pullback(nullptr, {4, 2, 3}, d_y, d[0], state);
                              },
                              normals({{2, 1}})));
}

TEST(ViewGradients, WindowsMatchDifferences) {
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].narrow(1, 1, 2); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::narrow_reverse_forw(&x[0], 1, 1, 2, state);
                                pullbacks::narrow_pullback(nullptr, 1, 1, 2, d_y, d[0], state);
                              },
                              normals({{2, 4}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].slice(0, 1, 3); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::slice_reverse_forw(&x[0], 0, 1, 3, state);
                                pullbacks::slice_pullback(nullptr, 0, 1, 3, d_y, d[0], state);
                              },
                              normals({{3, 2}})));
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].select(1, 2); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::select_reverse_forw(&x[0], 1, 2, state);
                                pullbacks::select_pullback(nullptr, 1, 2, d_y, d[0], state);
                              },
                              normals({{2, 4}})));
}

TEST(ViewGradients, SplitMatchesDifferencesAndToleratesUnusedPieces) {
  // Pieces 0 and 2 are used; piece 1 has the symbolic zero as cotangent.
  EXPECT_TRUE(gradients_match(
      [](const Tensors& x) {
        const std::vector<Tensor> pieces = x[0].split(2, 1);
        return pieces[0].narrow(1, 0, 1) + pieces[2];
      },
      [](const Tensors& x, Tensor d_y, const Gradients& d) {
        State state;
        pullbacks::split_reverse_forw(&x[0], 2, 1, state);
        if (!d_y.defined()) return pullbacks::split_pullback(nullptr, 2, 1, {{}, {}, {}}, d[0], state);
        Tensor first = zeros({3, 2}, DType::float64);
        first.narrow(1, 0, 1).copy_from(d_y);
        pullbacks::split_pullback(nullptr, 2, 1, {first, {}, d_y}, d[0], state);
      },
      normals({{3, 5}})));
}

TEST(ViewGradients, CopiesAndConversionsPassTheCotangentOn) {
  EXPECT_TRUE(gradients_match([](const Tensors& x) { return x[0].contiguous(); },
                              [](const Tensors&, Tensor d_y, const Gradients& d) {
                                pullbacks::contiguous_pullback(nullptr, d_y, d[0]);
                              },
                              normals({{2, 3}})));
  State state;
  pullbacks::to_reverse_forw(&normals({{2}})[0], DType::float32, state);
  Tensor d;
  pullbacks::to_pullback(nullptr, DType::float32, ones({2}), &d, state);
  EXPECT_EQ(d.dtype(), DType::float64);
}

TEST(ViewGradients, NoneFlowsThroughIntegers) {
  for (const DType dtype : {DType::int32, DType::int64, DType::boolean}) {
    const Tensor x = full({2}, 1.5), y = x.to(dtype);
    State there, back;
    Tensor d_y, d_x;
    pullbacks::to_reverse_forw(&x, dtype, there);
    pullbacks::to_reverse_forw(&y, DType::float32, back);
    pullbacks::to_pullback(nullptr, DType::float32, full({2}, 0.5), &d_y, back);
    EXPECT_FALSE(d_y.defined());
    pullbacks::to_pullback(nullptr, dtype, full({2}, 0.5), &d_x, there);
    EXPECT_FALSE(d_x.defined());
  }
}

TEST(ViewGradients, ItemSpreadsItsCotangent) {
  const Tensor x = full({1, 1}, 3, DType::float64);
  State state;
  EXPECT_EQ(pullbacks::item_reverse_forw(&x, state), 3);
  Tensor d;
  pullbacks::item_pullback(nullptr, 2, &d, state);
  pullbacks::item_pullback(nullptr, 2, nullptr, state);
  EXPECT_EQ(d.shape(), (Shape{1, 1}));
  EXPECT_EQ(d.item(), 2);
}

}  // namespace
}  // namespace cladtorch
