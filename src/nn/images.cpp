#include "cladtorch/nn/images.h"

#include <cmath>

#include "nn/initial.h"

namespace cladtorch::nn {

Tensor detail::kernel_weights(int64_t first, int64_t second, int dims, const PerDimension& kernel,
                              Random& random, DType dtype) {
  Shape shape{first, second};
  int64_t fan = second;
  for (int i = 0; i < dims; ++i) {
    require(kernel[i] > 0 && (kernel.count() == 1 || kernel.count() == dims), "Conv", dims,
            "d: expected one extent of the kernel or ", dims, ", each above 0");
    shape.push_back(kernel[i]);
    fan *= kernel[i];
  }
  return initial_uniform(shape, random, 1 / std::sqrt(static_cast<double>(fan)), dtype);
}
Tensor detail::kernel_bias(int64_t n, const Tensor& weight, Random& random) {
  const int64_t fan = weight.numel() / weight.size(0);
  return initial_uniform({n}, random, 1 / std::sqrt(static_cast<double>(fan)), weight.dtype());
}

BatchNorm::BatchNorm(int64_t channels, double epsilon, double momentum, bool affine, DType dtype)
    : weight(affine ? ones({channels}, dtype) : Tensor()),
      bias(affine ? zeros({channels}, dtype) : Tensor()),
      running_mean(zeros({channels}, dtype)),
      running_var(ones({channels}, dtype)),
      momentum(momentum),
      epsilon(epsilon) {
  running_mean.set_frozen(true);
  running_var.set_frozen(true);
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double epsilon, DType dtype)
    : weight(ones({channels}, dtype)), bias(zeros({channels}, dtype)), groups(groups), epsilon(epsilon) {}

InstanceNorm::InstanceNorm(int64_t channels, bool affine, double epsilon, DType dtype)
    : weight(affine ? ones({channels}, dtype) : Tensor()),
      bias(affine ? zeros({channels}, dtype) : Tensor()),
      epsilon(epsilon) {}

}  // namespace cladtorch::nn
