// The choice among implementations of attention, with some that are faster, wrong or broken.
#include "ops/causal_attention/attention_choice.h"

#include <cuda_runtime.h>

#include <fstream>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/dry_run.h"
#include "cladtorch/tensor/workspace.h"
#include "cuda/choice_file.h"
#include "cuda/stream.h"
#include "ops/causal_attention/attention_implementation.h"
#include "tensor/device_graph.h"
#include "tensor/device_memory.h"
#include "tests/cuda/compare.h"

namespace cladtorch::cuda {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using detail::AttentionOperands;
using Places = std::array<detail::AttentionGradientPlace, 3>;
using testing::gpu;
using testing::normals;
using testing::same_bits;

enum class Fault {
  none,
  wrong,
  slightly_wrong,
  not_finite,
  incomplete,
  stores,
  log2,
  failing,
  refusing,
  absent
};

AttentionImplementation& own() {
  for (AttentionImplementation* one : attention_implementations())
    if (one->name() == "own") return *one;
  throw Error("own is not registered");
}

/// Our own kernels once, and then copies of what they found: fast, and right as long as the operands are.
class Fake final : public AttentionImplementation {
 public:
  explicit Fake(std::string name) : name_(std::move(name)), registration_(*this) {}

  std::string name() const override { return name_; }
  std::string version() const override { return version_text; }
  std::string unavailable() const override { return fault == Fault::absent ? "nobody is here" : ""; }
  bool supports(const AttentionProblem& problem) const override {
    return problem.past == 0 && problem.dtype == DType::bfloat16;
  }
  size_t scratch_bytes(const AttentionProblem& problem) override {
    if (has(Fault::refusing, problem)) throw Error("not this one");
    return extra_bytes + own().scratch_bytes(problem);
  }

  void forward(const AttentionProblem& problem, const AttentionOperands& in, Tensor& y, Tensor& log_sum_exp,
               void* scratch) override {
    begin(problem, scratch);
    if (copies) {
      if (!y_.defined() || (log_sum_exp.defined() && !log_sum_exp_.defined())) {
        y_ = Tensor::empty(y.shape(), y.dtype(), gpu);
        if (log_sum_exp.defined())
          log_sum_exp_ = Tensor::empty(log_sum_exp.shape(), log_sum_exp.dtype(), gpu);
        own().forward(altered(problem), in, y_, log_sum_exp_, scratch);
      }
      detail::copy_on(gpu, data(y), data(y_), y.nbytes() / (has(Fault::incomplete, problem) ? 2 : 1));
      if (log_sum_exp.defined())
        detail::copy_on(gpu, data(log_sum_exp), data(log_sum_exp_), log_sum_exp.nbytes());
    } else {
      own().forward(altered(problem), in, y, log_sum_exp, scratch);
    }
    if (has(Fault::slightly_wrong, problem)) detail::copy_on(gpu, data(y), data(in.q), y.nbytes() / 32);
    if (has(Fault::not_finite, problem)) spoil(data(y));
    if (has(Fault::log2, problem) && log_sum_exp.defined()) log_sum_exp.copy_from(log_sum_exp * 1.442695);
  }

  void pullback(const AttentionProblem& problem, const AttentionOperands& in, const Tensor& y,
                const Tensor& log_sum_exp, const Tensor& d_y, const Places& to, void* scratch) override {
    begin(problem, scratch);
    Places places = to;
    if (has(Fault::stores, problem))
      for (auto& place : places) place.add = false;
    own().pullback(altered(problem), in, y, log_sum_exp, d_y, places, scratch);
    if (has(Fault::not_finite, problem))
      for (const auto& place : to)
        if (place.data != nullptr) return spoil(place.data);
  }

  Fault fault = Fault::none;
  AttentionPass pass = AttentionPass::forward;  ///< that has the fault
  bool copies = false;                          ///< only forward, and only for the operands of the first call
  size_t extra_bytes = 0;
  int calls = 0;
  std::string version_text;

 private:
  bool has(Fault one, const AttentionProblem& problem) const { return fault == one && problem.pass == pass; }
  static void* data(const Tensor& x) {
    return const_cast<void*>(x.dtype() == DType::bfloat16
                                 ? static_cast<const void*>(x.device_data<bfloat16>())
                                 : static_cast<const void*>(x.device_data<float>()));
  }
  static void spoil(void* to) { cudaMemsetAsync(to, 0xFF, sizeof(bfloat16), compute_stream(gpu)); }

  AttentionProblem altered(AttentionProblem problem) const {
    if (has(Fault::wrong, problem)) problem.layout.window = 2;
    return problem;
  }

  void begin(const AttentionProblem& problem, void* scratch) {
    ++calls;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 256, 0u);
    const size_t bytes = scratch_bytes(problem);
    EXPECT_EQ(scratch == nullptr, bytes == 0);
    if (bytes > 0) cudaMemsetAsync(scratch, 0xFF, bytes, compute_stream(gpu));  // all of it is there
    if (has(Fault::failing, problem)) throw Error("it does not work");
  }

  std::string name_;
  Tensor y_, log_sum_exp_;
  AttentionRegistration registration_;  // last: everything is there by then
};

std::string choices_on_disk() {
  std::ifstream in(choice_path());
  return {std::istreambuf_iterator<char>(in), {}};
}
bool disk_says(const std::string& candidates, const std::string& choice) {
  return choices_on_disk().find(", " + candidates + '\t' + choice + '\n') != std::string::npos;
}

/// Restores what the environment says.
class Variable {
 public:
  Variable(const char* name, const char* value)
      : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

constexpr int64_t heads = 2;
const Tensor& qkv() {
  static const Tensor x = normals({{2, 40, 3 * heads * 16}})[0].to(DType::bfloat16).to(gpu);
  return x;
}
Tensor attend() { return causal_attention(qkv(), heads); }
Tensor expected() {
  const ForcedAttention forced("own");
  return attend();
}
Tensor gradient(Tensor d_qkv = {}) {
  clad::pullback_state<AttentionState> state;
  const Tensor y = pullbacks::causal_attention_reverse_forw(qkv(), heads, state);
  pullbacks::causal_attention_pullback(qkv(), heads, y, &d_qkv, state);
  return d_qkv;
}
Tensor expected_gradient(const Tensor& d_qkv = {}) {
  const ForcedAttention forced("own");
  return gradient(d_qkv.defined() ? d_qkv.clone() : d_qkv);
}

/// With what was written to stderr meanwhile.
template <class F>
auto watched(F f, std::string& lines) {
  ::testing::internal::CaptureStderr();
  auto result = f();
  lines = ::testing::internal::GetCapturedStderr();
  return result;
}

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
    if (!refused) EXPECT_TRUE(disk_says("own, " + fake.name(), "own")) << reason;
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
    testing::DeviceCheck check(
        [=](const testing::Tensors& x) { return causal_attention(x[0], x[1], x[2], 4, window); },
        [=](const testing::Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
          clad::pullback_state<AttentionState> state;
          pullbacks::causal_attention_reverse_forw(x[0], x[1], x[2], 4, window, state);
          pullbacks::causal_attention_pullback(x[0], x[1], x[2], 4, window, std::move(d_y), d[0], d[1], d[2],
                                               state);
        },
        normals({q, k, k}));
    return check.run(DType::bfloat16);
  };
  const auto all = [&] {
    EXPECT_TRUE(check(4, 0));
    EXPECT_TRUE(check(2, 0));
    EXPECT_TRUE(check(1, 3));
    testing::DeviceCheck packed([](const testing::Tensors& x) { return causal_attention(x[0], 4); },
                                [](const testing::Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                                  clad::pullback_state<AttentionState> state;
                                  pullbacks::causal_attention_reverse_forw(x[0], 4, state);
                                  pullbacks::causal_attention_pullback(x[0], 4, std::move(d_y), d[0], state);
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

TEST(CudaAttentionChoice, IsOurOwnWhileAGraphIsCaptured) {
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
  graph->launch();
  EXPECT_TRUE(same_bits(y, right));
  attend();
  EXPECT_GT(fake.calls, 1);
  EXPECT_TRUE(disk_says("own, captured", "captured"));
  fake.calls = 0;
  const auto later = detail::capture(gpu, work);
  EXPECT_EQ(fake.calls, 1) << "what is known is used there too";
}

TEST(CudaAttentionChoice, IsOurOwnWithoutTuning) {
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

TEST(CudaAttentionChoice, FollowsTheEnvironment) {
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

TEST(CudaAttentionChoice, GoesBackToOurOwnWhenTheChosenOneFails) {
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
TEST(CudaAttentionChoice, IsPlannedByADryRun) {
  const Variable tuning("CLADTORCH_CUDA_TUNING", "on");
  constexpr size_t bytes = size_t{1} << 22;
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
}  // namespace cladtorch::cuda
