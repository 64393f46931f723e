#include "cladtorch/tensor/factories.h"

#include <cmath>
#include <utility>

#include "cladtorch/tensor/parallel.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

constexpr uint64_t words_per_pair = 4;  // one Philox block

/// Fills a new tensor two elements at a time: draw(random) returns a pair from one block of random words. The
/// last element of an odd count takes a whole block too.
template <class Draw>
Tensor random_tensor(const char* operation, const Shape& shape, Random& random, DType dtype, Draw draw) {
  constexpr int64_t pairs_per_piece = 1 << 11;
  Tensor result = Tensor::empty(shape, dtype);
  const int64_t n = shape.numel(), pairs = (n + 1) / 2;
  const uint64_t start = random.position();
  detail::dispatch_floating(operation, dtype, [&]<class T>(T) {
    T* out = result.data<T>();
    parallel_for(pairs, pairs_per_piece, [&](int64_t begin, int64_t end) {
      Random local(random.seed(), random.stream());
      local.seek(start + static_cast<uint64_t>(begin) * words_per_pair);
      for (int64_t i = begin; i < end; ++i) {
        const auto [first, second] = draw(local);
        out[2 * i] = static_cast<T>(first);
        if (2 * i + 1 < n) out[2 * i + 1] = static_cast<T>(second);
      }
    });
  });
  random.seek(start + static_cast<uint64_t>(pairs) * words_per_pair);
  return result;
}

}  // namespace

Tensor empty(const Shape& shape, DType dtype, Device device) { return Tensor::empty(shape, dtype, device); }

Tensor full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  result.fill_(value);
  return result;
}

Tensor zeros(const Shape& shape, DType dtype, Device device) { return full(shape, 0, dtype, device); }
Tensor ones(const Shape& shape, DType dtype, Device device) { return full(shape, 1, dtype, device); }
Tensor zeros_like(const Tensor& other) { return zeros(other.shape(), other.dtype(), other.device()); }

Tensor arange(int64_t n, DType dtype) {
  require(n >= 0, "arange: expected a count of at least 0, got ", n);
  Tensor result = empty({n}, dtype);
  detail::dispatch_any(dtype, [&]<class T>(T) {
    T* out = result.data<T>();
    for (int64_t i = 0; i < n; ++i) out[i] = detail::convert<T>(static_cast<int32_t>(i));
  });
  return result;
}

Tensor normal(const Shape& shape, Random& random, double mean, double deviation, DType dtype) {
  return random_tensor("normal", shape, random, dtype, [=](Random& r) {
    // Box-Muller, both halves.
    const double radius = deviation * std::sqrt(-2 * std::log(1 - r.uniform()));
    const double angle = 6.283185307179586 * r.uniform();
    return std::pair(mean + radius * std::cos(angle), mean + radius * std::sin(angle));
  });
}

Tensor randn(const Shape& shape, Random& random, DType dtype) { return normal(shape, random, 0, 1, dtype); }

Tensor rand(const Shape& shape, Random& random, DType dtype) {
  return random_tensor("rand", shape, random, dtype, [](Random& r) {
    const double first = r.uniform();
    return std::pair(first, r.uniform());
  });
}

}  // namespace cladtorch
