// The part of a source from which some rows of results are computed, copied to where a tile can read it: with
// zeros around it, and so that neighbouring results read neighbouring elements.
#pragma once

#include <cstring>

#include "ops/convolution/correlation.h"
#include "ops/matmul/packing.h"

namespace cladtorch::detail {

/// body(step), where the compiler knows the most frequent steps.
template <class Body>
void with_step(int64_t step, Body&& body) {
  if (step == 1) {
    body(std::integral_constant<int64_t, 1>());
  } else if (step == 2) {
    body(std::integral_constant<int64_t, 2>());
  } else {
    body(step);
  }
}

/// `rows` x `width` results, of which each row begins `pitch` after the one before. Their elements of the
/// source are divided by the remainder of their row and column by the stride into planes, in which they lie
/// as the results do: result j reads, for a tap, plane element j + tap_offset().
///
/// Where rows begin and end with padding, the zeros at the end of one are those at the beginning of the next.
/// What lies between the results of two rows has finite values.
class Window {
 public:
  /// Of at most `most_results` results, where one row does not have more.
  Window(const Axis& high, const Axis& wide, int64_t most_results) : high_(high), wide_(wide) {
    width = EvenSplit(wide.out, most_results).size;
    length_ = (width - 1) * wide.stride + wide.reach();
    if (width == wide.out)
      shared_ = std::max<int64_t>(0, std::min(-wide.lowest(), wide.lowest() + length_ - wide.in));
    pitch = std::max(divided_up(length_ - shared_, wide.stride), width);
    rows = EvenSplit(high.out, std::max<int64_t>(1, most_results / pitch)).size;
    const int64_t lines = divided_up((rows - 1) * high.stride + high.reach(), high.stride);
    // An odd number of cache lines: neighbouring channels do not compete for the same places of the cache.
    plane_ = rounded_up(lines * pitch + divided_up(shared_, wide.stride), 16) | 16;
  }

  int64_t rows, width, pitch;

  /// Results from the first of `count` rows to the last, those between rows included.
  int64_t results(int64_t count) const { return (count - 1) * pitch + width; }
  /// Elements of a channel.
  int64_t channel() const { return high_.stride * wide_.stride * plane_; }
  int64_t tap_offset(int64_t row_tap, int64_t column_tap) const {
    const int64_t r = high_.offset(row_tap), c = wide_.offset(column_tap);
    return (r % high_.stride * wide_.stride + c % wide_.stride) * plane_ + r / high_.stride * pitch +
           c / wide_.stride;
  }

  /// Copies one channel, whose image [high.in, wide.in] is `from`, or zero if that is null, for the results
  /// from (row, column) on.
  template <class T>
  void load(const T* from, int64_t row, int64_t count, int64_t column, int64_t columns,
            Computed<T>* to) const {
    using C = Computed<T>;
    const int64_t first = row * high_.stride + high_.lowest(), low = column * wide_.stride + wide_.lowest();
    const int64_t length = (columns - 1) * wide_.stride + wide_.reach();
    const int64_t lines = (count - 1) * high_.stride + high_.reach();
    for (int64_t y = 0; y < high_.stride; ++y) {
      for (int64_t x = 0; x < wide_.stride; ++x, to += plane_) {
        if (!is_read(high_, y) || !is_read(wide_, x)) continue;
        const auto elements = [&](int64_t end) { return divided_up(end - low - x, wide_.stride); };
        Line line{.count = std::max(elements(low + length), pitch)};
        line.begin = std::clamp<int64_t>(elements(0), 0, line.count);
        line.end = std::clamp(std::min(elements(wide_.in), elements(low + length)), line.begin, line.count);
        C* at = to;
        for (int64_t r = first + y; r < first + lines; r += high_.stride, at += pitch) {
          const bool inside = from && r >= 0 && r < high_.in;
          load_line(inside ? from + r * wide_.in + low + x : nullptr, line, at);
        }
      }
    }
  }

 private:
  /// Elements of a line of a plane: those in [begin, end) are inside of the source.
  struct Line {
    int64_t count, begin = 0, end = 0;
  };

  /// Whether a tap reads the elements at this offset, up to a multiple of the stride.
  static bool is_read(const Axis& axis, int64_t offset) {
    for (int64_t t = 0; t < axis.taps; ++t)
      if ((axis.offset(t) - offset) % axis.stride == 0) return true;
    return false;
  }

  template <class C>
  static void clear(C* to, int64_t n) {
    if (n > 16) {
      std::fill_n(to, n, C(0));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {  // a call of memset takes longer
      to[i] = C(0);
      __asm__("" : "+m"(to[i]));
    }
  }
  template <class T>
  void load_line(const T* from, const Line& line, Computed<T>* to) const {
    using C = Computed<T>;
    const int64_t end = from ? line.end : line.begin;
    clear(to, line.begin);
    with_step(wide_.stride, [&](auto step) {
      for (int64_t i = line.begin; i < end; ++i) to[i] = static_cast<C>(from[i * step]);
    });
    clear(to + end, line.count - end);
  }

  const Axis &high_, &wide_;
  int64_t length_, shared_ = 0, plane_;
};

}  // namespace cladtorch::detail
