// Curves as an SVG file.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace plot {

struct Curve {
  std::string name, colour;
  std::vector<double> y;
};

/// One panel with its curves over equally spaced places, `top` pixels down.
inline std::string panel(const std::string& title, const std::vector<Curve>& curves, double top) {
  constexpr double left = 60, width = 700, height = 180;
  double low = 1e300, high = -1e300;
  for (const Curve& c : curves)
    for (double y : c.y) low = std::min(low, y), high = std::max(high, y);
  if (!(high > low)) high = low + 1;
  char text[256];
  const auto label = [&](double x, double y, const char* anchor, const std::string& words,
                         const std::string& colour) {
    std::snprintf(text, sizeof text, "<text x='%.1f' y='%.1f' text-anchor='%s' fill='%s'>", x, y, anchor,
                  colour.c_str());
    return text + words + "</text>\n";
  };
  const auto number = [&](double v) {
    std::snprintf(text, sizeof text, "%.3g", v);
    return std::string(text);
  };
  std::string out = label(left, top + 16, "start", title, "#555");
  const double base = top + 30 + height;
  std::snprintf(text, sizeof text, "<path d='M%.1f %.1fV%.1fH%.1f' fill='none' stroke='#888'/>\n", left,
                top + 30, base, left + width);
  out += text;
  out += label(left - 6, top + 40, "end", number(high), "#555") +
         label(left - 6, base, "end", number(low), "#555");
  double legend = left + width;
  for (auto c = curves.rbegin(); c != curves.rend(); ++c) {
    out += label(legend, top + 16, "end", c->name, c->colour);
    legend -= 8 * static_cast<double>(c->name.size()) + 20;
    out += "<polyline fill='none' stroke-width='1.5' stroke='" + c->colour + "' points='";
    for (std::size_t i = 0; i < c->y.size(); ++i) {
      const double last = std::max<double>(1, static_cast<double>(c->y.size()) - 1);
      std::snprintf(text, sizeof text, "%.1f,%.1f ", left + width * static_cast<double>(i) / last,
                    base - height * (c->y[i] - low) / (high - low));
      out += text;
    }
    out += "'/>\n";
  }
  return out;
}

/// Writes the panels below each other; false if the file cannot be written.
inline bool write(const std::string& path, const std::vector<std::string>& panels) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  std::fprintf(file,
               "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 780 %zu' font-family='sans-serif' "
               "font-size='12'>\n",
               240 * panels.size());
  for (const std::string& p : panels) std::fputs(p.c_str(), file);
  std::fputs("</svg>\n", file);
  return std::fclose(file) == 0;
}

}  // namespace plot
