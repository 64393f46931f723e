// Compiled once per instruction set by Highway's foreach_target, which includes this file again and again.
#include "bench/simd/highway_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/simd/highway_loops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cladtorch::highway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;

int64_t VectorLength() { return static_cast<int64_t>(hn::Lanes(Tag())); }
const char* Target() { return hwy::TargetName(HWY_TARGET); }

void Product(int64_t depth, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, float* HWY_RESTRICT c,
             int64_t c_row) {
  constexpr int rows = 8;
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Tag> sum[rows][3];
  for (auto& row : sum) row[0] = row[1] = row[2] = hn::Zero(d);
  for (int64_t p = 0; p < depth; ++p) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes), b2 = hn::LoadU(d, b + 2 * lanes);
    HWY_UNROLL(8)
    for (int i = 0; i < rows; ++i) {
      const auto left = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(left, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(left, b1, sum[i][1]);
      sum[i][2] = hn::MulAdd(left, b2, sum[i][2]);
    }
    a += rows;
    b += 3 * lanes;
  }
  HWY_UNROLL(8)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j) hn::StoreU(sum[i][j], d, c + i * c_row + j * lanes);
}

void GeluTanh(int64_t n, const float* HWY_RESTRICT x, float* HWY_RESTRICT y) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    // x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3): as ours.
    const auto square = hn::Mul(v, v);
    const auto u = hn::Mul(v, hn::MulAdd(square, hn::Set(d, -0.0713548163f), hn::Set(d, -1.59576912f)));
    hn::StoreU(hn::Div(v, hn::Add(hn::Set(d, 1.0f), hn::Exp(d, u))), d, y + i);
  }
}

float ExpAndSum(int64_t n, const float* HWY_RESTRICT x, float shift, float* HWY_RESTRICT y) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Tag> sum[4];
  for (auto& s : sum) s = hn::Zero(d);
  for (int64_t i = 0; i < n; i += 4 * lanes) {
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) {
      const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i + j * lanes), hn::Set(d, shift)));
      hn::StoreU(e, d, y + i + j * lanes);
      sum[j] = hn::Add(sum[j], e);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
}

}  // namespace cladtorch::highway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cladtorch::highway {

HWY_EXPORT(VectorLength);
HWY_EXPORT(Target);
HWY_EXPORT(Product);
HWY_EXPORT(GeluTanh);
HWY_EXPORT(ExpAndSum);

int64_t vector_length() { return HWY_DYNAMIC_DISPATCH(VectorLength)(); }
const char* target() { return HWY_DYNAMIC_DISPATCH(Target)(); }
void product(int64_t depth, const float* a, const float* b, float* c, int64_t c_row) {
  HWY_DYNAMIC_DISPATCH(Product)(depth, a, b, c, c_row);
}
void gelu_tanh(int64_t n, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(GeluTanh)(n, x, y); }
float exp_and_sum(int64_t n, const float* x, float shift, float* y) {
  return HWY_DYNAMIC_DISPATCH(ExpAndSum)(n, x, shift, y);
}

}  // namespace cladtorch::highway
#endif
