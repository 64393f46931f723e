#include "cladtorch/nn/init.h"

#include <cmath>

#include "cladtorch/tensor/factories.h"

namespace cladtorch::nn::init {
namespace {

/// Sets element i to value().
template <class Value>
void fill(Tensor& weight, Value value) {
  Tensor values = Tensor::empty(weight.shape(), DType::float64);
  for (int64_t i = 0; i < values.numel(); ++i) values.data<double>()[i] = value();
  weight.copy_from(values);
}

}  // namespace

Fans fans_of(const Tensor& weight) {
  require(weight.dim() >= 2, "init: expected a weight [out, in, ...], got ", weight.shape());
  return {weight.numel() / std::max<int64_t>(1, weight.size(0)),
          weight.numel() / std::max<int64_t>(1, weight.size(1))};
}

void uniform_(Tensor& weight, double low, double high, Random& random) {
  fill(weight, [&] { return low + (high - low) * random.uniform(); });
}
void normal_(Tensor& weight, double mean, double deviation, Random& random) {
  fill(weight, [&] { return mean + deviation * random.normal(); });
}
void trunc_normal_(Tensor& weight, Random& random, double mean, double deviation, double low, double high) {
  require(low < high && deviation > 0, "trunc_normal_: expected low < high and a deviation above 0");
  fill(weight, [&] {
    for (;;)
      if (const double x = mean + deviation * random.normal(); x >= low && x <= high) return x;
  });
}
void xavier_uniform_(Tensor& weight, Random& random, double gain) {
  const Fans fans = fans_of(weight);
  const double bound = gain * std::sqrt(6 / static_cast<double>(fans.in + fans.out));
  uniform_(weight, -bound, bound, random);
}
void xavier_normal_(Tensor& weight, Random& random, double gain) {
  const Fans fans = fans_of(weight);
  normal_(weight, 0, gain * std::sqrt(2 / static_cast<double>(fans.in + fans.out)), random);
}
void kaiming_uniform_(Tensor& weight, Random& random) {
  const double bound = std::sqrt(6 / static_cast<double>(fans_of(weight).in));
  uniform_(weight, -bound, bound, random);
}
void kaiming_normal_(Tensor& weight, Random& random) {
  normal_(weight, 0, std::sqrt(2 / static_cast<double>(fans_of(weight).in)), random);
}

void orthogonal_(Tensor& weight, Random& random, double gain) {
  const int64_t rows = weight.dim() ? weight.size(0) : 0, columns = fans_of(weight).in;
  const int64_t lines = std::min(rows, columns), length = std::max(rows, columns);
  Tensor values = randn({lines, length}, random, DType::float64);
  double* const x = values.data<double>();
  // Gram-Schmidt, twice, so that rounding leaves right angles.
  for (int64_t i = 0; i < lines; ++i) {
    double* const line = x + i * length;
    for (int64_t k = 0; k < 2 * i; ++k) {
      const double* const other = x + k % i * length;
      double product = 0;
      for (int64_t j = 0; j < length; ++j) product += line[j] * other[j];
      for (int64_t j = 0; j < length; ++j) line[j] -= product * other[j];
    }
    double square = 0;
    for (int64_t j = 0; j < length; ++j) square += line[j] * line[j];
    for (int64_t j = 0; j < length; ++j) line[j] /= std::sqrt(square);
  }
  for (int64_t i = 0; i < values.numel(); ++i) x[i] *= gain;
  weight.copy_from((rows <= columns ? values : values.transpose(0, 1)).reshape(weight.shape()));
}

}  // namespace cladtorch::nn::init
