// Functions that kernels call, vector types and atomics:
// values and alignments as CUDA's documentation gives them.
#include <cmath>
#include <limits>

#include "support.h"

namespace {
using namespace cuda_host::testing;

TEST(CudaHostMath, BitsOfIntegers) {
  EXPECT_EQ(__popc(0xF0F00001u), 9);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffs(INT32_MIN), 32);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__umulhi(0xFFFFFFFFu, 0xFFFFFFFFu), 0xFFFFFFFEu);
  EXPECT_EQ(__mulhi(-2, 1 << 30), -1);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7520), 0x77552200u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1u, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 1u, 1), 0xC0000000u);
}

TEST(CudaHostMath, BitsOfFloats) {
  EXPECT_EQ(__float_as_uint(1.0f), 0x3F800000u);
  EXPECT_EQ(__float_as_int(-0.0f), INT32_MIN);
  EXPECT_EQ(__uint_as_float(0x40000000u), 2.0f);
  EXPECT_EQ(__int_as_float(0x40400000), 3.0f);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
}

TEST(CudaHostMath, FunctionsThatCppLacks) {
  EXPECT_FLOAT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_DOUBLE_EQ(rsqrt(16.0), 0.25);
  EXPECT_FLOAT_EQ(__expf(1.0f), std::exp(1.0f));
  EXPECT_FLOAT_EQ(__logf(10.0f), std::log(10.0f));
  EXPECT_FLOAT_EQ(__sinf(0.5f), std::sin(0.5f));
  EXPECT_FLOAT_EQ(__cosf(0.5f), std::cos(0.5f));
  EXPECT_FLOAT_EQ(__powf(2.0f, 0.5f), std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(__fdividef(1.0f, 3.0f), 1.0f / 3.0f);
  EXPECT_EQ(__frcp_rn(4.0f), 0.25f);
  EXPECT_EQ(__fmaf_rn(1e8f, 1e8f, -1e16f), std::fma(1e8f, 1e8f, -1e16f));
  EXPECT_EQ(__saturatef(1.5f), 1.0f);
  EXPECT_EQ(__saturatef(std::nanf("")), 0.0f);
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.5f), -2);
  float sine = 0, cosine = 0;
  sincosf(0.5f, &sine, &cosine);
  EXPECT_FLOAT_EQ(sine, std::sin(0.5f));
}

TEST(CudaHostMath, MinAndMaxOfMixedTypes) {
  EXPECT_EQ(min(3, 4), 3);
  EXPECT_EQ(max(-1, 1u), 0xFFFFFFFFu);
  EXPECT_EQ(min(5ll, 4ull), 4ull);
  EXPECT_EQ(max(2.0f, 3.0), 3.0);
  EXPECT_EQ(max(std::nanf(""), 1.0f), 1.0f);
  EXPECT_EQ(min(1.0f, std::nanf("")), 1.0f);
  static_assert(std::is_same_v<decltype(min(1, 1u)), unsigned>);
  static_assert(std::is_same_v<decltype(min(1.0f, 1.0f)), float>);
}

TEST(CudaHostMath, VectorTypesHaveCudasAlignments) {
  static_assert(alignof(char2) == 2 && alignof(uchar4) == 4 && alignof(short2) == 4 && alignof(ushort4) == 8);
  static_assert(alignof(int2) == 8 && alignof(uint4) == 16 && alignof(int3) == 4);
  static_assert(alignof(float2) == 8 && alignof(float3) == 4 && alignof(float4) == 16 &&
                alignof(double2) == 16);
  static_assert(sizeof(float3) == 12 && sizeof(float4) == 16 && sizeof(double4) == 32 &&
                sizeof(longlong2) == 16);
  const float4 f = make_float4(1, 2, 3, 4);
  EXPECT_EQ(f.x + f.y + f.z + f.w, 10.0f);
  const uint3 u = make_uint3(1, 2, 3);
  const dim3 d(u);
  EXPECT_EQ(d.z, 3u);
  EXPECT_EQ(dim3(7).y, 1u);
}

struct Totals {
  int sum, smallest, largest, exchanged, disjunction;
  unsigned unsigned_sum, swapped;
  unsigned long long long_sum;
  float float_sum;
  double double_sum;
};

__global__ void accumulate(Totals* totals) {
  const int i = static_cast<int>(threadIdx.x);
  atomicAdd(&totals->sum, i);
  atomicAdd(&totals->unsigned_sum, i);
  atomicAdd(&totals->long_sum, 1ull << 32);
  atomicAdd(&totals->float_sum, 0.5f);
  atomicAdd(&totals->double_sum, 0.25);
  atomicMin(&totals->smallest, 50 - i);
  atomicMax(&totals->largest, i);
  atomicOr(&totals->disjunction, 1 << i % 31);
  atomicExch(&totals->exchanged, 5);
  atomicCAS(&totals->swapped, static_cast<unsigned>(i), static_cast<unsigned>(i) + 1000);
}

TEST(CudaHostMath, Atomics) {
  Buffer<Totals> totals(std::vector<Totals>{Totals{}});
  expect_success(launch({dim3(1), dim3(64)}, accumulate, totals.get()));
  const Totals result = totals.values()[0];
  EXPECT_EQ(result.sum, 2016);
  EXPECT_EQ(result.unsigned_sum, 2016u);
  EXPECT_EQ(result.long_sum, 64ull << 32);
  EXPECT_EQ(result.float_sum, 32.0f);
  EXPECT_EQ(result.double_sum, 16.0);
  EXPECT_EQ(result.smallest, -13);
  EXPECT_EQ(result.largest, 63);
  EXPECT_EQ(result.disjunction, INT32_MAX);
  EXPECT_EQ(result.exchanged, 5);
  EXPECT_EQ(result.swapped, 1000u);
}

__global__ void cached(const float4* in, float4* out) {
  const float4 a = __ldg(in), b = __ldcs(in + 1), c = __ldcg(in + 2);
  __stcs(out, c);
  __stcg(out + 1, b);
  __stwt(out + 2, a);
}

TEST(CudaHostMath, LoadsAndStoresThatSayHowTheyAreCached) {
  std::vector<float4> values(3);
  for (int i = 0; i < 3; ++i) values[i] = make_float4(i, 0, 0, -i);
  Buffer<float4> in(values), out(3);
  expect_success(launch({dim3(1), dim3(1)}, cached, in.get(), out.get()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out.values()[i].w, static_cast<float>(i - 2));
}

}  // namespace
