#include "cladtorch/ops/counting.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

Tensor as_tensor(const std::vector<int32_t>& values) {
  return from_values<int32_t>({std::ssize(values)}, values);
}

/// Dense integers of x [n] that are not negative.
Tensor checked_bins(const Tensor& x) {
  require(x.defined() && x.dim() == 1, "bincount: expected integers [n], got ",
          x.defined() ? x.shape() : Shape());
  detail::require_cpu("bincount", x);
  const Tensor bins = detail::as_int32("bincount", "x", x).contiguous();
  for (int64_t i = 0; i < bins.numel(); ++i)
    require(bins.data<int32_t>()[i] >= 0, "bincount: element ", i, " is negative: ", bins.data<int32_t>()[i]);
  return bins;
}

}  // namespace

detail::UniquePlaces detail::unique_places(const char* operation, const Tensor& x, bool sorted) {
  const CpuCall call(operation, {{"x", x, Operand::independent}});
  require(x.numel() <= INT32_MAX, operation, ": expected at most 2^31 - 1 elements, got ", x.numel());
  const Tensor dense = x.contiguous();
  std::vector<int32_t> order(static_cast<size_t>(x.numel())), first, counts;
  std::iota(order.begin(), order.end(), 0);
  Tensor inverse = call.result(x.shape(), DType::int32);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const auto at = [from = dense.data<T>()](int32_t i) { return static_cast<C>(from[i]); };
    if (sorted)
      std::sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
        const C a = at(i), b = at(j);
        if (a < b || (b != b && a == a)) return true;
        return !(b < a || (a != a && b == b)) && i < j;
      });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || at(order[i]) != at(order[i - 1])) {
        first.push_back(order[i]);
        counts.push_back(0);
      }
      ++counts.back();
      inverse.data<int32_t>()[order[i]] = static_cast<int32_t>(first.size() - 1);
    }
  });
  return {as_tensor(first), inverse, as_tensor(counts)};
}

int64_t detail::bin_count(const Tensor& x, int64_t minlength) {
  const Tensor bins = checked_bins(x);
  const int32_t* const data = bins.data<int32_t>();
  const int64_t most = bins.numel() == 0 ? 0 : *std::max_element(data, data + bins.numel()) + int64_t{1};
  return std::max(most, minlength);
}

Tensor bincount(const Tensor& x, int64_t minlength) {
  const detail::CpuCall call("bincount", {{"x", x, detail::Operand::independent}});
  const Tensor bins = checked_bins(x);
  Tensor counts = zeros({detail::bin_count(x, minlength)}, DType::int32);
  for (int64_t i = 0; i < bins.numel(); ++i) ++counts.data<int32_t>()[bins.data<int32_t>()[i]];
  return call.finish(std::move(counts));
}

Tensor histc(const Tensor& x, int64_t bins, double min, double max) {
  const NotRecorded constant;
  const detail::CpuCall call("histc", {{"x", x, detail::Operand::independent}});
  require(bins > 0, "histc: expected a number of bins above 0, got ", bins);
  const Tensor dense = x.to(DType::float64).contiguous();
  const double* const from = dense.data<double>();
  if (min == max && x.numel() > 0) {
    const auto [least, most] = std::minmax_element(from, from + x.numel());
    min = *least;
    max = *most;
  }
  require(std::isfinite(min) && std::isfinite(max) && min <= max,
          "histc: expected a finite range with min below max, got ", min, " to ", max);
  if (min == max) {
    min -= 1;
    max += 1;
  }
  Tensor counts = zeros({bins}, DType::float64);
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (!(from[i] >= min && from[i] <= max)) continue;
    const auto bin = static_cast<int64_t>((from[i] - min) / (max - min) * static_cast<double>(bins));
    ++counts.data<double>()[std::min(bin, bins - 1)];
  }
  return call.finish(counts.to(x.dtype()));
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right) {
  const NotRecorded constant;
  const Tensor& sequence = sorted_sequence;
  const detail::CpuCall call("searchsorted", {{"sorted_sequence", sequence, detail::Operand::independent},
                                              {"values", values, detail::Operand::independent}});
  require(sequence.dim() > 0, "searchsorted: expected a sequence of one dimension at least");
  require(sequence.dtype() == values.dtype(), "searchsorted: the sequence is ", sequence.dtype(),
          ", the values are ", values.dtype(), "; convert with to()");
  require(sequence.dim() == 1 ||
              (values.dim() == sequence.dim() &&
               sequence.shape().without(sequence.dim() - 1) == values.shape().without(values.dim() - 1)),
          "searchsorted: expected values with the leading dimensions of the sequence ", sequence.shape(),
          ", got ", values.shape());
  const int64_t n = sequence.size(-1), k = sequence.dim() == 1 ? values.numel() : values.size(-1);
  const Tensor dense = sequence.contiguous(), wanted = values.contiguous();
  Tensor places = call.result(values.shape(), DType::int32);
  detail::dispatch_any(values.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T *const all = dense.data<T>(), *const from = wanted.data<T>();
    int32_t* const to = places.data<int32_t>();
    parallel_for(values.numel(), 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* const row = all + i / k * n;
        const C value = static_cast<C>(from[i]);
        to[i] = static_cast<int32_t>(std::partition_point(row, row + n,
                                                          [&](T other) {
                                                            const C a = static_cast<C>(other);
                                                            return right ? !(a > value) : !(a >= value);
                                                          }) -
                                     row);
      }
    });
  });
  return places;
}

}  // namespace cladtorch
