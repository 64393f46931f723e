// Tensors on a device: copies, conversions, views, memory and its plan.
#include "cladtorch/tensor/tensor.h"

#include "cladtorch/tensor/dlpack.h"
#include "cladtorch/tensor/dry_run.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

using testing::error_of;
using testing::gpu;
using testing::relative_difference;
using testing::same_bits;
using testing::strided_copy;

constexpr DType dtypes[] = {DType::float64, DType::float32, DType::bfloat16,
                            DType::int32,   DType::int64,   DType::boolean};

Tensor numbers(const Shape& shape, DType dtype) {
  Random random(4);
  Tensor x = randn(shape, random, DType::float64);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] *= 100;
  return x.to(dtype);
}

TEST(CudaTensor, GoesThereAndBack) {
  for (DType dtype : dtypes) {
    for (const Shape& shape : {Shape{}, {0}, {1}, {17}, {3, 1000}, {1 << 18, 7}}) {
      const Tensor x = numbers(shape, dtype), y = x.to(gpu);
      EXPECT_EQ(y.device(), gpu);
      EXPECT_TRUE(same_bits(y, x)) << shape << ' ' << dtype;
    }
  }
}

TEST(CudaTensor, ConvertsAsTheCpuDoes) {
  for (DType from : dtypes) {
    const Tensor x = numbers({3, 67}, from);
    for (DType to : dtypes) {
      EXPECT_TRUE(same_bits(x.to(gpu).to(to), x.to(to))) << from << " to " << to;
      const Tensor strided = strided_copy(x.to(gpu));
      EXPECT_FALSE(strided.is_contiguous());
      EXPECT_TRUE(same_bits(strided.to(to), x.to(to))) << from << " to " << to;
    }
  }
  const Tensor large = from_values<int64_t>({2}, {int64_t{1} << 40, -(int64_t{1} << 40)});
  EXPECT_TRUE(same_bits(large.to(gpu).to(DType::int32), large.to(DType::int32)));
}

TEST(CudaTensor, GoesThroughDLPack) {
  for (DType dtype : dtypes) {
    Tensor x = numbers({3, 67}, dtype).to(gpu).transpose(0, 1);
    const Tensor back = from_dlpack(to_dlpack(x)), again = from_dlpack(to_dlpack_versioned(x));
    EXPECT_EQ(back.device(), gpu);
    EXPECT_EQ(back.strides(), x.strides());
    EXPECT_TRUE(same_bits(back, x)) << dtype;
    x.fill_(1);
    EXPECT_TRUE(same_bits(back, x) && same_bits(again, x)) << dtype;
  }
}

TEST(CudaTensor, CopiesBetweenViews) {
  for (DType dtype : dtypes) {
    const Tensor x = numbers({4, 5, 6}, dtype);
    const Tensor there = x.to(gpu);
    EXPECT_TRUE(same_bits(there.permute({2, 0, 1}).contiguous(), x.permute({2, 0, 1}).contiguous()));
    EXPECT_TRUE(same_bits(there.narrow(1, 1, 3).contiguous(), x.narrow(1, 1, 3).contiguous()));
    EXPECT_TRUE(same_bits(there.select(2, 3).expand({7, 4, 5}).contiguous(),
                          x.select(2, 3).expand({7, 4, 5}).contiguous()));
    Tensor target = full({4, 5, 6}, 1, dtype, gpu), expected = full({4, 5, 6}, 1, dtype);
    target.narrow(2, 1, 2).copy_from(x.narrow(2, 0, 2));  // from the CPU into a view
    expected.narrow(2, 1, 2).copy_from(x.narrow(2, 0, 2));
    EXPECT_TRUE(same_bits(target, expected));
  }
}

TEST(CudaTensor, FillsAndCounts) {
  for (DType dtype : dtypes) {
    Tensor x = zeros({5, 9}, dtype, gpu), expected = zeros({5, 9}, dtype);
    x.narrow(1, 2, 3).fill_(-3);
    expected.narrow(1, 2, 3).fill_(-3);
    EXPECT_TRUE(same_bits(x, expected));
    EXPECT_TRUE(same_bits(arange(1000, dtype, gpu), arange(1000, dtype)));
  }
  EXPECT_EQ(full({}, 2.5, DType::float32, gpu).item(), 2.5);
}

TEST(CudaTensor, AddsGradients) {
  for (DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    const Tensor a = numbers({3, 33}, dtype), b = numbers({33, 3}, dtype).permute({1, 0});
    Tensor sum = a.clone(), there = a.to(gpu).clone();
    sum.accumulate(b);
    there.accumulate(b.to(gpu));
    EXPECT_TRUE(same_bits(there, sum)) << dtype;

    Tensor buffer = gradient_buffer_like(a.to(gpu)), expected = gradient_buffer_like(a);
    EXPECT_EQ(buffer.device(), gpu);
    for (int i = 0; i < 2; ++i) {
      buffer.accumulate(a.to(gpu));
      expected.accumulate(a);
    }
    EXPECT_TRUE(same_bits(buffer, expected)) << dtype;
    buffer.mark_zero();
    EXPECT_EQ(relative_difference(buffer.to(Device{}), zeros(a.shape())), 0);
  }
}

TEST(CudaTensor, SaysWhereItIs) {
  Tensor x = ones({2}, DType::float32, gpu);
  EXPECT_EQ(error_of([&] { x.data<float>(); }),
            "data: the tensor is on cuda:0, asked for on cpu; copy it with to(device)");
  EXPECT_EQ(error_of([&] { x.accumulate(ones({2})); }),
            "accumulate: gradient is on cuda:0, contribution is on cpu");
  EXPECT_NE(error_of([] {
              ones({2}, DType::float32, {DeviceType::cuda, 63});
            }).find("device cuda:63 is not available: there is only 1; the first is cuda:0"),
            std::string::npos);
  EXPECT_EQ(x.to_string(), "tensor([1.0000, 1.0000], shape=[2], dtype=float32, device=cuda:0)");
}

/// Tensors that live and die on both devices.
double work(int64_t n) {
  Tensor a = full({n}, 1, DType::float32, gpu);
  const Tensor b = full({2 * n}, 2, DType::float32, gpu), here = full({16}, 7);
  {
    const Tensor c = full({n}, 3, DType::float32, gpu);
    EXPECT_EQ(c.select(0, n - 1).item(), DryRun::active() ? 0 : 3);
  }
  a = Tensor();
  const Tensor d = full({n}, 4, DType::float32, gpu);
  return b.select(0, n).item() + d.select(0, 0).item() + here.select(0, 0).item();
}

TEST(CudaTensor, AStepReplaysItsPlan) {
  Workspace workspace;
  for (int i = 0; i < 4; ++i) {
    const Workspace::Step step(workspace);
    EXPECT_EQ(work(1024), 13);
  }
  const WorkspaceStatistics there = workspace.statistics(gpu), here = workspace.statistics();
  EXPECT_EQ(there.plans, 1);
  EXPECT_EQ(there.unplanned_allocations, 0);
  EXPECT_EQ(there.heap_allocations, 0);
  EXPECT_EQ(there.planned_bytes, 4096u * 3 + 4096u);
  EXPECT_EQ(here.plans, 1);
}

TEST(CudaTensor, ADryRunPlansWithoutMemory) {
  Workspace workspace;
  {
    const DryRun dry;
    const Workspace::Step step(workspace);
    EXPECT_EQ(work(1 << 28), 7);
  }
  const WorkspaceStatistics planned = workspace.statistics(gpu);
  EXPECT_GE(planned.planned_bytes, size_t{3} << 30);
  workspace.reset();
  {
    const DryRun dry;
    const Workspace::Step step(workspace);
    work(1024);
  }
  for (int i = 0; i < 2; ++i) {
    const Workspace::Step step(workspace);
    EXPECT_EQ(work(1024), 13);
  }
  EXPECT_EQ(workspace.statistics(gpu).plans, 1);
  EXPECT_EQ(workspace.statistics(gpu).unplanned_allocations, 0);
}

TEST(CudaTensor, OutlivesItsStep) {
  Workspace workspace;
  Tensor kept;
  for (int i = 0; i < 3; ++i) {
    {
      const Workspace::Step step(workspace);
      work(64);
      kept = full({100}, i, DType::float32, gpu);
    }
    EXPECT_EQ(kept.select(0, 99).item(), i);
  }
}

TEST(CudaTensor, NamesWhatDoesNotFit) {
  const std::string error = error_of([] { Tensor::empty({int64_t{1} << 48}, DType::float32, gpu); });
  EXPECT_NE(error.find("out of memory on cuda:0: 1073741824 MiB requested"), std::string::npos) << error;
  EXPECT_EQ(ones({2}, DType::float32, gpu).select(0, 1).item(), 1);
}

}  // namespace
}  // namespace cladtorch
