// Tokens in memory, as narrow as the vocabulary allows.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "cladtorch/data/token_sequence.h"
#include "data/tokens/token_marks.h"

namespace cladtorch::data {

class MemoryTokens final : public TokenSink {
 public:
  explicit MemoryTokens(TokenWidth width) {
    if (width == TokenWidth::u32) tokens_.emplace<1>();
  }

  /// About that many tokens will come.
  void reserve(uint64_t tokens) {
    std::visit([&](auto& list) { list.reserve(tokens); }, tokens_);
  }

  void begin_document() override { marks_.begin_document(size()); }
  void append(std::span<const int32_t> more, bool ignored) override {
    marks_.append(size(), more.size(), ignored);
    std::visit(
        [&](auto& list) {
          using Token = typename std::remove_reference_t<decltype(list)>::value_type;
          // Many at once get what they need, not twice as much.
          if (more.size() > list.capacity()) list.reserve(list.size() + more.size());
          for (int32_t token : more) list.push_back(static_cast<Token>(token));
        },
        tokens_);
  }

  /// Call once, after the last token; the sequence is valid as long as this object.
  TokenSequence finish() {
    marks_.finish(size());
    const TokenSpan tokens = std::visit([](const auto& list) { return TokenSpan(std::span(list)); }, tokens_);
    return TokenSequence(std::vector<TokenSequence::Part>{{tokens, marks_.documents(), marks_.ignored()}});
  }

 private:
  uint64_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, tokens_);
  }

  std::variant<std::vector<uint16_t>, std::vector<uint32_t>> tokens_;
  TokenMarks marks_;
};

}  // namespace cladtorch::data
