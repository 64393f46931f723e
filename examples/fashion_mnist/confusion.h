// How a classifier errs, as numbers and as a picture.
#pragma once

#include <cmath>

#include "data.h"

namespace fashion {

/// How many images of each class (row) were taken for which (column).
struct Confusion {
  std::vector<int64_t> counts = std::vector<int64_t>(classes * classes);

  int64_t& at(int64_t is, int64_t taken_for) { return counts[static_cast<size_t>(is * classes + taken_for)]; }
  int64_t at(int64_t is, int64_t taken_for) const {
    return counts[static_cast<size_t>(is * classes + taken_for)];
  }
  double accuracy() const {
    int64_t right = 0, all = 0;
    for (int64_t i = 0; i < classes; ++i) right += at(i, i);
    for (const int64_t n : counts) all += n;
    return all ? static_cast<double>(right) / static_cast<double>(all) : 0;
  }
};

template <class Model>
Confusion test(const Model& model, const Images& images) {
  Confusion confusion;
  cladtorch::Workspace workspace;
  constexpr int64_t batch = 250;
  for (int64_t i = 0; i < images.size(); i += batch) {
    const cladtorch::Workspace::Step memory(workspace);
    const int64_t n = std::min(batch, images.size() - i);
    const Tensor taken_for = argmax(model.forward(images.images.narrow(0, i, n)), 1);
    const Tensor labels = images.labels.narrow(0, i, n);
    for (int64_t k = 0; k < n; ++k) ++confusion.at(labels.data<int32_t>()[k], taken_for.data<int32_t>()[k]);
  }
  return confusion;
}

/// An SVG file: the darker a field, the more images.
inline void write_picture(const fs::path& path, const Confusion& confusion) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  cladtorch::require(file, "cannot write ", path.string());
  constexpr int side = 44, left = 84, top = 84;
  std::fprintf(
      file,
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12' "
      "fill='#333'>\n<rect width='100%%' height='100%%' fill='white'/>\n<text x='8' y='20' font-size='14'>"
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
  cladtorch::require(std::fclose(file) == 0, "cannot write ", path.string());
}

}  // namespace fashion
