// Counts every heap allocation of the process, operator new and malloc alike, during training steps.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "cladtorch/models/gpt2.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/tokens.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CLADTORCH_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CLADTORCH_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef CLADTORCH_COUNTS_ALLOCATIONS
#define CLADTORCH_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations = 0;
}

#if CLADTORCH_COUNTS_ALLOCATIONS
// glibc's own entry points; operator new ends in malloc or aligned_alloc.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t n) { return ++allocations, __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return ++allocations, __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return ++allocations, __libc_realloc(p, n); }
void* memalign(size_t alignment, size_t n) { return ++allocations, __libc_memalign(alignment, n); }
void* aligned_alloc(size_t alignment, size_t n) { return ++allocations, __libc_memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
  ++allocations;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}
}
#endif

namespace cladtorch {
namespace {

using testing::random_tokens;

TEST(GPT2Allocations, ATrainingStepMakesNoneFromTheSecondOn) {
  if (!CLADTORCH_COUNTS_ALLOCATIONS) GTEST_SKIP() << "the sanitizer replaces malloc itself";
  const GPT2 model(gpt2_preset("toy"));
  const Tensor tokens = random_tokens({2, 40}, 65, 1), targets = random_tokens({2, 40}, 65, 2);
  GPT2 gradient = like(model);
  Workspace workspace;
  for (int step = 1; step <= 4; ++step) {
    const long before = allocations;
    {
      const Workspace::Step open(workspace);
      loss_and_gradient(model, tokens, targets, &gradient);
    }
    const long made = allocations - before;
    if (step == 1) {
      EXPECT_GT(made, 0) << "the counter sees the first step's allocations";
    } else {
      EXPECT_EQ(made, 0) << "in step " << step;
    }
    for_each_parameter(gradient, [](const std::string&, Tensor& d) { d.mark_zero(); });
  }
  const WorkspaceStatistics statistics = workspace.statistics();
  EXPECT_EQ(statistics.plans, 1);
  EXPECT_EQ(statistics.unplanned_allocations, 0);
  EXPECT_EQ(statistics.heap_allocations, 0);
  EXPECT_LT(statistics.planned_bytes, statistics.naive_bytes);
  EXPECT_LE(static_cast<double>(statistics.planned_bytes), 1.1 * static_cast<double>(statistics.live_bytes));
}

}  // namespace
}  // namespace cladtorch
