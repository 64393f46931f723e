// A confusion matrix as an SVG file.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

#include "training.h"

namespace fashion {

/// Rows are what an image shows, columns what it was taken for; the darker, the more images. False if the
/// file cannot be written.
inline bool write_picture(const std::string& path, const Confusion& confusion) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  constexpr int side = 44, left = 84, top = 84;
  std::fprintf(file,
               "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' "
               "font-size='12' fill='#333'>\n"
               "<rect width='100%%' height='100%%' fill='white'/>\n<text x='8' y='20' font-size='14'>"
               "Accuracy %.2f %%: rows are what an image shows, columns what it was taken for</text>\n",
               left + side * 10 + 10, top + side * 10 + 10, 100 * confusion.accuracy());
  for (int64_t row = 0; row < classes; ++row) {
    int64_t total = 0;
    for (int64_t column = 0; column < classes; ++column) total += confusion.at(row, column);
    const int y = top + side * static_cast<int>(row);
    std::fprintf(file, "<text x='%d' y='%d' text-anchor='end'>%s</text>\n", left - 8, y + 27,
                 class_names[row]);
    std::fprintf(file, "<text transform='translate(%d %d) rotate(-40)'>%s</text>\n",
                 left + side * static_cast<int>(row) + 18, top - 8, class_names[row]);
    for (int64_t column = 0; column < classes; ++column) {
      const int64_t count = confusion.at(row, column);
      const double share = total ? static_cast<double>(count) / static_cast<double>(total) : 0;
      const int x = left + side * static_cast<int>(column),
                light = 255 - static_cast<int>(175 * std::sqrt(share));
      std::fprintf(file, "<rect x='%d' y='%d' width='%d' height='%d' fill='rgb(%d,%d,255)' stroke='#eee'/>\n",
                   x, y, side, side, light, light);
      if (count > 0)
        std::fprintf(file, "<text x='%d' y='%d' text-anchor='middle'>%lld</text>\n", x + side / 2, y + 27,
                     static_cast<long long>(count));
    }
  }
  std::fputs("</svg>\n", file);
  return std::fclose(file) == 0;
}

}  // namespace fashion
