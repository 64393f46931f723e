#include "ops/einsum/equation.h"

#include <algorithm>
#include <cctype>

namespace cladtorch::detail {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string spelled(int letter) {
  return letter < first_of_ellipsis ? std::string("letter '") + static_cast<char>(letter) + "'"
                                    : std::string("a dimension of \"...\"");
}

/// The letters of one operand or of the result, with `dots` dimensions for "...".
Letters letters_of(const std::string& text, const std::string& equation, int dots) {
  Letters letters;
  bool dotted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0 && !dotted) {
      for (int k = dots - 1; k >= 0; --k) letters.push_back(first_of_ellipsis + k);
      dotted = true;
      i += 2;
    } else {
      require(std::isalpha(static_cast<unsigned char>(text[i])) != 0, "einsum: unexpected '", text[i],
              "' in \"", equation, "\"");
      letters.push_back(text[i]);
    }
  }
  return letters;
}

}  // namespace

Equation::Equation(const std::string& text, const std::vector<Tensor>& x) {
  std::string bare;
  for (const char c : text)
    if (c != ' ') bare += c;
  const size_t arrow = bare.find("->");
  const std::vector<std::string> parts = split(bare.substr(0, arrow), ',');
  require(parts.size() == x.size(), "einsum: \"", text, "\" has ", parts.size(), " operands, got ", x.size());

  int most_dots = 0;
  std::map<int, int> count;
  for (size_t i = 0; i < x.size(); ++i) {
    require(x[i].defined(), "einsum: operand ", i, " is undefined");
    const bool dotted = parts[i].find("...") != std::string::npos;
    const int dots = dotted ? x[i].dim() - static_cast<int>(parts[i].size()) + 3 : 0;
    operands.push_back(letters_of(parts[i], text, std::max(0, dots)));
    require(dots >= 0 && operands[i].size() == static_cast<size_t>(x[i].dim()), "einsum: \"", parts[i],
            "\" does not fit operand ", i, " of shape ", x[i].shape(), " in \"", text, "\"");
    most_dots = std::max(most_dots, dots);
    for (int d = 0; d < x[i].dim(); ++d) {
      const int letter = operands[i][static_cast<size_t>(d)];
      ++count[letter];
      int64_t& size = sizes.try_emplace(letter, 1).first->second;
      const int64_t extent = x[i].size(d);
      require(extent == size || extent == 1 || size == 1, "einsum: ", spelled(letter), " is ", extent,
              " in operand ", i, " of shape ", x[i].shape(), ", and ", size, " before, in \"", text, "\"");
      if (extent != 1) size = extent;
    }
  }

  if (arrow != std::string::npos) {
    result = letters_of(bare.substr(arrow + 2), text, most_dots);
    for (size_t i = 0; i < result.size(); ++i) {
      require(sizes.contains(result[i]), "einsum: ", spelled(result[i]),
              " of the result is in no operand of \"", text, "\"");
      require(std::count(result.begin(), result.end(), result[i]) == 1, "einsum: ", spelled(result[i]),
              " is twice in the result of \"", text, "\"");
    }
  } else {
    for (int k = most_dots - 1; k >= 0; --k) result.push_back(first_of_ellipsis + k);
    for (const auto& [letter, times] : count)
      if (letter < first_of_ellipsis && times == 1) result.push_back(letter);
  }
}

}  // namespace cladtorch::detail
