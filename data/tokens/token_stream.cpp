#include "cladtorch/data/token_stream.h"

namespace cladtorch::data {

const std::vector<int32_t>& TokenStream::append(std::string_view piece) {
  tokens_.clear();
  pending_ += piece;
  if (pending_.size() < next_look_) return tokens_;
  const size_t whole = tokenizer_.whole_length(pending_);
  // Where there is no place to cut, look again only in twice as much: all the looks together stay linear.
  next_look_ = whole == 0 ? 2 * pending_.size() : 0;
  if (whole == 0) return tokens_;
  tokenizer_.append_tokens(std::string_view(pending_).substr(0, whole), tokens_, begins_);
  pending_.erase(0, whole);
  begins_ = false;
  return tokens_;
}

const std::vector<int32_t>& TokenStream::finish() {
  tokens_.clear();
  if (!pending_.empty()) tokenizer_.append_tokens(pending_, tokens_, begins_);
  pending_.clear();
  next_look_ = 0;
  begins_ = true;
  return tokens_;
}

}  // namespace cladtorch::data
