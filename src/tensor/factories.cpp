#include "cladtorch/tensor/factories.h"

#include <algorithm>
#include <utility>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "tensor/bfloat16_kernels.h"
#include "tensor/dispatch.h"
#include "tensor/indices.h"
#include "tensor/random_normal.h"
#include "tensor/tensor_on_device.h"

namespace cladtorch {
namespace {

constexpr uint64_t words_per_pair = 4;  // one Philox block

/// Values per parallel piece: as floats one huge page, so that two threads do not both ask for the same one.
constexpr int64_t values_per_piece = int64_t{1} << 19;

/// A new tensor of n random values: fill(stream, n, out) takes one block of words for each pair of values,
/// and `stream` stands where those of the piece begin. Advances `random` past the last, whole block.
template <class Fill>
Tensor random_tensor(const char* operation, const Shape& shape, Random& random, DType dtype, Fill fill) {
  Tensor result = Tensor::empty(shape, dtype);
  const int64_t n = shape.numel();
  const uint64_t start = random.position();
  const auto words_before = [=](int64_t values) {
    return start + static_cast<uint64_t>((values + 1) / 2) * words_per_pair;
  };
  detail::dispatch_real(operation, dtype, [&]<class T>(T) {
    T* out = result.data<T>();
    parallel_for(n, values_per_piece, [&](int64_t begin, int64_t end) {
      Random stream(random.seed(), random.stream());
      stream.seek(words_before(begin));
      fill(stream, end - begin, out + begin);
    });
  });
  random.seek(words_before(n));
  return result;
}

template <class T>
void fill_normal(const detail::NormalStream& from, int64_t n, T* out) {
  detail::fill_normal(from, n, out);
}

/// The floats of the same stream, rounded.
void fill_normal(detail::NormalStream from, int64_t n, bfloat16* out) {
  constexpr int64_t block = 512;
  float values[block];
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = std::min(block, n - i);
    detail::fill_normal(from, count, values);
    detail::narrow(count, values, out + i);
    from.first_word += block / 2 * words_per_pair;
  }
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

Tensor full_like(const Tensor& other, double value) {
  return full(other.shape(), value, other.dtype(), other.device());
}
Tensor ones_like(const Tensor& other) { return full_like(other, 1); }

Tensor linspace(double first, double last, int64_t steps, DType dtype) {
  require(steps >= 0, "linspace: expected at least 0 steps, got ", steps);
  Tensor result = empty({steps}, dtype);
  detail::dispatch_real("linspace", dtype, [&]<class T>(T) {
    // From either end, so that both are exact and the middle is symmetric.
    const double step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
    for (int64_t i = 0; i < steps; ++i)
      result.data<T>()[i] =
          detail::convert<T>(i < (steps + 1) / 2 ? first + static_cast<double>(i) * step
                                                 : last - static_cast<double>(steps - 1 - i) * step);
  });
  return result;
}

Tensor eye(int64_t n, DType dtype) {
  require(n >= 0, "eye: expected an extent of at least 0, got ", n);
  Tensor result = zeros({n, n}, dtype);
  detail::dispatch_any(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) result.data<T>()[i * n + i] = detail::convert<T>(int32_t{1});
  });
  return result;
}

Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype) {
  require(indices.defined() && !indices.is_cuda(), "one_hot: expected indices on the cpu");
  Shape shape = indices.shape();
  shape.push_back(classes);
  const Tensor dense = detail::as_int32("one_hot", "indices", indices).contiguous();
  Tensor result = zeros(shape, dtype);
  detail::dispatch_any(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < dense.numel(); ++i) {
      const int32_t index = dense.data<int32_t>()[i];
      require(index >= 0 && index < classes, "one_hot: index ", index, " is outside [0, ", classes, ")");
      result.data<T>()[i * classes + index] = detail::convert<T>(int32_t{1});
    }
  });
  return result;
}

Tensor arange(int64_t n, DType dtype, Device device) {
  require(n >= 0, "arange: expected a count of at least 0, got ", n);
  Tensor result = empty({n}, dtype, device);
  if (result.is_cuda()) {
    detail::arange_on_device(result);
    return result;
  }
  detail::dispatch_any(dtype, [&]<class T>(T) {
    T* out = result.data<T>();
    for (int64_t i = 0; i < n; ++i) out[i] = detail::convert<T>(i);
  });
  return result;
}

Tensor normal(const Shape& shape, Random& random, double mean, double deviation, DType dtype) {
  return random_tensor("normal", shape, random, dtype, [=](const Random& r, int64_t n, auto* out) {
    fill_normal({r.seed(), r.stream(), r.position(), mean, deviation}, n, out);
  });
}

Tensor randn(const Shape& shape, Random& random, DType dtype) { return normal(shape, random, 0, 1, dtype); }

Tensor rand(const Shape& shape, Random& random, DType dtype) {
  return random_tensor("rand", shape, random, dtype, []<class T>(Random& r, int64_t n, T* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = detail::convert<T>(r.uniform());
  });
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, Random& random, DType dtype) {
  require(low < high && (dtype == DType::int64 || (low >= INT32_MIN && high <= int64_t{INT32_MAX} + 1)),
          "randint: expected low < high within int32, got ", low, " and ", high);
  Tensor result = empty(shape, dtype);
  detail::dispatch_any(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < result.numel(); ++i) {
      const uint64_t above = random.below(static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
      result.data<T>()[i] = detail::convert<T>(static_cast<int64_t>(static_cast<uint64_t>(low) + above));
    }
  });
  return result;
}

Tensor randperm(int64_t n, Random& random, DType dtype) {
  Tensor result = arange(n, dtype);
  detail::dispatch_any(dtype, [&]<class T>(T) {
    T* const data = result.data<T>();
    for (int64_t i = n - 1; i > 0; --i) std::swap(data[i], data[random.below(static_cast<uint64_t>(i) + 1)]);
  });
  return result;
}

Tensor bernoulli(const Tensor& probability, Random& random) {
  const NotRecorded constant;
  require(probability.defined() && !probability.is_cuda(), "bernoulli: expected probabilities on the cpu");
  const Tensor dense = probability.contiguous();
  Tensor result = empty(probability.shape(), probability.dtype());
  detail::dispatch_real("bernoulli", probability.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < dense.numel(); ++i) {
      const double p = detail::convert<double>(dense.data<T>()[i]);
      require(p >= 0 && p <= 1, "bernoulli: ", p, " is no probability");
      result.data<T>()[i] = detail::convert<T>(random.uniform() < p ? 1.0 : 0.0);
    }
  });
  return result;
}

}  // namespace cladtorch
