// Encodes a text that arrives in pieces as if it were whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

/// Collects text until a part of it can be encoded whatever follows (Tokenizer::whole_length), so the tokens
/// do not depend on where the pieces end. It holds little more than one piece, unless the text cannot be cut,
/// as a megabyte without a space.
class TokenStream {
 public:
  /// `tokenizer` must outlive the stream.
  explicit TokenStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// The tokens that are certain after `piece`; valid until the next call.
  const std::vector<int32_t>& append(std::string_view piece);

  /// The tokens of the remaining text. The next text begins after this.
  const std::vector<int32_t>& finish();

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;
  std::vector<int32_t> tokens_;
  size_t next_look_ = 0;  // pending bytes below which no place to cut will be found
  bool begins_ = true;
};

}  // namespace cladtorch::data
