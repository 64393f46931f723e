// The choice among implementations of attention. On the imitation alone, where it is certain which is faster
// and that there is no cuDNN.
#include "tests/cuda/fake_attention.h"

namespace cladtorch::cuda::testing {
namespace {

using cladtorch::testing::gpu;
using cladtorch::testing::normals;
using cladtorch::testing::same_bits;
using detail::AttentionOperands;

TEST(CudaAttentionChoice, TakesTheFasterOneAndRemembersItOnDisk) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  std::string lines;
  {
    Fake fake("faster");
    fake.copies = true;
    fake.version_text = "1.2";
    EXPECT_TRUE(same_bits(watched(attend, lines), expected()));
    EXPECT_EQ(lines, "");
    EXPECT_TRUE(disk_says("own, faster 1.2", "faster")) << choices_on_disk();
    const int calls = fake.calls;
    attend();
    EXPECT_EQ(fake.calls, calls + 1) << "it is timed once";
    forget_attention_choices();
    attend();
    EXPECT_EQ(fake.calls, calls + 2) << "the disk knows it";
  }
  Fake newer("faster");  // slower by now, but it is another version that was measured
  newer.version_text = "1.2";
  attend();
  EXPECT_EQ(newer.calls, 1) << "the disk knows it";
  newer.version_text = "1.3";
  forget_attention_choices();
  attend();
  EXPECT_GT(newer.calls, 1) << "a choice is good for one version";
}

TEST(CudaAttentionChoice, LearnsNothingFromOperandsThatAreNotFinite) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("unlearned");
  const Tensor x = full({2, 24, qkv().size(2)}, NAN, DType::bfloat16).to(gpu);
  std::string lines;
  watched([&] { return causal_attention(x, heads); }, lines);
  EXPECT_EQ(lines, "");
  EXPECT_EQ(fake.calls, 0);
  EXPECT_EQ(choices_on_disk().find("unlearned"), std::string::npos);
}

TEST(CudaAttentionChoice, LeavesOutWhatIsWrongOrFails) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  const Tensor right = expected();
  int number = 0;
  const auto check = [&](Fault fault, size_t bytes, const char* reason, bool refused) {
    Fake fake("faulty" + std::to_string(number++));
    fake.copies = true;
    fake.fault = fault;
    fake.extra_bytes = bytes;
    std::string lines;
    EXPECT_TRUE(same_bits(watched(attend, lines), right)) << reason;
    EXPECT_NE(lines.find("attention by " + fake.name() + " is left out (forward, batch 2, length 40"),
              std::string::npos)
        << reason << lines;
    EXPECT_NE(lines.find(reason), std::string::npos) << lines;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1) << lines;
    EXPECT_EQ(disk_says("own, " + fake.name(), "own"), !refused) << reason;
    const int calls = fake.calls;
    watched(attend, lines);
    EXPECT_EQ(fake.calls, calls);
    EXPECT_EQ(lines, "") << "once is enough";
  };
  check(Fault::wrong, 0, "result 0 differs from ours", false);
  check(Fault::slightly_wrong, 0, "result 0 differs from ours", false);
  check(Fault::not_finite, 0, "result 0 differs from ours by nan", false);
  check(Fault::incomplete, 0, "result 0 differs from ours by nan", false);
  check(Fault::failing, 0, "it does not work", false);
  check(Fault::refusing, 0, "not this one", true);
  check(Fault::none, most_attention_scratch + 1, "it wants 512 MiB to work in", true);
}

TEST(CudaAttentionChoice, ComparesLogSumExps) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("base2");
  fake.copies = true;
  fake.fault = Fault::log2;
  std::string lines;
  attend();  // without log-sum-exps, where it is right
  EXPECT_TRUE(same_bits(watched([] { return gradient(); }, lines), expected_gradient()));
  EXPECT_NE(lines.find("result 1 differs from ours by 0.44"), std::string::npos) << lines;
}

TEST(CudaAttentionChoice, ComparesGradientsThatAreStoredAndAdded) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  const Tensor started = normals({qkv().shape()}, 5)[0].to(DType::bfloat16).to(gpu);
  int number = 0;
  for (const Fault fault : {Fault::none, Fault::wrong, Fault::not_finite, Fault::stores, Fault::failing}) {
    Fake fake("pullback" + std::to_string(number++));
    std::string lines;
    fake.fault = fault;
    fake.pass = AttentionPass::pullback;
    const bool fails = fault != Fault::none;
    const Tensor added = watched([&] { return gradient(started.clone()); }, lines);
    EXPECT_TRUE(same_bits(added, expected_gradient(started))) << number;
    EXPECT_EQ(lines.find("left out (backward") != std::string::npos, fails) << number << lines;
    const Tensor stored = watched([] { return gradient(); }, lines);
    EXPECT_TRUE(same_bits(stored, expected_gradient())) << number;
    EXPECT_NE(lines.find("left out") != std::string::npos, !fails || fault == Fault::stores) << number;
  }
}

/// All that attention can be asked, on trial beside our own and then as it was chosen.
TEST(CudaAttentionChoice, TriesGroupsWindowsAndStridesOnTheirOperands) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("same");
  fake.extra_bytes = 100;
  std::string lines;
  const auto check = [](int64_t key_heads, int64_t window) {
    const Shape q{2, 9, 4 * 8}, k{2, 9, key_heads * 8};
    cladtorch::testing::DeviceCheck check(
        [=](const cladtorch::testing::Tensors& x) { return causal_attention(x[0], x[1], x[2], 4, window); },
        [=](const cladtorch::testing::Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
          clad::pullback_state<AttentionState> state;
          clad::custom_derivatives::cladtorch::causal_attention_reverse_forw(x[0], x[1], x[2], 4, window,
                                                                             state);
          clad::custom_derivatives::cladtorch::causal_attention_pullback(
              x[0], x[1], x[2], 4, window, std::move(d_y), d[0], d[1], d[2], state);
        },
        normals({q, k, k}));
    return check.run(DType::bfloat16);
  };
  const auto all = [&] {
    EXPECT_TRUE(check(4, 0));
    EXPECT_TRUE(check(2, 0));
    EXPECT_TRUE(check(1, 3));
    cladtorch::testing::DeviceCheck packed(
        [](const cladtorch::testing::Tensors& x) { return causal_attention(x[0], 4); },
        [](const cladtorch::testing::Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
          clad::pullback_state<AttentionState> state;
          clad::custom_derivatives::cladtorch::causal_attention_reverse_forw(x[0], 4, state);
          clad::custom_derivatives::cladtorch::causal_attention_pullback(x[0], 4, std::move(d_y), d[0],
                                                                         state);
        },
        normals({{2, 9, 3 * 4 * 8}}));
    EXPECT_TRUE(packed.run(DType::bfloat16));
    return fake.calls;
  };
  EXPECT_GT(watched(all, lines), 100);
  EXPECT_EQ(lines, "");
  const ForcedAttention forced("same");
  fake.calls = 0;
  EXPECT_GT(all(), 50);
}

TEST(CudaAttentionChoice, TellsProblemsApart) {
  const Tensor x = qkv(), y = expected();
  const auto layout = detail::AttentionLayout::packed(2, 40, heads * 16, heads);
  const AttentionOperands in = detail::packed_attention_operands(x);
  const AttentionProblem problem = AttentionProblem::forward(layout, in, 0, y, {});
  EXPECT_EQ(problem.text(),
            "attention forward bfloat16 2 40 2 2 16 40 0 0 16 3840 96 3840 96 3840 96 0 0 0 0 0 0");
  EXPECT_NE(AttentionProblem::forward(layout, in, 3, y, {}).numbers(), problem.numbers());
  EXPECT_NE(AttentionProblem::pullback(layout, in, y, y, {}).numbers(), problem.numbers());
  auto wide = layout;
  wide.window = 40;  // all that there is
  EXPECT_EQ(AttentionProblem::forward(wide, in, 0, y, {}).numbers(), problem.numbers());
  wide.window = 39;
  EXPECT_NE(AttentionProblem::forward(wide, in, 0, y, {}).numbers(), problem.numbers());
  const Tensor odd = Tensor::empty({2, 40, 97}, DType::bfloat16, gpu).narrow(2, 1, 96);
  EXPECT_EQ(AttentionProblem::forward(layout, detail::packed_attention_operands(odd), 0, y, {}).alignment, 2);
}

}  // namespace
}  // namespace cladtorch::cuda::testing
