// Views need no kernels of their own, but their pullbacks make tensors, which must lie where the others do.
#include "cladtorch/ops/views.h"

#include "cladtorch/ops/reduce.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::class_functions;
using testing::agrees_with_cpu;
using testing::normals;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;
using State = clad::pullback_state<ShapeState>;

TEST(CudaViews, Windows) {
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].narrow(1, 1, 2).contiguous(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::narrow_reverse_forw(&x[0], 1, 1, 2, state);
                                pullbacks::narrow_pullback(nullptr, 1, 1, 2, d_y, d[0], state);
                              },
                              normals({{2, 4}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].slice(0, 1, 3).contiguous(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::slice_reverse_forw(&x[0], 0, 1, 3, state);
                                pullbacks::slice_pullback(nullptr, 0, 1, 3, d_y, d[0], state);
                              },
                              normals({{3, 2}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].select(1, 2).contiguous(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::select_reverse_forw(&x[0], 1, 2, state);
                                pullbacks::select_pullback(nullptr, 1, 2, d_y, d[0], state);
                              },
                              normals({{2, 4}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].split(2, 1)[2].contiguous(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::split_reverse_forw(&x[0], 2, 1, state);
                                pullbacks::split_pullback(nullptr, 2, 1, {{}, {}, d_y}, d[0], state);
                              },
                              normals({{3, 5}})));
}

TEST(CudaViews, Shapes) {
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].reshape({3, 4}); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::reshape_reverse_forw(&x[0], {3, 4}, state);
                                pullbacks::reshape_pullback(nullptr, {3, 4}, d_y, d[0], state);
                              },
                              normals({{2, 6}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].permute({2, 0, 1}).contiguous(); },
                              [](const Tensors&, Tensor d_y, const Gradients& d) {
                                pullbacks::permute_pullback(nullptr, {2, 0, 1}, d_y, d[0]);
                              },
                              normals({{2, 3, 4}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].transpose(0, 1).contiguous(); },
                              [](const Tensors&, Tensor d_y, const Gradients& d) {
                                pullbacks::transpose_pullback(nullptr, 0, 1, d_y, d[0]);
                              },
                              normals({{2, 3}})));
  EXPECT_TRUE(agrees_with_cpu([](const Tensors& x) { return x[0].expand({4, 2, 3}).contiguous(); },
                              [](const Tensors& x, Tensor d_y, const Gradients& d) {
                                State state;
                                pullbacks::expand_reverse_forw(&x[0], {4, 2, 3}, state);
                                pullbacks::expand_pullback(nullptr, {4, 2, 3}, d_y, d[0], state);
                              },
                              normals({{2, 1}})));
}

TEST(CudaViews, ItemSpreadsItsCotangentThere) {
  const Tensor x = full({1, 1}, 3, DType::float32, testing::gpu);
  State state;
  EXPECT_EQ(pullbacks::item_reverse_forw(&x, state), 3);
  Tensor d, buffer = gradient_buffer_like(x);
  pullbacks::item_pullback(nullptr, 2, &d, state);
  pullbacks::item_pullback(nullptr, 2, &buffer, state);
  EXPECT_TRUE(d.is_cuda());
  EXPECT_EQ(d.item(), 2);
  EXPECT_EQ(buffer.item(), 2);
}

}  // namespace
}  // namespace cladtorch
