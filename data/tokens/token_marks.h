// Where documents begin and which tokens are ignored, gathered while tokens are appended.
#pragma once

#include <cstdint>
#include <vector>

namespace cladtorch::data {

class TokenMarks {
 public:
  /// Notes a document at place `count`; one that got no token is forgotten.
  void begin_document(uint64_t count) {
    if (documents_.empty() || documents_.back() != count) documents_.push_back(count);
  }

  /// `more` tokens follow the first `count`.
  void append(uint64_t count, uint64_t more, bool ignored) {
    if (!ignored) return;
    ignored_.resize((count + more + 63) / 64);
    for (uint64_t i = count; i < count + more; ++i) ignored_[i / 64] |= uint64_t{1} << i % 64;
  }

  /// There are `count` tokens and no more.
  void finish(uint64_t count) {
    if (!documents_.empty() && documents_.back() == count) documents_.pop_back();
    if (!ignored_.empty()) ignored_.resize((count + 63) / 64);
  }

  const std::vector<uint64_t>& documents() const { return documents_; }
  /// One bit per token, or nothing where none is ignored.
  const std::vector<uint64_t>& ignored() const { return ignored_; }

 private:
  std::vector<uint64_t> documents_, ignored_;
};

}  // namespace cladtorch::data
