// cuDNN's fused attention, where libcudnn.so.9 is installed: it is opened when it is first asked for. Graphs
// are built with cudnn-frontend, once for each problem.
#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cladtorch/error.h"
#include "cuda/check.h"
#include "cuda/cudnn_layout.h"
#include "cuda/stream.h"

namespace cudnn_frontend {
/// Where the frontend looks for the functions of cuDNN.
void* cudnn_dlhandle = nullptr;
}  // namespace cudnn_frontend

namespace cladtorch::cuda {
namespace {

namespace fe = cudnn_frontend;
using TensorAttributes = fe::graph::Tensor_attributes;

/// Of the tensors in a graph.
enum Id : int64_t { q = 1, k, v, y, statistics, d_y, d_q, d_k, d_v };
using Pointers = std::unordered_map<int64_t, void*>;

/// The first line of what the frontend says; lists of all engines may follow.
void check(fe::error_t status) {
  const std::string message = status.get_message();
  if (status.is_bad()) fail("cuDNN: ", message.substr(0, message.find('\n')));
}
void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS)
    fail("cuDNN: ", call, " failed: ", fe::detail::get_error_string(status));
}

/// The library, and why it cannot be used.
struct Library {
  std::string lack;

  Library() {
    constexpr size_t oldest = 90000;
    fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    if (fe::cudnn_dlhandle == nullptr) {
      const char* const reason = dlerror();
      lack = std::string("cuDNN 9 was not found: ") + (reason ? reason : "");
    } else if (fe::detail::get_backend_version() < oldest) {
      lack = "cuDNN is older than 9";
    }
  }
};

const Library& library() {
  static const Library opened;
  return opened;
}

/// A graph that cuDNN has compiled.
class Plan {
 public:
  Plan(const AttentionProblem& problem, cudnnHandle_t handle) {
    const CudnnAttentionLayout layout(problem);
    graph_.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    if (problem.pass == AttentionPass::forward) {
      make_forward(layout, problem.statistics, scale_of(problem));
    } else {
      make_pullback(layout, scale_of(problem));
    }
    check(graph_.build(handle, {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
    int64_t bytes = 0;
    check(graph_.get_workspace_size(bytes));
    scratch_bytes_ = static_cast<size_t>(bytes);
  }

  size_t scratch_bytes() const { return scratch_bytes_; }
  void run(cudnnHandle_t handle, Pointers pointers, void* scratch) {
    check(graph_.execute(handle, pointers, scratch));
  }

 private:
  static float scale_of(const AttentionProblem& problem) {
    return 1 / std::sqrt(static_cast<float>(problem.layout.head_size));
  }

  static void describe(TensorAttributes& tensor, Id id, const CudnnTensor& x) {
    tensor.set_uid(id)
        .set_dim({x.dimensions.begin(), x.dimensions.end()})
        .set_stride({x.strides.begin(), x.strides.end()});
  }
  std::shared_ptr<TensorAttributes> input(Id id, const CudnnTensor& x) {
    TensorAttributes tensor;
    describe(tensor, id, x);
    return graph_.tensor(tensor);
  }
  static void output(const std::shared_ptr<TensorAttributes>& tensor, Id id, const CudnnTensor& x) {
    describe(*tensor, id, x);
    tensor->set_output(true);
  }

  template <class Attributes>
  static void mask(Attributes& attributes, const CudnnAttentionLayout& layout) {
    attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
    if (layout.window) attributes.set_diagonal_band_left_bound(static_cast<int>(*layout.window));
  }

  void make_forward(const CudnnAttentionLayout& layout, bool with_statistics, float scale) {
    fe::graph::SDPA_attributes attributes;
    attributes.set_name("attention").set_generate_stats(with_statistics).set_attn_scale(scale);
    mask(attributes, layout);
    const auto [result, sums] =
        graph_.sdpa(input(Id::q, layout.q), input(Id::k, layout.k), input(Id::v, layout.v), attributes);
    output(result, Id::y, layout.y);
    if (!with_statistics) return;
    output(sums, Id::statistics, layout.statistics);
    sums->set_data_type(fe::DataType_t::FLOAT);
  }

  /// In the order of sums that does not change from run to run. On Hopper cuDNN then keeps gradients of
  /// scores [B, H, T, T] in its workspace, unless it is 9.25 or newer and the environment has
  /// CUDNN_FRONTEND_ATTN_DP_WORKSPACE_LIMIT=0.
  void make_pullback(const CudnnAttentionLayout& layout, float scale) {
    fe::graph::SDPA_backward_attributes attributes;
    attributes.set_name("attention_pullback").set_attn_scale(scale).set_deterministic_algorithm(true);
    mask(attributes, layout);
    const auto sums = input(Id::statistics, layout.statistics);
    sums->set_data_type(fe::DataType_t::FLOAT);
    const auto [to_q, to_k, to_v] =
        graph_.sdpa_backward(input(Id::q, layout.q), input(Id::k, layout.k), input(Id::v, layout.v),
                             input(Id::y, layout.y), input(Id::d_y, layout.y), sums, attributes);
    output(to_q, Id::d_q, layout.d_q);
    output(to_k, Id::d_k, layout.d_k);
    output(to_v, Id::d_v, layout.d_v);
  }

  fe::graph::Graph graph_;
  size_t scratch_bytes_ = 0;
};

template <class T>
void* pointer(const Tensor& x) {
  return const_cast<T*>(x.device_data<T>());
}

class CudnnAttention final : public AttentionImplementation {
 private:
  /// The frontend throws exceptions of its own where it misses a library.
  template <class Use>
  auto with_plan(const AttentionProblem& problem, Use use) {
    const std::scoped_lock lock(mutex_);
    try {
      const cudnnHandle_t handle = handle_of(problem.device);
      std::unique_ptr<Plan>& plan = plans_[problem.numbers()];
      if (!plan) plan = std::make_unique<Plan>(problem, handle);
      return use(*plan, handle);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail("cuDNN: ", error.what());
    }
  }

 public:
  std::string name() const override { return "cudnn"; }
  std::string version() const override {
    const size_t number = library().lack.empty() ? fe::detail::get_backend_version() : 0;
    return std::to_string(number / 10000) + '.' + std::to_string(number / 100 % 100) + '.' +
           std::to_string(number % 100);
  }
  std::string unavailable() const override { return library().lack; }
  bool supports(const AttentionProblem& problem) const override { return suits_cudnn(problem); }

  size_t scratch_bytes(const AttentionProblem& problem) override {
    return with_plan(problem, [](Plan& plan, cudnnHandle_t) { return plan.scratch_bytes(); });
  }

  void forward(const AttentionProblem& problem, const detail::AttentionOperands& in, Tensor& result,
               Tensor& log_sum_exp, void* scratch) override {
    Pointers pointers = operands(in);
    pointers[Id::y] = result.device_data<bfloat16>();
    if (problem.statistics) pointers[Id::statistics] = log_sum_exp.device_data<float>();
    run(problem, std::move(pointers), scratch);
  }

  void pullback(const AttentionProblem& problem, const detail::AttentionOperands& in, const Tensor& result,
                const Tensor& log_sum_exp, const Tensor& d_result,
                const std::array<detail::AttentionGradientPlace, 3>& to, void* scratch) override {
    Pointers pointers = operands(in);
    pointers[Id::y] = pointer<bfloat16>(result);
    pointers[Id::statistics] = pointer<float>(log_sum_exp);
    pointers[Id::d_y] = pointer<bfloat16>(d_result);
    pointers[Id::d_q] = to[0].data;
    pointers[Id::d_k] = to[1].data;
    pointers[Id::d_v] = to[2].data;
    run(problem, std::move(pointers), scratch);
  }

 private:
  static Pointers operands(const detail::AttentionOperands& in) {
    return {
        {Id::q, pointer<bfloat16>(in.q)}, {Id::k, pointer<bfloat16>(in.k)}, {Id::v, pointer<bfloat16>(in.v)}};
  }

  void run(const AttentionProblem& problem, Pointers pointers, void* scratch) {
    with_plan(problem, [&](Plan& plan, cudnnHandle_t handle) {
      plan.run(handle, std::move(pointers), scratch);
      return 0;
    });
  }

  cudnnHandle_t handle_of(Device device) {
    const cudaStream_t stream = compute_stream(device);
    cudnnHandle_t& handle = handles_[device.index];
    if (handle == nullptr) check(fe::detail::create_handle(&handle), "cudnnCreate");
    check(fe::detail::set_stream(handle, stream), "cudnnSetStream");
    return handle;
  }

  std::mutex mutex_;
  std::map<int, cudnnHandle_t> handles_;
  std::map<AttentionProblem::Numbers, std::unique_ptr<Plan>> plans_;
};

/// Never destroyed: its plans would be after the library's own end.
const AttentionRegistration registration(*new CudnnAttention);

}  // namespace
}  // namespace cladtorch::cuda
