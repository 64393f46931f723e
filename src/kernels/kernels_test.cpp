// Every pullback on raw memory: against central differences in double, and its contract about memory.
#include "cladtorch/kernels/kernels.h"

#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch::kernels {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch::kernels;
using testing::Tensors;
using Pointers = std::vector<double*>;

/// A kernel with one result: shapes of the operands and of the result, and two functions on raw memory.
struct Kernel {
  const char* name;
  std::vector<Shape> operands;
  Shape result;
  std::function<void(const Pointers& x, double* out)> forward;
  std::function<void(const Pointers& x, double* out, double* d_out, const Pointers& d)> pullback;
};

std::vector<double> memory(int64_t count) { return std::vector<double>(static_cast<size_t>(count), NAN); }

Kernel layernorm(int64_t N, int64_t C, bool with_bias) {
  Kernel kernel{"layernorm", {{N, C}, {C}}, {N, C}, {}, {}};
  if (with_bias) kernel.operands.push_back({C});
  const auto bias = [=](const Pointers& x) { return with_bias ? x[2] : nullptr; };
  const auto run = [=](const Pointers& x, double* out, double* mean, double* rstd) {
    layernorm_forward(out, mean, rstd, x[0], x[1], bias(x), N, C);
  };
  kernel.forward = [=](const Pointers& x, double* out) { run(x, out, memory(N).data(), memory(N).data()); };
  kernel.pullback = [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
    auto mean = memory(N), rstd = memory(N);
    run(x, out, mean.data(), rstd.data());
    std::fill_n(out, N * C, NAN);  // not read
    double d_epsilon = 0, *const none = nullptr;
    pullbacks::layernorm_forward_pullback(out, mean.data(), rstd.data(), x[0], x[1], bias(x), N, C, 1e-5,
                                          d_out, none, none, d[0], d[1], bias(d), &d_epsilon);
  };
  return kernel;
}

Kernel matmul(int64_t N, int64_t C, int64_t OC, bool with_bias) {
  Kernel kernel{"matmul", {{N, C}, {OC, C}}, {N, OC}, {}, {}};
  if (with_bias) kernel.operands.push_back({OC});
  const auto bias = [=](const Pointers& x) { return with_bias ? x[2] : nullptr; };
  kernel.forward = [=](const Pointers& x, double* out) {
    matmul_forward(out, x[0], x[1], bias(x), N, C, OC);
  };
  kernel.pullback = [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
    pullbacks::matmul_forward_pullback(out, x[0], x[1], bias(x), N, C, OC, d_out, d[0], d[1], bias(d));
  };
  return kernel;
}

Kernel attention(int64_t B, int64_t T, int64_t C, int64_t NH) {
  const auto run = [=](const Pointers& x, double* out, double* lse) {
    attention_forward(out, lse, x[0], B, T, C, NH);
  };
  return {"attention",
          {{B, T, 3 * C}},
          {B, T, C},
          [=](const Pointers& x, double* out) { run(x, out, memory(B * NH * T).data()); },
          [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
            auto lse = memory(B * NH * T);
            run(x, out, lse.data());
            double* const none = nullptr;
            pullbacks::attention_forward_pullback(out, lse.data(), x[0], B, T, C, NH, d_out, none, d[0]);
          }};
}

Kernel gelu(int64_t n) {
  return {"gelu",
          {{n}},
          {n},
          [=](const Pointers& x, double* out) { gelu_forward(out, x[0], n); },
          [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
            pullbacks::gelu_forward_pullback(out, x[0], n, d_out, d[0]);
          }};
}

Kernel residual(int64_t n) {
  return {"residual",
          {{n}, {n}},
          {n},
          [=](const Pointers& x, double* out) { residual_forward(out, x[0], x[1], n); },
          [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
            pullbacks::residual_forward_pullback(out, x[0], x[1], n, d_out, d[0], d[1]);
          }};
}

Kernel encoder(int64_t B, int64_t T, int64_t C) {
  const int64_t V = 5, positions = T + 2;
  const Tensor tokens = testing::random_tokens({B, T}, V, 3);
  return {"encoder",
          {{V, C}, {positions, C}},
          {B, T, C},
          [=](const Pointers& x, double* out) {
            encoder_forward(out, tokens.data<int32_t>(), x[0], x[1], B, T, C, V, positions);
          },
          [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
            pullbacks::encoder_forward_pullback(out, tokens.data<int32_t>(), x[0], x[1], B, T, C, V,
                                                positions, d_out, d[0], d[1]);
          }};
}

Kernel classifier(int64_t N, int64_t C, int64_t V, bool ignoring) {
  Tensor targets = testing::random_tokens({N}, V, 4);
  for (int64_t i = 0; ignoring && i < N; i += 2) targets.data<int32_t>()[i] = -100;
  return {"classifier",
          {{N, C}, {V, C}},
          {},
          [=](const Pointers& x, double* out) {
            auto work = memory(linear_cross_entropy_work<double>(N, C, V));
            *out = linear_cross_entropy_forward(work.data(), x[0], x[1], targets.data<int32_t>(), N, C, V);
          },
          [=](const Pointers& x, double* out, double* d_out, const Pointers& d) {
            auto work = memory(linear_cross_entropy_work<double>(N, C, V));
            clad::pullback_state<ClassifierState> state;
            const int32_t* const target = targets.data<int32_t>();
            *out = pullbacks::linear_cross_entropy_forward_reverse_forw(work.data(), x[0], x[1], target, N, C,
                                                                        V, state);
            double* const none = nullptr;
            pullbacks::linear_cross_entropy_forward_pullback(work.data(), x[0], x[1], target, N, C, V,
                                                             std::exchange(*d_out, 0.0), none, d[0], d[1],
                                                             state);
          }};
}

std::vector<Kernel> kernels() {
  return {layernorm(5, 7, true),
          layernorm(70, 3, false),
          matmul(1, 3, 2, true),
          matmul(9, 17, 33, true),
          matmul(40, 8, 300, false),
          attention(1, 1, 2, 1),
          attention(2, 9, 12, 3),
          gelu(1),
          gelu(67),
          residual(33),
          encoder(1, 1, 3),
          encoder(3, 7, 70),
          classifier(1, 2, 3, false),
          classifier(6, 5, 1030, true),
          classifier(150, 3, 110000, false),  // more than one block
          classifier(150, 3, 110000, true)};  // one, though all rows would need more
}

Tensors normals(const std::vector<Shape>& shapes, uint64_t seed = 5) {
  Random random(seed);
  Tensors tensors;
  for (const Shape& shape : shapes) tensors.push_back(randn(shape, random, DType::float64));
  return tensors;
}

Pointers pointers_of(Tensors& tensors) {
  Pointers pointers;
  for (Tensor& tensor : tensors) pointers.push_back(tensor.data<double>());
  return pointers;
}

Tensor result_of(const Kernel& kernel, const Tensors& x) {
  Tensors dense;
  for (const Tensor& t : x) dense.push_back(t.contiguous());
  Tensor out = full(kernel.result, NAN, DType::float64);
  kernel.forward(pointers_of(dense), out.data<double>());
  return out;
}

/// Pulls d_out back to `d`. Returns the cotangent of the result afterwards.
Tensor pull_back(const Kernel& kernel, const Tensors& x, const Tensor& d_out, const Pointers& d) {
  Tensors dense;
  for (const Tensor& t : x) dense.push_back(t.contiguous());
  Tensor out = result_of(kernel, x), cotangent = d_out.clone();
  kernel.pullback(pointers_of(dense), out.data<double>(), cotangent.data<double>(), d);
  return cotangent;
}

TEST(Kernels, PullbacksMatchDifferences) {
  for (const Kernel& kernel : kernels()) {
    if (kernel.operands.size() > 1 && kernel.operands[1].numel() > 100'000) continue;  // too long in double
    EXPECT_TRUE(
        testing::gradients_match([&](const Tensors& x) { return result_of(kernel, x); },
                                 [&](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& wanted) {
                                   if (!d_y.defined()) return;
                                   Tensors gradients;
                                   for (const Shape& shape : kernel.operands)
                                     gradients.push_back(zeros(shape, DType::float64));
                                   Pointers d = pointers_of(gradients);
                                   for (size_t i = 0; i < d.size(); ++i)
                                     if (!wanted[i]) d[i] = nullptr;
                                   pull_back(kernel, x, d_y, d);
                                   for (size_t i = 0; i < d.size(); ++i)
                                     if (wanted[i]) wanted[i]->accumulate(gradients[i]);
                                 },
                                 normals(kernel.operands)))
        << kernel.name;
  }
}

/// What the contract says about one gradient, in every kind of memory.
TEST(Kernels, PullbacksStoreIntoMarkedBlocksAndAddElsewhere) {
  for (const Kernel& kernel : kernels()) {
    const Tensors x = normals(kernel.operands);
    const Tensor d_out = normals({kernel.result}, 9)[0];
    Layout layout;
    layout.add("first", {3});
    for (const Shape& shape : kernel.operands) layout.add("whole", shape);
    layout.add("shared", {2, 3 + kernel.operands[0].numel()});
    GradientArena<double> arena(layout);
    std::fill_n(arena.data(), layout.size(), NAN);

    Tensors plain;
    for (const Shape& shape : kernel.operands) plain.push_back(zeros(shape, DType::float64));
    const Pointers plain_pointers = pointers_of(plain);
    Pointers blocks;
    for (size_t i = 0; i < x.size(); ++i) blocks.push_back(arena.block(i + 1));
    for (int times = 1; times <= 2; ++times) {
      const Tensor left = pull_back(kernel, x, d_out, plain_pointers);
      pull_back(kernel, x, d_out, blocks);
      for (int64_t i = 0; i < left.numel(); ++i)
        ASSERT_EQ(left.data<double>()[i], 0) << kernel.name << ": the result's cotangent is spent";
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_FALSE(arena.is_marked_zero(i + 1));
        for (int64_t j = 0; j < plain[i].numel(); ++j)
          ASSERT_EQ(blocks[i][j], plain[i].data<double>()[j]) << kernel.name << ", operand " << i;
      }
    }
    EXPECT_TRUE(arena.is_marked_zero(0));
    EXPECT_TRUE(arena.is_marked_zero(x.size() + 1));

    // A part of a marked block: its zeros are written, then it is added to.
    Tensors again;
    for (const Shape& shape : kernel.operands) again.push_back(zeros(shape, DType::float64));
    pull_back(kernel, x, d_out, pointers_of(again));
    Pointers parts(x.size(), nullptr);
    double* const shared = arena.block(x.size() + 1);
    parts[0] = shared + 2;
    pull_back(kernel, x, d_out, parts);
    EXPECT_EQ(shared[1], 0);
    EXPECT_EQ(shared[2 + again[0].numel()], 0);
    for (int64_t j = 0; j < again[0].numel(); ++j)
      ASSERT_EQ(shared[2 + j], again[0].data<double>()[j]) << kernel.name;

    arena.mark_zero();
    arena.write_zeros();
    EXPECT_EQ(blocks[0][0], 0);
  }
}

TEST(Kernels, PullbacksSkipACotangentThatIsMarkedZero) {
  for (const Kernel& kernel : kernels()) {
    if (kernel.result.rank() == 0) continue;  // a number, passed by value
    const Tensors x = normals(kernel.operands);
    Layout layout;
    layout.add("d_out", kernel.result);
    for (const Shape& shape : kernel.operands) layout.add("gradient", shape);
    GradientArena<double> arena(layout);
    std::fill_n(arena.data(), layout.size(), NAN);
    Pointers d;
    for (size_t i = 0; i < x.size(); ++i) d.push_back(arena.block(i + 1));
    Tensors operands = x;
    Tensor out = result_of(kernel, x);
    const auto pull = [&] { kernel.pullback(pointers_of(operands), out.data<double>(), arena.block(0), d); };
    pull();
    for (size_t i = 0; i <= x.size(); ++i) EXPECT_TRUE(arena.is_marked_zero(i)) << kernel.name;
    std::fill_n(contribute_to(arena.block(0), kernel.result.numel()).data, kernel.result.numel(), 1.0);
    pull();
    EXPECT_TRUE(arena.is_marked_zero(0)) << kernel.name << ": spent without being written";
    EXPECT_FALSE(arena.is_marked_zero(1));
  }
}

TEST(Kernels, AResidualMayHandItsCotangentDownInPlace) {
  Layout layout;
  layout.add("stream", {4});
  layout.add("branch", {4});
  GradientArena<double> arena(layout);
  double *const stream = arena.block(0), *const branch = arena.block(1), *const x = nullptr;
  std::fill_n(contribute_to(stream, 4).data, 4, 3.0);
  pullbacks::residual_forward_pullback(x, x, x, 4, stream, stream, branch);
  EXPECT_FALSE(arena.is_marked_zero(0));
  EXPECT_EQ(stream[3], 3);
  EXPECT_EQ(branch[3], 3);
  EXPECT_EQ(
      testing::error_of([&] { pullbacks::residual_forward_pullback(x, x, x, 4, stream, stream, stream); }),
      "residual_forward: the gradients of both operands lie in the cotangent of the sum");
  EXPECT_EQ(testing::error_of([&] { pullbacks::gelu_forward_pullback(x, x, 4, stream, stream); }),
            "gelu_forward: the gradient of an operand lies in the cotangent of the result");
}

TEST(Kernels, ACotangentOfAStatisticIsAnError) {
  double x[2] = {1, 2}, out[2], mean, rstd, d_out[2] = {1, 1}, d_mean = 0, *const none = nullptr;
  layernorm_forward(out, &mean, &rstd, x, x, none, 1, 2);
  const auto pull = [&] {
    pullbacks::layernorm_forward_pullback<double>(out, &mean, &rstd, x, x, none, 1, 2, 1e-5, d_out, &d_mean,
                                                  none, none, none, none, nullptr);
  };
  pull();
  d_mean = 1;
  EXPECT_EQ(testing::error_of(pull),
            "layernorm_forward: mean has no derivative, but something was computed from it that has");
}

TEST(Layout, AlignsBlocksAndPrintsThem) {
  Layout layout;
  EXPECT_EQ(layout.add("weight", {3, 5}), 0);
  EXPECT_EQ(layout.add("bias", {17}), 1);
  EXPECT_EQ(layout.size(), 48);
  std::ostringstream text;
  text << layout;
  EXPECT_EQ(text.str(),
            "        offset      elements  shape                 name\n"
            "             0            15  [3,5]                 weight\n"
            "            16            17  [17]                  bias\n"
            "            48                                      end\n");
}

TEST(Arena, BlocksAreTensorsOfAModel) {
  Layout layout;
  layout.add("weight", {3, 5});
  layout.add("bias", {3});
  Arena<float> values(layout);
  GradientArena<float> gradients(layout);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.block(1)) % 64, 0);
  values.tensor(1).fill_(2);
  EXPECT_EQ(values.block(1)[2], 2);
  gradients.tensor(1).data();
  std::string names;
  gradients.visit_parameters(
      [&](const std::string& name, Tensor& d) { names += name + (d.is_marked_zero() ? " 0 " : " 1 "); }, "");
  EXPECT_EQ(names, "weight 0 bias 1 ");
  GradientArena<float> moved = std::move(gradients);
  EXPECT_FALSE(contribute_to(moved.block(0), 15).add) << "found by its address after a move";
}

}  // namespace
}  // namespace cladtorch::kernels
