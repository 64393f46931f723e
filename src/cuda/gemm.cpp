#include "cuda/gemm.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/tensor/dry_run.h"
#include "cuda/gemm_algorithm.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {
namespace {

/// The plans of all devices. A plan without an algorithm remembers that the product cannot be done.
class Plans {
 public:
  GemmPlan& find(Device device, const GemmKey& key, const GemmOperands& operands) {
    std::unique_ptr<GemmPlan>& plan = plans_[{device.index, key}];
    if (!plan) {
      auto made = std::make_unique<GemmPlan>(key);
      choose_algorithm(device, *made, operands);
      plan = std::move(made);
    }
    return *plan;
  }

  std::mutex mutex;  ///< a plan is used by one thread at a time

 private:
  std::map<std::pair<int, GemmKey>, std::unique_ptr<GemmPlan>> plans_;
};

/// Never destroyed: a destructor would run after the runtime's own.
Plans& plans() {
  static Plans* const all = new Plans;
  return *all;
}

}  // namespace

bool gemm(Device device, const GemmProblem& problem, const GemmOperands& operands) {
  if (DryRun::active()) return true;
  const cublasLtHandle_t handle = cublas_lt(device);
  const std::scoped_lock lock(plans().mutex);
  GemmPlan& plan = plans().find(device, GemmKey(problem, operands), operands);
  require(plan.algorithm || problem.epilogue != Epilogue::none, "matmul: cuBLASLt has no algorithm for ",
          plan.key().text());
  if (!plan.algorithm) return false;
  check(plan.launch(handle, operands, *plan.algorithm, compute_stream(device)), "cublasLtMatmul");
  return true;
}

}  // namespace cladtorch::cuda
