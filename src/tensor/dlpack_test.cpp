#include "cladtorch/tensor/dlpack.h"

#include <gmock/gmock.h>

#include <cstring>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"
#include "tensor/dlpack_abi.h"

namespace cladtorch {
namespace {

using ::testing::ElementsAre;

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <class T>
std::vector<T> values_of(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return {dense.data<T>(), dense.data<T>() + dense.numel()};
}

/// Another library's tensor [2,3] of float32.
template <class Handle>
struct Foreign {
  std::vector<float> memory = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int64_t> shape = {2, 3}, strides = {3, 1};
  int deleted = 0;
  Handle handle{};

  Foreign() {
    handle.dl_tensor = {memory.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape.data(), strides.data(), 0};
    handle.manager_ctx = this;
    handle.deleter = [](Handle* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    if constexpr (requires { handle.version; }) handle.version = {1, 1};
  }
  std::string error() {
    const std::string text = error_of([&] { from_dlpack(&handle); });
    EXPECT_EQ(deleted, 0) << "it belongs to the caller";
    return text;
  }
};
using Plain = Foreign<DLManagedTensor>;
using Versioned = Foreign<DLManagedTensorVersioned>;

TEST(DLPack, ATensorComesBackInTheSameMemory) {
  for (const DType dtype :
       {DType::float32, DType::float64, DType::int32, DType::int64, DType::boolean, DType::bfloat16}) {
    Tensor x = arange(6).reshape({2, 3}).to(dtype);
    const Tensor back = from_dlpack(to_dlpack(x)), again = from_dlpack(to_dlpack_versioned(x));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.to_string(), x.to_string());
    EXPECT_EQ(again.to_string(), x.to_string());
    EXPECT_EQ(back.data(), std::as_const(x).data());
    x.zero_();
    EXPECT_EQ(back.to_string(), x.to_string());
  }
}

TEST(DLPack, AHandleDescribesAView) {
  const Tensor x = arange(24, DType::float32).reshape({2, 3, 4}).transpose(0, 2).narrow(1, 1, 2);
  DLManagedTensor* const handle = to_dlpack(x);
  const DLTensor& t = handle->dl_tensor;
  EXPECT_EQ(t.ndim, 3);
  EXPECT_THAT(std::vector(t.shape, t.shape + 3), ElementsAre(4, 2, 2));
  EXPECT_THAT(std::vector(t.strides, t.strides + 3), ElementsAre(1, 4, 12));
  EXPECT_EQ(*static_cast<float*>(t.data), 4);
  EXPECT_EQ(t.byte_offset, 0u);
  EXPECT_EQ(t.device.device_type, kDLCPU);
  const Tensor back = from_dlpack(handle);
  EXPECT_EQ(values_of<float>(back), values_of<float>(x));
}

TEST(DLPack, AHandleKeepsTheMemoryUntilItIsDeleted) {
  Tensor x = full({3}, 2.0);
  DLManagedTensorVersioned* const handle = to_dlpack_versioned(x);
  x = Tensor();
  EXPECT_EQ(static_cast<float*>(handle->dl_tensor.data)[2], 2);
  handle->deleter(handle);  // a sanitizer finds what is freed twice or never
}

TEST(DLPack, EmptyTensorsAndNumbersGoThrough) {
  EXPECT_EQ(from_dlpack(to_dlpack(zeros({0, 3}))).shape(), (Shape{0, 3}));
  EXPECT_EQ(from_dlpack(to_dlpack(full({}, 2.5))).item(), 2.5);
}

TEST(DLPack, WhatBroadcastsIsNotToBeWritten) {
  const Tensor row = full({3}, 1.0);
  DLManagedTensorVersioned* const plain = to_dlpack_versioned(row);
  EXPECT_EQ(plain->flags, 0u);
  plain->deleter(plain);
  DLManagedTensorVersioned* const wide = to_dlpack_versioned(row.expand({2, 3}));
  EXPECT_EQ(wide->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  const Tensor copy = from_dlpack(wide);
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_EQ(copy.shape(), (Shape{2, 3}));
}

TEST(DLPack, AForeignTensorIsDeletedOnceWithTheLastHandle) {
  Plain foreign;
  {
    Tensor x = from_dlpack(&foreign.handle);
    const Tensor view = x.select(0, 1);
    x.fill_(7);
    x = Tensor();
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_THAT(values_of<float>(view), ElementsAre(7, 7, 7));
  }
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(foreign.memory[5], 7);
  EXPECT_EQ(foreign.memory[6], 6);
}

TEST(DLPack, AForeignTensorMayHaveStridesAndAnOffset) {
  Plain foreign;
  foreign.strides = {1, 3};
  foreign.handle.dl_tensor.byte_offset = 4;
  EXPECT_THAT(values_of<float>(from_dlpack(&foreign.handle)), ElementsAre(1, 4, 7, 2, 5, 8));
}

TEST(DLPack, AForeignTensorWithoutStridesIsDense) {
  Plain foreign;
  foreign.handle.dl_tensor.strides = nullptr;
  EXPECT_THAT(values_of<float>(from_dlpack(&foreign.handle)), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(DLPack, AForeignTensorWithoutADeleterIsBorrowed) {
  Plain foreign;
  foreign.handle.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.handle).numel(), 6);
}

TEST(DLPack, AForeignTensorIsAnOperandInAStep) {
  Plain foreign;
  Workspace workspace;
  for (int i = 0; i < 3; ++i) {
    const Workspace::Step step(workspace);
    Plain other;
    Tensor sum = from_dlpack(&foreign.handle).clone();
    sum.accumulate(from_dlpack(&other.handle));
    EXPECT_EQ(sum.select(0, 1).select(0, 2).item(), 10);
    EXPECT_EQ(other.deleted, 1);
  }
  EXPECT_EQ(foreign.deleted, 3);
  EXPECT_EQ(workspace.statistics().plans, 1);
}

TEST(DLPack, SumsOfGradientsLeaveAForeignTensorAlone) {
  Plain foreign;
  Tensor d;
  d.accumulate(from_dlpack(&foreign.handle));
  d.accumulate(ones({2, 3}));
  EXPECT_THAT(values_of<float>(d), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(foreign.memory[5], 5);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, WhatMayNotBeWrittenIsCopied) {
  Versioned foreign;
  foreign.handle.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  Tensor copy = from_dlpack(&foreign.handle);
  EXPECT_EQ(foreign.deleted, 1);
  copy.fill_(9);
  EXPECT_EQ(foreign.memory[1], 1);
}

TEST(DLPack, RefusesWhatNoOtherLibraryMayHold) {
  const Tensor x = zeros({2});
  EXPECT_EQ(error_of([] { to_dlpack(Tensor()); }), "to_dlpack: the tensor is undefined");
  EXPECT_EQ(error_of([&] { to_dlpack(gradient_buffer_like(x)); }),
            "to_dlpack: a gradient buffer cannot be shared; clone it");
  EXPECT_EQ(error_of([&] { to_dlpack(gradient_sink({2})); }),
            "to_dlpack: a gradient buffer cannot be shared; clone it");
  EXPECT_EQ(
      error_of([] { to_dlpack_versioned(Tensor::empty({2}, DType::float8_e4m3)); }),
      "to_dlpack: the tensor is float8_e4m3, expected float32, float64, int32, int64, bool or bfloat16");
  Workspace workspace;
  const Workspace::Step step(workspace);
  EXPECT_EQ(
      error_of([] { to_dlpack(zeros({2})); }),
      "to_dlpack: the tensor was made in a Workspace::Step that is open, whose end may move it; clone it "
      "outside of the step");
}

TEST(DLPack, NamesWhatDoesNotFit) {
  Plain lanes, type, unknown, device, rank, strides, extent, none, odd;
  lanes.handle.dl_tensor.dtype.lanes = 4;
  EXPECT_EQ(lanes.error(), "from_dlpack: the elements are vectors of 4 lanes, expected 1");
  type.handle.dl_tensor.dtype = {kDLUInt, 8, 1};
  EXPECT_EQ(type.error(),
            "from_dlpack: the tensor is uint8, expected float32, float64, int32, int64, bool or bfloat16");
  unknown.handle.dl_tensor.dtype = {99, 16, 1};
  EXPECT_EQ(unknown.error(),
            "from_dlpack: the tensor is type 99 of 16 bits, expected float32, float64, int32, int64, bool or "
            "bfloat16");
  device.handle.dl_tensor.device = {8, 1};
  EXPECT_EQ(
      device.error(),
      "from_dlpack: the tensor is on device 1 of DLPack's type 8, expected the CPU (1) or a CUDA device "
      "(2)");
  rank.handle.dl_tensor.ndim = 9;
  EXPECT_EQ(rank.error(), "from_dlpack: the tensor has 9 dimensions, expected at most 8");
  strides.strides = {3, -1};
  EXPECT_EQ(strides.error(),
            "from_dlpack: strides must not be negative, got [3,-1] for [2,3]; copy the tensor first");
  extent.shape = {2, -3};
  EXPECT_EQ(extent.error(), "from_dlpack: extents must not be negative, got [2,-3]");
  none.handle.dl_tensor.data = nullptr;
  EXPECT_EQ(none.error(), "from_dlpack: the tensor of [2,3] has no memory");
  odd.handle.dl_tensor.byte_offset = 2;
  EXPECT_EQ(odd.error(),
            "from_dlpack: the elements of float32 are not aligned to 4 bytes; copy the tensor first");
  Versioned version;
  version.handle.version = {2, 0};
  EXPECT_EQ(version.error(), "from_dlpack: the handle is of DLPack 2.0, expected 1");
  EXPECT_EQ(error_of([] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }),
            "from_dlpack: the handle is null");
}

}  // namespace
}  // namespace cladtorch
