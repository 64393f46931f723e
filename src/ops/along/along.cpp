#include "cladtorch/ops/along.h"

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"

namespace cladtorch {
namespace {

using detail::CpuCall;
using detail::line_dim;
using detail::Lines;
using detail::Operand;
using detail::without_line;

/// Sums from the first to the last, or from the last to the first.
Tensor running_sum(const Tensor& x, int dim, bool back) {
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Lines lines(x.shape(), dim);
  detail::dispatch_real("cumsum", x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    lines.for_each([&](int64_t, int64_t first) {
      detail::Computed<T> sum = 0;
      for (int64_t i = 0; i < lines.n; ++i) {
        const int64_t at = first + (back ? lines.n - 1 - i : i) * lines.inner;
        sum += static_cast<detail::Computed<T>>(from[at]);
        to[at] = static_cast<T>(sum);
      }
    });
  });
  return y;
}

/// Calls put(line, place, value) with the extreme of each line.
template <class Put>
void extremes(const char* operation, const Tensor& x, int64_t dim, bool largest, Put put) {
  const int d = line_dim(operation, x, dim);
  require(x.size(d) > 0, operation, ": dimension ", dim, " of shape ", x.shape(), " is empty");
  const Tensor dense = x.contiguous();
  const Lines lines(x.shape(), d);
  detail::dispatch_real(operation, x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const from = dense.data<T>();
    // With both signs changed the smallest is the largest. NaN beats all but another one.
    const C sign = largest ? C(1) : C(-1);
    const auto beats = [sign](C value, C best) { return !(sign * value <= sign * best) & (best == best); };
    if (lines.inner == 1) {
      constexpr int64_t lanes = 16;  // of which each has the extreme of every sixteenth element
      lines.for_each([&](int64_t line, int64_t first) {
        const T* const x = from + first;
        C best[lanes];
        int32_t places[lanes];
        const int64_t width = std::min(lanes, lines.n);
        for (int64_t k = 0; k < width; ++k) {
          best[k] = static_cast<C>(x[k]);
          places[k] = static_cast<int32_t>(k);
        }
        const auto update = [&](int64_t i, int64_t k) {
          const C value = static_cast<C>(x[i + k]);
          const bool better = beats(value, best[k]);
          best[k] = better ? value : best[k];
          places[k] = better ? static_cast<int32_t>(i + k) : places[k];
        };
        int64_t i = width;
        for (; i + lanes <= lines.n; i += lanes)
          for (int64_t k = 0; k < lanes; ++k) update(i, k);
        for (int64_t k = 0; i + k < lines.n; ++k) update(i, k);
        for (int64_t k = 1; k < width; ++k) {
          const bool same = best[k] == best[0] || (best[k] != best[k] && best[0] != best[0]);
          if (!beats(best[k], best[0]) && !(same && places[k] < places[0])) continue;
          best[0] = best[k];
          places[0] = places[k];
        }
        put(line, places[0], static_cast<T>(best[0]));
      });
      return;
    }
    // Lines side by side go together, so that memory is read in its order.
    constexpr int64_t together = 64;
    const int64_t pieces = (lines.inner + together - 1) / together;
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / (lines.n * together));
    parallel_for(lines.outer * pieces, grain, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t start = piece % pieces * together, count = std::min(together, lines.inner - start);
        const int64_t outer = piece / pieces, first = outer * lines.n * lines.inner + start;
        C best[together];
        int32_t places[together] = {};
        for (int64_t k = 0; k < count; ++k) best[k] = static_cast<C>(from[first + k]);
        for (int64_t i = 1; i < lines.n; ++i) {
          for (int64_t k = 0; k < count; ++k) {
            const C value = static_cast<C>(from[first + i * lines.inner + k]);
            const bool better = beats(value, best[k]);
            best[k] = better ? value : best[k];
            places[k] = better ? static_cast<int32_t>(i) : places[k];
          }
        }
        for (int64_t k = 0; k < count; ++k)
          put(outer * lines.inner + start + k, places[k], static_cast<T>(best[k]));
      }
    });
  });
}

Tensor extreme(const char* operation, const Tensor& x, int64_t dim, bool keepdim, bool largest) {
  const CpuCall call(operation, {{"x", x}});
  Tensor y = call.result(without_line(x.shape(), line_dim(operation, x, dim), keepdim));
  extremes(operation, x, dim, largest,
           [&]<class T>(int64_t line, int64_t, T value) { y.data<T>()[line] = value; });
  return y;
}

Tensor place_of_extreme(const char* operation, const Tensor& x, int64_t dim, bool keepdim, bool largest) {
  const NotRecorded constant;
  const CpuCall call(operation, {{"x", x, Operand::independent}});
  Tensor places = call.result(without_line(x.shape(), line_dim(operation, x, dim), keepdim), DType::int32);
  extremes(operation, x, dim, largest, [&](int64_t line, int64_t place, auto) {
    places.data<int32_t>()[line] = static_cast<int32_t>(place);
  });
  return places;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& parts, int64_t dim) {
  CLADTORCH_RECORD_STATE(CatState, cat, parts, dim);
  return detail::cat_all(parts, dim);
}

Tensor detail::cat_all(std::span<const Tensor> parts, int64_t dim, CatPart* kept) {
  require(!parts.empty(), "cat: there is no part");
  const int d = line_dim("cat", parts[0], dim);
  const Tensor& first = parts[0];
  int64_t length = 0;
  bool frozen = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i];
    require(part.defined(), "cat: part ", i, " is undefined");
    require(part.dim() == first.dim() && part.shape().with(d, 0) == first.shape().with(d, 0) &&
                part.dtype() == first.dtype() && part.device() == first.device(),
            "cat: part ", i, " does not fit the first: expected ", first.shape(), " of ", first.dtype(),
            " on ", first.device(), " but for dimension ", dim, ", got ", part.shape(), " of ", part.dtype(),
            " on ", part.device());
    length += part.size(d);
    frozen = frozen && part.is_frozen();
    if (kept) kept[i] = {part.size(d), part.is_frozen()};
  }
  detail::count_op();
  Tensor y = Tensor::empty(first.shape().with(d, length), first.dtype(), first.device());
  int64_t start = 0;
  for (const Tensor& part : parts) {
    y.narrow(d, start, part.size(d)).copy_from(part);
    start += part.size(d);
  }
  y.set_frozen(frozen);
  return y;
}

void detail::pull_cat(int64_t dim, const Tensor& d_y, Tensor* d_parts, std::span<const CatPart> kept) {
  if (!d_y.defined()) return;
  int64_t start = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (Tensor* const d = wanted(&d_parts[i], kept[i].frozen))
      d->accumulate(d_y.narrow(dim, start, kept[i].size));
    start += kept[i].size;
  }
}

Tensor flip(const Tensor& x, int64_t dim) {
  CLADTORCH_RECORD(flip, unread(x), dim);
  const CpuCall call("flip", {{"x", x}});
  const int d = line_dim("flip", x, dim);
  const Tensor dense = x.contiguous();
  Tensor y = call.result(x.shape());
  const Lines lines(x.shape(), d);
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    lines.for_each([&](int64_t, int64_t first) {
      for (int64_t i = 0; i < lines.n; ++i)
        to[first + i * lines.inner] = from[first + (lines.n - 1 - i) * lines.inner];
    });
  });
  return y;
}

Tensor cumsum(const Tensor& x, int64_t dim) {
  CLADTORCH_RECORD(cumsum, unread(x), dim);
  const CpuCall call("cumsum", {{"x", x}});
  return call.finish(running_sum(x, line_dim("cumsum", x, dim), false));
}

Tensor amax(const Tensor& x, int64_t dim, bool keepdim) {
  CLADTORCH_RECORD_STATE(ExtremeState, amax, unread(x), dim, keepdim);
  return extreme("amax", x, dim, keepdim, true);
}
Tensor amin(const Tensor& x, int64_t dim, bool keepdim) {
  CLADTORCH_RECORD_STATE(ExtremeState, amin, unread(x), dim, keepdim);
  return extreme("amin", x, dim, keepdim, false);
}
Tensor argmax(const Tensor& x, int64_t dim, bool keepdim) {
  return place_of_extreme("argmax", x, dim, keepdim, true);
}
Tensor argmin(const Tensor& x, int64_t dim, bool keepdim) {
  return place_of_extreme("argmin", x, dim, keepdim, false);
}

Tensor tangents::share_of_extreme(const Tensor& x, const Tensor& y, int64_t dim) {
  const int d = line_dim("share_of_extreme", x, dim);
  const Tensor dense = x.contiguous(), extremes = y.contiguous();
  Tensor share = Tensor::empty(x.shape(), x.dtype());
  const Lines lines(x.shape(), d);
  detail::dispatch_real("share_of_extreme", x.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    lines.for_each([&](int64_t line, int64_t first) {
      const C best = static_cast<C>(extremes.data<T>()[line]);
      const auto is_best = [&](int64_t i) {
        const C value = static_cast<C>(dense.data<T>()[first + i * lines.inner]);
        return value == best || (value != value && best != best);
      };
      int64_t count = 0;
      for (int64_t i = 0; i < lines.n; ++i) count += is_best(i);
      for (int64_t i = 0; i < lines.n; ++i)
        share.data<T>()[first + i * lines.inner] =
            static_cast<T>(is_best(i) ? C(1) / static_cast<C>(count) : C(0));
    });
  });
  return share;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::wanted;
using ::cladtorch::detail::line_dim;

Tensor cat_reverse_forw(const std::vector<Tensor>& parts, int64_t dim, pullback_state<CatState>& state) {
  state.data.parts.resize(parts.size());
  return ::cladtorch::detail::cat_all(parts, dim, state.data.parts.data());
}
void cat_pullback(const std::vector<Tensor>&, int64_t dim, Tensor d_y, std::vector<Tensor>* d_parts,
                  pullback_state<CatState>& state) {
  if (!d_parts) return;
  const auto& kept = state.data.parts;
  if (d_parts->size() < kept.size()) d_parts->resize(kept.size());
  ::cladtorch::detail::pull_cat(dim, d_y, d_parts->data(), kept);
}

void flip_pullback(const Tensor&, int64_t dim, Tensor d_y, Tensor* d_x) {
  if (d_x && d_y.defined()) d_x->accumulate(::cladtorch::flip(d_y, dim));
}

void cumsum_pullback(const Tensor&, int64_t dim, Tensor d_y, Tensor* d_x) {
  if (!d_x || !d_y.defined()) return;
  d_x->accumulate(::cladtorch::running_sum(d_y, line_dim("cumsum", d_y, dim), true));
}

static void extreme_pullback(const ExtremeState& state, int64_t dim, bool keepdim, Tensor d_y, Tensor* d_x) {
  d_x = wanted(d_x, state.x);
  if (!d_y.defined() || !d_x) return;
  const auto kept = [&](const Tensor& t) { return keepdim ? t : t.unsqueeze(dim); };
  const Tensor share = ::cladtorch::tangents::share_of_extreme(state.x, kept(state.y), dim);
  d_x->accumulate(::cladtorch::mul(share, kept(d_y)));
}

Tensor amax_reverse_forw(const Tensor& x, int64_t dim, bool keepdim, pullback_state<ExtremeState>& state) {
  state.data = {x, ::cladtorch::amax(x, dim, keepdim)};
  return state.data.y;
}
void amax_pullback(const Tensor&, int64_t dim, bool keepdim, Tensor d_y, Tensor* d_x,
                   pullback_state<ExtremeState>& state) {
  extreme_pullback(state.data, dim, keepdim, std::move(d_y), d_x);
}
Tensor amin_reverse_forw(const Tensor& x, int64_t dim, bool keepdim, pullback_state<ExtremeState>& state) {
  state.data = {x, ::cladtorch::amin(x, dim, keepdim)};
  return state.data.y;
}
void amin_pullback(const Tensor&, int64_t dim, bool keepdim, Tensor d_y, Tensor* d_x,
                   pullback_state<ExtremeState>& state) {
  extreme_pullback(state.data, dim, keepdim, std::move(d_y), d_x);
}

}  // namespace clad::custom_derivatives::cladtorch
