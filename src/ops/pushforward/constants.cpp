// The constants that tangents of operations are written with.
#include "cladtorch/ops/pushforward/attention.h"
#include "cladtorch/ops/pushforward/loss.h"
#include "ops/cross_entropy/targets.h"
#include "tensor/indices.h"

namespace cladtorch::tangents {

Tensor attention_mask(int64_t length, int64_t window, DType dtype) {
  constexpr float unseen = -1e30F;
  Tensor mask = zeros({length, length});
  float* row = mask.data<float>();
  for (int64_t t = 0; t < length; ++t, row += length)
    for (int64_t s = 0; s < length; ++s)
      if (s > t || (window > 0 && s <= t - window)) row[s] = unseen;
  return mask.to(dtype);
}

namespace {

/// Calls set(row, target, share) for every target that counts.
template <class F>
void each_target(const Tensor& targets, int64_t classes, int64_t ignore_index, F set) {
  const Tensor dense = detail::as_int32("cross_entropy", "targets", targets).contiguous();
  const int64_t counted = detail::count_targets("cross_entropy", dense, classes, ignore_index);
  const int32_t* target = dense.data<int32_t>();
  for (int64_t row = 0; row < targets.numel(); ++row)
    if (target[row] != ignore_index) set(row, target[row], 1.0 / static_cast<double>(counted));
}

}  // namespace

Tensor target_shares(const Tensor& targets, int64_t classes, int64_t ignore_index, DType dtype) {
  Tensor shares = zeros(targets.unsqueeze(-1).shape(), DType::float64);
  each_target(targets, classes, ignore_index,
              [&](int64_t row, int32_t, double share) { shares.data<double>()[row] = share; });
  return shares.to(dtype);
}

Tensor target_places(const Tensor& targets, int64_t classes, int64_t ignore_index, DType dtype) {
  Shape shape = targets.shape();
  shape.push_back(classes);
  Tensor places = zeros(shape, DType::float64);
  each_target(targets, classes, ignore_index, [&](int64_t row, int32_t target, double share) {
    places.data<double>()[row * classes + target] = share;
  });
  return places.to(dtype);
}

}  // namespace cladtorch::tangents
