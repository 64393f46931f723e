#include "cladtorch/tensor/factories.h"

#include "cladtorch/tensor/parallel.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

/// Fills a new tensor by draws from a generator per piece of fixed length, so the values do not depend on
/// threads.
template <class Draw>
Tensor random_tensor(const char* operation, const Shape& shape, Random& random, DType dtype,
                     int64_t words_per_value, Draw draw) {
  constexpr int64_t grain = 1 << 12;
  Tensor result = Tensor::empty(shape, dtype);
  const int64_t n = shape.numel();
  const uint64_t start = random.position();
  detail::dispatch_floating(operation, dtype, [&]<class T>(T) {
    T* out = result.data<T>();
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      Random local(random.seed(), random.stream());
      local.seek(start + static_cast<uint64_t>(begin * words_per_value));
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(draw(local));
    });
  });
  random.seek(start + static_cast<uint64_t>(n * words_per_value));
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

Tensor randn(const Shape& shape, Random& random, DType dtype) {
  return random_tensor("randn", shape, random, dtype, 4, [](Random& r) { return r.normal(); });
}

Tensor rand(const Shape& shape, Random& random, DType dtype) {
  return random_tensor("rand", shape, random, dtype, 2, [](Random& r) { return r.uniform(); });
}

}  // namespace cladtorch
