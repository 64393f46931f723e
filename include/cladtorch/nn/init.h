// New values for weights, in place; as torch.nn.init. The fans of a weight [out, in, kernel...] are
// in * kernel and out * kernel.
#pragma once

#include <utility>

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::nn::init {

struct Fans {
  int64_t in, out;
};
/// Throws Error for rank 0 and 1.
Fans fans_of(const Tensor& weight);

void uniform_(Tensor& weight, double low, double high, Random& random);
void normal_(Tensor& weight, double mean, double deviation, Random& random);
/// Normal values between `low` and `high`: others are drawn again.
void trunc_normal_(Tensor& weight, Random& random, double mean = 0, double deviation = 1, double low = -2,
                   double high = 2);
/// +-gain sqrt(6 / (in + out)). Source: Glorot and Bengio, 2010.
void xavier_uniform_(Tensor& weight, Random& random, double gain = 1);
void xavier_normal_(Tensor& weight, Random& random, double gain = 1);
/// For layers before a ReLU: +-sqrt(6 / in), and a deviation of sqrt(2 / in). Source: He et al., 2015.
void kaiming_uniform_(Tensor& weight, Random& random);
void kaiming_normal_(Tensor& weight, Random& random);
/// Rows, or columns if there are more rows than columns, of length `gain` at right angles, of the weight as
/// [first extent, others]. Source: Saxe et al., 2013.
void orthogonal_(Tensor& weight, Random& random, double gain = 1);

}  // namespace cladtorch::nn::init
