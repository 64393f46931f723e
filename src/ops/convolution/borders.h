// The results at the borders of an image, some of whose taps are in the padding.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/convolution/correlation.h"

namespace cladtorch::detail {

/// Divides an image into regions of results that leave out the same taps: those of the first and the last
/// row, and of the other rows those of the first and the last column, leave out what all of them have in the
/// padding. The rest is region 0, which leaves out none.
class Borders {
 public:
  static constexpr int count = 5;
  struct Region {
    int64_t first_row, end_row, first_column, end_column;  // of taps
    int64_t taps() const {
      return std::max<int64_t>(0, end_row - first_row) * std::max<int64_t>(0, end_column - first_column);
    }
  };

  Borders(const Axis& high, const Axis& wide) : last_row_(high.out - 1), last_column_(wide.out - 1) {
    const auto [top, top_end] = high.inside(0);
    const auto [bottom, bottom_end] = high.inside(last_row_);
    const auto [left, left_end] = wide.inside(0);
    const auto [right, right_end] = wide.inside(last_column_);
    regions = {Region{0, high.taps, 0, wide.taps}, Region{top, top_end, 0, wide.taps},
               Region{bottom, bottom_end, 0, wide.taps}, Region{0, high.taps, left, left_end},
               Region{0, high.taps, right, right_end}};
  }
  /// Of a result of the image.
  int region_of(int64_t row, int64_t column) const {
    const auto leaves_out = [&](int region) { return regions[region].taps() < regions[0].taps(); };
    if (row == 0 && leaves_out(1)) return 1;
    if (row == last_row_ && leaves_out(2)) return 2;
    if (column == 0 && leaves_out(3)) return 3;
    if (column == last_column_ && leaves_out(4)) return 4;
    return 0;
  }

  std::array<Region, count> regions;

 private:
  int64_t last_row_, last_column_;
};

}  // namespace cladtorch::detail
