// Which attention runs under which setting, in a capture and in a dry run. On the imitation alone.
#include "cladtorch/tensor/dry_run.h"
#include "cladtorch/tensor/workspace.h"
#include "tensor/device_graph.h"
#include "tests/cuda/fake_attention.h"

namespace cladtorch::cuda::testing {
namespace {

using cladtorch::testing::gpu;
using cladtorch::testing::same_bits;

TEST(CudaAttentionSetting, IsOurOwnWhileAGraphIsCaptured) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("captured");
  fake.copies = true;
  const Tensor right = expected();
  Tensor y = Tensor::empty(right.shape(), DType::bfloat16, gpu);
  const Tensor x = qkv();
  Workspace workspace;
  const auto work = [&] {
    const Workspace::Step step(workspace);
    y.copy_from(causal_attention(x, heads));
  };
  {
    const ForcedAttention forced("own");
    for (int i = 0; i < 2; ++i) work();  // memory is planned
  }
  y.fill_(0);
  const auto graph = detail::capture(gpu, work);
  EXPECT_EQ(fake.calls, 0);
  EXPECT_EQ(fake.questions, 0) << "a library that is asked may allocate";
  graph->launch();
  EXPECT_TRUE(same_bits(y, right));
  attend();
  EXPECT_GT(fake.calls, 1);
  EXPECT_TRUE(disk_says("own, captured", "captured"));
  fake.calls = 0;
  const auto later = detail::capture(gpu, work);
  EXPECT_EQ(fake.calls, 1) << "what is known is used there too";
}

TEST(CudaAttentionSetting, IsOurOwnWithoutTuning) {
  Fake fake("untimed");
  fake.copies = true;
  EXPECT_TRUE(same_bits(attend(), expected()));
  EXPECT_EQ(fake.calls, 0);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(CudaAttentionSetting, FollowsTheEnvironment) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("forced");
  fake.fault = Fault::wrong;  // nothing is compared
  const auto call = [] { attend(); };
  {
    const Variable name("CLADTORCH_CUDA_ATTENTION", "own");
    EXPECT_EQ(error_of(call), "none");
    EXPECT_EQ(fake.calls, 0);
  }
  const Variable name("CLADTORCH_CUDA_ATTENTION", "forced");
  EXPECT_EQ(error_of(call), "none");
  EXPECT_EQ(fake.calls, 1);
  EXPECT_EQ(choices_on_disk().find("forced"), std::string::npos);
  EXPECT_TRUE(same_bits(expected(), expected()));
  EXPECT_EQ(fake.calls, 1) << "ForcedAttention comes before the environment";

  const Tensor x = qkv().to(DType::float32);
  causal_attention(x, heads);
  EXPECT_EQ(fake.calls, 1) << "it does not support float32";
  for (const auto& [fault, text] :
       {std::pair{Fault::failing, "it does not work"},
        {Fault::refusing, "causal_attention: CLADTORCH_CUDA_ATTENTION is 'forced': not this one"},
        {Fault::absent, "causal_attention: CLADTORCH_CUDA_ATTENTION is 'forced': nobody is here"}}) {
    fake.fault = fault;
    forget_attention_choices();
    EXPECT_EQ(error_of(call), text);
  }
  const Variable nonsense("CLADTORCH_CUDA_ATTENTION", "nonsense");
  EXPECT_EQ(error_of(call).rfind("causal_attention: CLADTORCH_CUDA_ATTENTION is 'nonsense', expected one of: "
                                 "auto, ",
                                 0),
            0u)
      << error_of(call);
}

TEST(CudaAttentionSetting, GoesBackToOurOwnWhenTheChosenOneFails) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  Fake fake("later");
  fake.copies = true;
  attend();
  fake.fault = Fault::failing;
  std::string lines;
  EXPECT_TRUE(same_bits(watched(attend, lines), expected()));
  EXPECT_NE(lines.find("later is left out"), std::string::npos) << lines;
  const int calls = fake.calls;
  attend();
  EXPECT_EQ(fake.calls, calls);
}

/// A dry run plans for the candidate that wants most; then the plan has what the chosen one wants.
TEST(CudaAttentionSetting, IsPlannedByADryRun) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  constexpr size_t bytes = size_t{1} << 22;
  qkv();  // made where there is memory
  for (const bool faster : {true, false}) {
    Fake fake(faster ? "planned" : "unplanned");
    fake.copies = true;
    fake.extra_bytes = bytes;
    if (!faster) fake.fault = Fault::wrong;
    Workspace workspace;
    const auto planned = [&] {
      {
        const Workspace::Step step(workspace);
        attend();
      }
      return workspace.statistics(gpu).planned_bytes;
    };
    const auto dry = [&] {
      const DryRun active;
      return planned();
    };
    EXPECT_GT(dry(), bytes);
    EXPECT_EQ(fake.calls, 0);
    std::string lines;
    watched(planned, lines);
    const int64_t plans = workspace.statistics(gpu).plans;
    EXPECT_EQ(plans, faster ? 1 : 2);
    EXPECT_EQ(planned() > bytes, faster);
    EXPECT_EQ(dry() > bytes, faster) << "the choice is known";
    EXPECT_EQ(workspace.statistics(gpu).plans, plans);
  }
}

}  // namespace
}  // namespace cladtorch::cuda::testing
