// wgmma against a plain product of matrices, and what the imitation says of its misuse. Where elements lie is
// written here from the text of the PTX ISA.
#include "cuda_host/warpgroup.h"

#include <cmath>
#include <cstring>
#include <random>

#include "support.h"

namespace {
using namespace cuda_host::testing;
using cuda_host::WarpgroupProduct;

constexpr int tile_bytes = 64 * 1024;

// Offset of an element of a tile [rows, 64 columns_64] of rows of 128 bytes, with the swizzle of 128 bytes.
int offset(int row, int column, int rows) {
  const int linear = column / 64 * rows * 128 + row * 128 + column % 64 * 2;
  return linear ^ ((linear >> 7 & 7) << 4);
}
uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride) {
  return uint64_t{address >> 4} | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 |
         uint64_t{1} << 62;
}
unsigned char* tiles() {
  auto* const shared = static_cast<unsigned char*>(cuda_host::dynamic_shared_memory());
  return shared + (-cuda_host::shared_address(shared) & 1023);
}

enum class Mistake {
  none,
  no_fence,
  no_proxy_fence,
  no_wait,
  late_wait,
  overwritten,
  changed_sums,
  changed_a,
  a_warp_is_missing,
  one_warp_has_other_operands,
  misaligned
};

struct Case {
  int n, k;
  bool a_in_registers, a_transposed, b_transposed, accumulate;
  Mistake mistake = Mistake::none;
};

// a [64, k], b [k, n], d [64, n] of one warpgroup. A transposed operand lies in memory by columns, else by
// rows of what is [64, k] or [n, k].
__global__ void multiply(Case c, const uint16_t* a, const uint16_t* b, float* d) {
  unsigned char* const tile_a = tiles();
  unsigned char* const tile_b = tile_a + 32 * 1024;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const auto put = [](unsigned char* tile, int at, uint16_t value) { std::memcpy(tile + at, &value, 2); };
  for (int i = thread; i < 64 * c.k; i += 128) {
    const int row = i / c.k, k = i % c.k;
    put(tile_a, c.a_transposed ? offset(k, row, c.k) : offset(row, k, 64), a[i]);
  }
  for (int i = thread; i < c.k * c.n; i += 128) {
    const int k = i / c.n, column = i % c.n;
    put(tile_b, c.b_transposed ? offset(k, column, c.k) : offset(column, k, c.n), b[i]);
  }
  if (c.mistake != Mistake::no_proxy_fence) cuda_host::fence_proxy_async();
  __syncthreads();
  if (c.mistake == Mistake::a_warp_is_missing && thread >= 96) return;

  std::vector<float> sums(c.n / 2);
  std::vector<uint32_t> registers(c.k / 4);
  for (int i = 0; i < c.n / 2; ++i) sums[i] = static_cast<float>(i);
  for (int i = 0; i < c.k / 2; ++i) {  // number i % 8 of step i / 8
    const int row = thread / 32 * 16 + lane / 4 + i % 8 / 2 % 2 * 8,
              k = i / 8 * 16 + lane % 4 * 2 + i % 2 + i % 8 / 4 * 8;
    registers[i / 2] |= uint32_t{a[row * c.k + k]} << i % 2 * 16;
  }
  if (c.mistake != Mistake::no_fence) cuda_host::warpgroup_fence();
  for (int k = 0; k < c.k / 16; ++k) {
    const auto place = [&](unsigned char* tile, bool transposed, int rows) {
      uint32_t address = cuda_host::shared_address(tile);
      address += transposed ? k * 2048 : k / 4 * rows * 128 + k % 4 * 32;
      if (c.mistake == Mistake::misaligned) address += 128;
      if (c.mistake == Mistake::one_warp_has_other_operands && thread < 32) address += 1024;
      return descriptor(address, transposed ? c.k * 128 : 16, 1024);
    };
    cuda_host::warpgroup_multiply({c.n, sums.data(), c.a_in_registers ? &registers[4 * k] : nullptr,
                                   place(tile_a, c.a_transposed, 64), place(tile_b, c.b_transposed, c.n),
                                   c.a_transposed, c.b_transposed, c.accumulate || k > 0});
  }
  if (c.mistake == Mistake::changed_sums) sums[3] = 0;
  if (c.mistake == Mistake::changed_a) registers[1] ^= 1;
  if (c.mistake == Mistake::overwritten && thread == 0) tile_b[0] ^= 1;
  if (c.mistake == Mistake::overwritten) cuda_host::fence_proxy_async();
  cuda_host::warpgroup_commit();
  if (c.mistake == Mistake::late_wait) cuda_host::warpgroup_wait_groups(1);
  if (c.mistake != Mistake::no_wait && c.mistake != Mistake::late_wait) cuda_host::warpgroup_wait_groups(0);
  for (int i = 0; i < c.n / 2; ++i) {
    const int row = thread / 32 * 16 + lane / 4 + i % 4 / 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    d[row * c.n + column] = sums[i];
  }
  if (c.mistake == Mistake::late_wait) cuda_host::warpgroup_wait_groups(0);
}

struct Operands {
  std::vector<uint16_t> a, b;

  explicit Operands(const Case& c) : a(64 * c.k), b(c.k * c.n) {
    std::mt19937 random(7);
    for (auto* all : {&a, &b}) {
      for (uint16_t& element : *all) {
        const float value = std::uniform_real_distribution<float>(-2, 2)(random);
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        element = static_cast<uint16_t>(bits >> 16);
      }
    }
  }
  static float value(uint16_t element) {
    const uint32_t bits = uint32_t{element} << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
};
const Shape shape{dim3(1), dim3(128), tile_bytes + 1024};

std::vector<float> result_of(const Case& c) {
  const Operands in(c);
  Buffer<uint16_t> a(in.a), b(in.b);
  Buffer<float> d(64 * c.n);
  EXPECT_EQ(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes + 1024),
            cudaSuccess);
  expect_success(launch(shape, multiply, c, a.get(), b.get(), d.get()));
  return d.values();
}

void check(const Case& c) {
  const Operands in(c);
  const std::vector<float> result = result_of(c);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < c.n; ++column) {
      double expected = c.accumulate ? column / 8 * 4 + row % 16 / 8 * 2 + column % 2 : 0, size = expected;
      for (int k = 0; k < c.k; ++k) {
        const double product = Operands::value(in.a[row * c.k + k]) * Operands::value(in.b[k * c.n + column]);
        expected += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(result[row * c.n + column], expected, 1e-6 * (1 + size)) << row << ' ' << column;
    }
  }
}

TEST(CudaHostWarpgroup, BothOperandsFromSharedMemory) {
  for (int n : {64, 128, 256}) {
    check({n, 64, false, false, false, false});
    check({n, 64, false, false, false, true});
  }
  check({64, 128, false, false, false, true});
  check({128, 128, false, false, false, false});
}
TEST(CudaHostWarpgroup, OperandsThatLieByColumns) {
  check({64, 32, false, false, true, false});
  check({128, 64, false, false, true, true});
  check({256, 32, false, false, true, false});
  check({64, 64, false, true, false, false});
  check({128, 32, false, true, true, true});
}
TEST(CudaHostWarpgroup, LeftOperandInRegisters) {
  check({64, 64, true, false, false, false});
  check({128, 64, true, false, true, true});
  check({64, 128, true, false, true, false});
}

std::string failure_by(Mistake mistake) {
  const Case c{64, 64, true, false, false, false, mistake};
  const Operands in(c);
  Buffer<uint16_t> a(in.a), b(in.b);
  Buffer<float> d(64 * c.n);
  EXPECT_EQ(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes + 1024),
            cudaSuccess);
  return failure_of(shape, multiply, c, a.get(), b.get(), d.get());
}

TEST(CudaHostWarpgroup, MisuseFailsTheLaunch) {
  const std::pair<Mistake, const char*> messages[] = {
      {Mistake::no_fence, "without wgmma.fence"},
      {Mistake::no_proxy_fence, "no fence.proxy.async has made visible"},
      {Mistake::no_wait, "without having waited"},
      {Mistake::overwritten, "in shared memory have changed"},
      {Mistake::changed_sums, "sums were written to"},
      {Mistake::changed_a, "in registers has changed"},
      {Mistake::a_warp_is_missing, "another of its warpgroup"},
      {Mistake::one_warp_has_other_operands, "other operands than its warpgroup"},
      {Mistake::misaligned, "not at a multiple of 1024"},
  };
  for (const auto& [mistake, message] : messages) {
    const std::string failure = failure_by(mistake);
    EXPECT_NE(failure.find(message), std::string::npos) << message << ": " << failure;
  }
}
TEST(CudaHostWarpgroup, SumsAreNanBeforeTheWait) {
  for (float value : result_of({64, 64, true, false, false, false, Mistake::late_wait}))
    ASSERT_TRUE(std::isnan(value));
}

TEST(CudaHostWarpgroup, TheComputeCapabilityIsWhatATestSays) {
  int major = 0;
  cuda_host::set_compute_capability(8, 0);
  expect_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(major, 8);
  cuda_host::set_compute_capability(9, 0);
  expect_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(major, 9);
}

}  // namespace
