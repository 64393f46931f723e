// The tensor cores' instructions against a plain product of matrices. Where a fragment's elements lie is
// written here from the text of the PTX ISA, element by element, and not as the imitation does it.
#include "cuda_host/tensor_core.h"

#include <cmath>
#include <cstring>
#include <random>

#include "support.h"

namespace {
using namespace cuda_host::testing;

struct Place {
  int row, column;
};

// groupID and threadID_in_group are the PTX ISA's names.
struct LaneNames {
  int groupID, threadID_in_group;
  explicit LaneNames(int lane) : groupID(lane >> 2), threadID_in_group(lane % 4) {}
};

Place a_bf16(int lane, int i) {
  const LaneNames n(lane);
  return {(i < 2 || (i >= 4 && i < 6)) ? n.groupID : n.groupID + 8,
          i < 4 ? n.threadID_in_group * 2 + (i & 1) : n.threadID_in_group * 2 + (i & 1) + 8};
}
Place b_bf16(int lane, int i) {
  const LaneNames n(lane);
  return {i < 2 ? n.threadID_in_group * 2 + (i & 1) : n.threadID_in_group * 2 + (i & 1) + 8, n.groupID};
}
Place a_tf32(int lane, int i) {
  const LaneNames n(lane);
  return {i == 0 || i == 2 ? n.groupID : n.groupID + 8,
          i <= 1 ? n.threadID_in_group : n.threadID_in_group + 4};
}
Place b_tf32(int lane, int i) {
  const LaneNames n(lane);
  return {i == 0 ? n.threadID_in_group : n.threadID_in_group + 4, n.groupID};
}
Place a_8_bits(int lane, int i) {
  const LaneNames n(lane);
  return {(i < 4 || (i >= 8 && i < 12)) ? n.groupID : n.groupID + 8,
          i < 8 ? n.threadID_in_group * 4 + (i & 3) : n.threadID_in_group * 4 + (i & 3) + 16};
}
Place b_8_bits(int lane, int i) {
  const LaneNames n(lane);
  return {i < 4 ? n.threadID_in_group * 4 + (i & 3) : n.threadID_in_group * 4 + (i & 3) + 16, n.groupID};
}
Place c_float(int lane, int i) {
  const LaneNames n(lane);
  return {i < 2 ? n.groupID : n.groupID + 8, n.threadID_in_group * 2 + (i & 1)};
}

struct Format {
  void (*multiply)(float*, const uint32_t*, const uint32_t*);
  int k;
  int bits;
  Place (*a)(int lane, int i);
  Place (*b)(int lane, int i);
  // An element of random bits and its value.
  uint32_t (*draw_a)(std::mt19937&);
  uint32_t (*draw_b)(std::mt19937&);
  double (*value_a)(uint32_t);
  double (*value_b)(uint32_t);
};

__global__ void multiply(void (*instruction)(float*, const uint32_t*, const uint32_t*), const uint32_t* a,
                         const uint32_t* b, float* d) {
  instruction(d + 4 * threadIdx.x, a + 4 * threadIdx.x, b + 2 * threadIdx.x);
}

void check(const Format& format) {
  std::mt19937 random(7);
  std::vector<uint32_t> a(128), b(64);
  std::vector<float> d(128);
  std::vector<double> matrix_a(16 * format.k, NAN), matrix_b(format.k * 8, NAN), expected(128, NAN),
      size(128);
  const int per_register = 32 / format.bits;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4 * per_register; ++i) {
      const uint32_t bits = format.draw_a(random);
      a[4 * lane + i / per_register] |= bits << i % per_register * format.bits;
      const Place place = format.a(lane, i);
      matrix_a[place.row * format.k + place.column] = format.value_a(bits);
    }
    for (int i = 0; i < 2 * per_register; ++i) {
      const uint32_t bits = format.draw_b(random);
      b[2 * lane + i / per_register] |= bits << i % per_register * format.bits;
      const Place place = format.b(lane, i);
      matrix_b[place.row * 8 + place.column] = format.value_b(bits);
    }
    for (int i = 0; i < 4; ++i) {
      d[4 * lane + i] = static_cast<float>(lane - 3 * i);
      const Place place = c_float(lane, i);
      expected[place.row * 8 + place.column] = d[4 * lane + i];
    }
  }
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      for (int i = 0; i < format.k; ++i) {
        const double product = matrix_a[row * format.k + i] * matrix_b[i * 8 + column];
        expected[row * 8 + column] += product;
        size[row * 8 + column] += std::abs(product);
      }
    }
  }
  Buffer<uint32_t> device_a(a), device_b(b);
  Buffer<float> device_d(d);
  expect_success(
      launch({dim3(1), dim3(32)}, multiply, format.multiply, device_a.get(), device_b.get(), device_d.get()));
  const auto result = device_d.values();
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Place place = c_float(lane, i);
      const size_t at = place.row * 8 + place.column;
      EXPECT_NEAR(result[4 * lane + i], expected[at], 1e-6 * (1 + 64 + size[at])) << lane << " " << i;
    }
  }
}

double of_float_bits(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t draw_float(std::mt19937& random) {
  const float value = std::uniform_real_distribution<float>(-2, 2)(random);
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
uint32_t draw_bf16(std::mt19937& random) { return draw_float(random) >> 16; }
double value_bf16(uint32_t bits) { return of_float_bits(bits << 16); }
double value_tf32(uint32_t bits) { return of_float_bits(bits >> 13 << 13); }

// All finite numbers of 8 bits, by the definition of the formats.
double value_of(uint32_t bits, int fraction_bits, int bias) {
  const int exponent = static_cast<int>(bits & 0x7F) >> fraction_bits;
  const double fraction = (bits & ((1u << fraction_bits) - 1)) / std::exp2(fraction_bits);
  const double magnitude =
      exponent == 0 ? fraction * std::exp2(1 - bias) : (1 + fraction) * std::exp2(exponent - bias);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}
double value_e4m3(uint32_t bits) { return value_of(bits, 3, 7); }
double value_e5m2(uint32_t bits) { return value_of(bits, 2, 15); }
uint32_t draw_e4m3(std::mt19937& random) {
  const uint32_t bits = random() & 0xFF;
  return (bits & 0x7F) == 0x7F ? bits - 1 : bits;
}
uint32_t draw_e5m2(std::mt19937& random) {
  const uint32_t bits = random() & 0xFF;
  return (bits & 0x7C) == 0x7C ? bits & ~0x40u : bits;
}

TEST(CudaHostTensorCore, Bf16) {
  check({cuda_host::mma_m16n8k16_bf16, 16, 16, a_bf16, b_bf16, draw_bf16, draw_bf16, value_bf16, value_bf16});
}
TEST(CudaHostTensorCore, Tf32LooksAtTenBitsOfTheFraction) {
  check({cuda_host::mma_m16n8k8_tf32, 8, 32, a_tf32, b_tf32, draw_float, draw_float, value_tf32, value_tf32});
}
TEST(CudaHostTensorCore, E4m3) {
  check({cuda_host::mma_m16n8k32_e4m3, 32, 8, a_8_bits, b_8_bits, draw_e4m3, draw_e4m3, value_e4m3,
         value_e4m3});
}
TEST(CudaHostTensorCore, E5m2TimesE4m3) {
  check({cuda_host::mma_m16n8k32_e5m2_e4m3, 32, 8, a_8_bits, b_8_bits, draw_e5m2, draw_e4m3, value_e5m2,
         value_e4m3});
}

// One element of 8 bits times one.
float product_with_one(void (*instruction)(float*, const uint32_t*, const uint32_t*), uint32_t element) {
  constexpr uint32_t one_e4m3 = 0x38;
  std::vector<uint32_t> a(128), b(64);
  a[0] = element;
  b[0] = one_e4m3;
  Buffer<uint32_t> device_a(a), device_b(b);
  Buffer<float> d(std::vector<float>(128));
  expect_success(launch({dim3(1), dim3(32)}, multiply, instruction, device_a.get(), device_b.get(), d.get()));
  return d.values()[0];
}

TEST(CudaHostTensorCore, NumbersOf8BitsThatAreSpecial) {
  EXPECT_EQ(product_with_one(cuda_host::mma_m16n8k32_e4m3, 0x7E), 448.0f);
  EXPECT_TRUE(std::isnan(product_with_one(cuda_host::mma_m16n8k32_e4m3, 0x7F)));
  EXPECT_TRUE(std::isnan(product_with_one(cuda_host::mma_m16n8k32_e4m3, 0xFF)));
  EXPECT_EQ(product_with_one(cuda_host::mma_m16n8k32_e4m3, 0x01), std::exp2(-9.0f));
  EXPECT_EQ(product_with_one(cuda_host::mma_m16n8k32_e5m2_e4m3, 0x7B), 57344.0f);
  EXPECT_EQ(product_with_one(cuda_host::mma_m16n8k32_e5m2_e4m3, 0xFC), -INFINITY);
  EXPECT_TRUE(std::isnan(product_with_one(cuda_host::mma_m16n8k32_e5m2_e4m3, 0x7D)));
  EXPECT_EQ(product_with_one(cuda_host::mma_m16n8k32_e5m2_e4m3, 0x01), std::exp2(-16.0f));
}

// 32 rows of 8 elements, which are their row times 8 plus their column.
template <int matrices, bool transposed>
__global__ void load(uint32_t* out) {
  __shared__ __align__(16) uint16_t rows[32][8];
  for (int i = 0; i < 8; ++i) rows[threadIdx.x][i] = static_cast<uint16_t>(threadIdx.x * 8 + i);
  __syncthreads();
  uint32_t registers[matrices];
  const void* row = rows[threadIdx.x % (8 * matrices)];
  if constexpr (matrices == 4) {
    transposed ? cuda_host::ldmatrix_x4_trans(registers, row) : cuda_host::ldmatrix_x4(registers, row);
  } else {
    transposed ? cuda_host::ldmatrix_x2_trans(registers, row) : cuda_host::ldmatrix_x2(registers, row);
  }
  for (int i = 0; i < matrices; ++i) out[threadIdx.x * matrices + i] = registers[i];
}

template <int matrices, bool transposed>
void check_load() {
  Buffer<uint32_t> out(32 * matrices);
  expect_success(launch({dim3(1), dim3(32)}, load<matrices, transposed>, out.get()));
  const auto result = out.values();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned m = 0; m < matrices; ++m) {
      const unsigned outer = lane / 4, inner = 2 * (lane % 4);
      const unsigned low = transposed ? inner * 8 + outer : outer * 8 + inner;
      const unsigned high = transposed ? (inner + 1) * 8 + outer : outer * 8 + inner + 1;
      EXPECT_EQ(result[lane * matrices + m], (64 * m + low) | (64 * m + high) << 16);
    }
  }
}

TEST(CudaHostTensorCore, LoadingFourMatrices) {
  check_load<4, false>();
  check_load<4, true>();
}
TEST(CudaHostTensorCore, LoadingTwoMatrices) {
  check_load<2, false>();
  check_load<2, true>();
}

__global__ void load_at(const void* global, int offset) {
  __shared__ __align__(16) char rows[32 * 16 + 16];
  uint32_t registers[4];
  cuda_host::ldmatrix_x4(registers, global != nullptr ? global : rows + 16 * threadIdx.x + offset);
}

TEST(CudaHostTensorCore, LoadingFromElsewhereThanSharedMemoryFails) {
  Buffer<char> global(64);
  EXPECT_NE(failure_of({dim3(1), dim3(32)}, load_at, global.get(), 0).find("global memory as shared"),
            std::string::npos);
}
TEST(CudaHostTensorCore, LoadingFromAMisalignedAddressFails) {
  EXPECT_NE(failure_of({dim3(1), dim3(32)}, load_at, nullptr, 8).find("multiple of 16"), std::string::npos);
}

}  // namespace
