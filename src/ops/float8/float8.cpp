#include "cladtorch/ops/float8.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/float8/float8_linear.h"
#include "ops/float8/float8_math.h"
#include "ops/float8/float8_on_device.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace detail {
namespace {

constexpr int64_t grain = 1 << 15;

/// NaN is lost: it shows in what is rounded.
template <class T>
float largest_absolute(int64_t n, const T* x) {
  std::vector<float> of_pieces(static_cast<size_t>((n + grain - 1) / grain));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    float largest = 0;
    for (int64_t i = begin; i < end; ++i) largest = std::fmax(largest, std::fabs(static_cast<float>(x[i])));
    of_pieces[static_cast<size_t>(begin / grain)] = largest;
  });
  return of_pieces.empty() ? 0 : *std::max_element(of_pieces.begin(), of_pieces.end());
}

float scaled_by(const Float8Use& use, float own) {
  const float* const amax = use.amax.data<float>();
  const float before = use.delayed ? *std::max_element(amax + 1, amax + Float8Scaling::steps) : 0;
  return before > 0 ? before : own;
}

template <class Format, class T>
void round_all(int64_t n, float amax, const T* x, T* y) {
  const float scale = float8_scale<Format>(amax), inverse = 1 / scale;
  parallel_for(n, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      y[i] = T(float8_to_float(rounded_to_float8<Format>(static_cast<float>(x[i]) * scale)) * inverse);
  });
}

}  // namespace

const Float8Scaling* float8_scaling(const Tensor& weight, int64_t rows) {
  const Float8Scaling* const scaling = weight.float8_scaling();
  return scaling != nullptr && rows > 0 && rows % Float8Scaling::multiple == 0 ? scaling : nullptr;
}

Float8Use float8_use(const Float8Scaling& scaling, Float8Role role, bool is_first) {
  const bool training = TrainingScope::is_active();
  return {scaling.amax.select(0, static_cast<int64_t>(role)), training, training && is_first};
}

Tensor rounded_to_float8(const Tensor& x, const Float8Scaling& scaling, Float8Role role, bool is_first) {
  Float8Use use = float8_use(scaling, role, is_first);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const int64_t n = x.numel();
  const auto round = [&]<class T>(T) {
    const T* const from = dense.data<T>();
    const float own = largest_absolute(n, from), amax = scaled_by(use, own);
    if (use.records) {
      float* const recorded = use.amax.data<float>();
      *recorded = std::max(*recorded, own);
    }
    if (role == Float8Role::cotangent) {
      round_all<float8_e5m2>(n, amax, from, y.data<T>());
    } else {
      round_all<float8_e4m3>(n, amax, from, y.data<T>());
    }
  };
  if (x.dtype() == DType::bfloat16) {
    round(bfloat16{});
  } else {
    round(float{});
  }
  return y;
}

}  // namespace detail

Float8Layers::Float8Layers(std::vector<Tensor> weights) : weights_(std::move(weights)) {
  std::erase_if(weights_, [](const Tensor& weight) {
    return weight.numel() == 0 || weight.size(0) % Float8Scaling::multiple != 0 ||
           weight.size(1) % Float8Scaling::multiple != 0;
  });
  const Device device = weights_.empty() ? Device{} : weights_.front().device();
  for (const Tensor& weight : weights_) {
    require(weight.device() == device, "float8: a weight is on ", weight.device(), ", another on ", device);
    require(weight.dtype() == DType::bfloat16 || weight.dtype() == DType::float32,
            "float8: expected weights of bfloat16 or float32, got ", weight.dtype());
  }
  if (device.type == DeviceType::cuda) detail::require_float8_on_device(device);
  amax_ = zeros({layers(), 3, Float8Scaling::steps}, DType::float32, device);
  for (int64_t i = 0; i < layers(); ++i) {
    weights_[static_cast<size_t>(i)].set_float8_scaling(
        std::make_shared<Float8Scaling>(Float8Scaling{amax_.select(0, i)}));
  }
}

Float8Layers::~Float8Layers() {
  for (Tensor& weight : weights_) weight.set_float8_scaling(nullptr);
}

void Float8Layers::finish_step() {
  if (amax_.is_cuda()) return detail::finish_float8_step_on_device(amax_);
  float* const amax = amax_.data<float>();
  for (float* row = amax; row < amax + amax_.numel(); row += Float8Scaling::steps) {
    std::shift_right(row, row + Float8Scaling::steps, 1);
    row[0] = 0;
  }
}

void Float8Layers::forget_step() { amax_of_step().fill_(0); }

}  // namespace cladtorch
