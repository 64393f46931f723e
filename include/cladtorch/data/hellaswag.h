// HellaSwag: which of four endings continues a text. Source: Zellers et al., "HellaSwag: can a machine
// really finish your sentence?", 2019.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace cladtorch::data {

/// A text and its possible endings, one of which is right.
struct ChoiceQuestion {
  std::string context;
  std::vector<std::string> endings;  ///< a space goes between the context and each
  size_t answer = 0;                 ///< index of the right one
  uint64_t line = 0;                 ///< of the file, for messages
};

/// Whose prompts and normalized accuracy are used.
enum class HellaSwagStyle {
  /// EleutherAI's lm-evaluation-harness: the activity, then ctx_a and ctx_b, without WikiHow's marks in
  /// brackets. Normalized by the characters of an ending.
  harness,
  /// llm.c: ctx unchanged. Normalized by the tokens of an ending.
  llmc,
};

/// "harness" or "llmc"; throws Error naming both for anything else.
HellaSwagStyle hellaswag_style(const std::string& name);

/// The first `limit` questions of a file in HellaSwag's own format: JSON Lines, plain, .gz or .zst, each an
/// object with `endings`, `label` (a number, or one in a string), and `ctx_a` and `ctx_b` or `ctx`;
/// `activity_label` if there is one. Throws Error naming the file and line of an invalid example.
std::vector<ChoiceQuestion> read_hellaswag(const std::filesystem::path& path,
                                           HellaSwagStyle style = HellaSwagStyle::harness,
                                           int64_t limit = std::numeric_limits<int64_t>::max());

}  // namespace cladtorch::data
