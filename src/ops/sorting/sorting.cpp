#include "cladtorch/ops/sorting.h"

#include <algorithm>
#include <numeric>

#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"

namespace cladtorch {
namespace {

/// Whether a is before b among ascending elements.
template <class C>
bool is_less(C a, C b) {
  return a < b || (b != b && a == a);
}

/// The indices along `dim` of the `count` elements that select(order, end, before) puts first in the order of
/// a line; before(i, j) says whether element i comes before element j.
template <class Select>
Tensor selected(const char* operation, const Tensor& x, int64_t dim, int64_t count, bool descending,
                Select select) {
  const detail::CpuCall call(operation, {{"x", x, detail::Operand::independent}});
  const int d = detail::line_dim(operation, x, dim);
  require(x.size(d) <= INT32_MAX, operation, ": expected at most 2^31 - 1 entries in dimension ", dim, " of ",
          x.shape());
  const Tensor dense = x.contiguous();
  const detail::Lines lines(x.shape(), d);
  Tensor order = Tensor::empty({lines.outer * lines.inner, lines.n}, DType::int32);
  Tensor indices = call.result(x.shape().with(d, count), DType::int32);
  int32_t* const to = indices.data<int32_t>();
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const from = dense.data<T>();
    lines.for_each([&](int64_t line, int64_t first) {
      int32_t* const own = order.data<int32_t>() + line * lines.n;
      std::iota(own, own + lines.n, 0);
      const auto before = [&](int32_t i, int32_t j) {
        const C a = static_cast<C>(from[first + i * lines.inner]),
                b = static_cast<C>(from[first + j * lines.inner]);
        if (descending ? is_less(b, a) : is_less(a, b)) return true;
        return (descending ? !is_less(a, b) : !is_less(b, a)) && i < j;
      };
      select(own, own + lines.n, before);
      int32_t* const out = to + line / lines.inner * count * lines.inner + line % lines.inner;
      for (int64_t i = 0; i < count; ++i) out[i * lines.inner] = own[i];
    });
  });
  return indices;
}

/// The index of the element that nth(order, end) of a line says, which then is the first of the order.
Tensor at_rank(const char* operation, const Tensor& x, int64_t dim, int64_t rank) {
  return selected(operation, x, dim, 1, false, [rank](int32_t* order, int32_t* end, const auto& before) {
    std::nth_element(order, order + rank, end, before);
    std::swap(order[0], order[rank]);
  });
}

}  // namespace

Tensor argsort(const Tensor& x, int64_t dim, bool descending) {
  const NotRecorded constant;
  const int64_t all = x.size(detail::line_dim("sort", x, dim));
  return selected("sort", x, dim, all, descending,
                  [](int32_t* order, int32_t* end, const auto& before) { std::sort(order, end, before); });
}

Tensor detail::topk_indices(const Tensor& x, int64_t k, int64_t dim, bool largest) {
  const NotRecorded constant;
  const int64_t all = x.size(line_dim("topk", x, dim));
  require(k >= 0 && k <= all, "topk: expected k from 0 to ", all, " for dimension ", dim, " of ", x.shape(),
          ", got ", k);
  return selected("topk", x, dim, k, largest, [k](int32_t* order, int32_t* end, const auto& before) {
    std::partial_sort(order, order + k, end, before);
  });
}

Tensor detail::kth_index(const Tensor& x, int64_t k, int64_t dim) {
  const NotRecorded constant;
  const int64_t all = x.size(line_dim("kthvalue", x, dim));
  require(k >= 1 && k <= all, "kthvalue: expected k from 1 to ", all, " for dimension ", dim, " of ",
          x.shape(), ", got ", k);
  return at_rank("kthvalue", x, dim, k - 1);
}

Tensor detail::median_index(const Tensor& x, int64_t dim) {
  const NotRecorded constant;
  const int d = line_dim("median", x, dim);
  require(x.size(d) > 0, "median: dimension ", dim, " of shape ", x.shape(), " is empty");
  Tensor index = at_rank("median", x, dim, (x.size(d) - 1) / 2);
  if (!is_floating(x.dtype())) return index;
  const Tensor dense = x.contiguous();
  const Lines lines(x.shape(), d);
  dispatch_real("median", x.dtype(), [&]<class T>(T) {
    lines.for_each([&](int64_t line, int64_t first) {
      for (int64_t i = 0; i < lines.n; ++i) {
        const auto value = static_cast<Computed<T>>(dense.data<T>()[first + i * lines.inner]);
        if (value == value) continue;
        index.data<int32_t>()[line] = static_cast<int32_t>(i);
        return;
      }
    });
  });
  return index;
}

Tensor detail::running_extreme(const char* operation, const Tensor& x, int64_t dim, bool largest) {
  const NotRecorded constant;
  const CpuCall call(operation, {{"x", x, Operand::independent}});
  const int d = line_dim(operation, x, dim);
  const Tensor dense = x.contiguous();
  const Lines lines(x.shape(), d);
  Tensor indices = call.result(x.shape(), DType::int32);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const T* const from = dense.data<T>();
    lines.for_each([&](int64_t, int64_t first) {
      int64_t best_at = 0;
      for (int64_t i = 0; i < lines.n; ++i) {
        const C value = static_cast<C>(from[first + i * lines.inner]),
                best = static_cast<C>(from[first + best_at * lines.inner]);
        if (value != value || (best == best && (largest ? value >= best : value <= best))) best_at = i;
        indices.data<int32_t>()[first + i * lines.inner] = static_cast<int32_t>(best_at);
      }
    });
  });
  return indices;
}

}  // namespace cladtorch
