#include "cladtorch/data/token_sequence.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace cladtorch::data {
namespace {

bool bit(std::span<const uint64_t> words, size_t i) {
  return !words.empty() && (words[i / 64] >> i % 64 & 1) != 0;
}

}  // namespace

TokenSequence::TokenSequence(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (const Part& part : parts_) ends_.push_back(size_ += part.tokens.size());
}

TokenSequence::Place TokenSequence::place(size_t i) const {
  i += first_;
  const auto part = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  return {part, part == 0 ? i : i - ends_[part - 1]};
}

template <class F>
void TokenSequence::visit(size_t first, size_t count, F visit) const {
  assert(first <= size_ && count <= size_ - first && "the range lies inside the sequence");
  if (count == 0) return;
  Place at = place(first);
  for (size_t done = 0; done < count; ++at.part, at.offset = 0) {
    const Part& part = parts_[at.part];
    const size_t here = std::min(count - done, part.tokens.size() - at.offset);
    visit(part, at.offset, here, done);
    done += here;
  }
}

int32_t TokenSequence::operator[](size_t i) const {
  assert(i < size_ && "the token lies inside the sequence");
  const Place at = place(i);
  return parts_[at.part].tokens[at.offset];
}

bool TokenSequence::ignored(size_t i) const {
  assert(i < size_ && "the token lies inside the sequence");
  const Place at = place(i);
  return bit(parts_[at.part].ignored, at.offset);
}

bool TokenSequence::has_ignored() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return !part.ignored.empty(); });
}

void TokenSequence::copy(size_t first, std::span<int32_t> out) const {
  visit(first, out.size(), [&](const Part& part, size_t offset, size_t count, size_t done) {
    part.tokens.copy(offset, out.subspan(done, count));
  });
}

void TokenSequence::copy_targets(size_t first, std::span<int32_t> out) const {
  visit(first, out.size(), [&](const Part& part, size_t offset, size_t count, size_t done) {
    part.tokens.copy(offset, out.subspan(done, count));
    if (part.ignored.empty()) return;
    for (size_t i = 0; i < count; ++i) {
      if (bit(part.ignored, offset + i)) out[done + i] = ignored_target;
    }
  });
}

std::vector<uint64_t> TokenSequence::documents() const {
  std::vector<uint64_t> starts;
  bool known = false;
  for (const Part& part : parts_) known = known || !part.documents.empty();
  if (!known || size_ == 0) return starts;
  starts.push_back(0);
  visit(0, size_, [&](const Part& part, size_t offset, size_t count, size_t done) {
    const auto from = std::lower_bound(part.documents.begin(), part.documents.end(), offset);
    for (auto start = from; start != part.documents.end() && *start < offset + count; ++start) {
      if (const uint64_t at = done + (*start - offset); at > 0) starts.push_back(at);
    }
  });
  return starts;
}

TokenSequence TokenSequence::subsequence(size_t first, size_t count) const {
  assert(first <= size_ && count <= size_ - first && "the range lies inside the sequence");
  TokenSequence result = *this;
  result.first_ += first;
  result.size_ = count;
  return result;
}

void copy_tokens(const TokenSequence& from, TokenSink& to, bool continues) {
  const std::vector<uint64_t> documents = from.documents();
  auto document = documents.begin();
  std::array<int32_t, 4096> tokens;
  for (size_t at = 0; at < from.size();) {
    if (document != documents.end() && *document == at) {
      if (at > 0 || !continues) to.begin_document();
      ++document;
    }
    const size_t end = std::min(from.size(), document == documents.end() ? from.size() : *document);
    const bool ignored = from.ignored(at);
    size_t count = std::min(tokens.size(), end - at);
    if (from.has_ignored()) {
      size_t same = 1;
      while (same < count && from.ignored(at + same) == ignored) ++same;
      count = same;
    }
    const std::span<int32_t> piece(tokens.data(), count);
    from.copy(at, piece);
    to.append(piece, ignored);
    at += count;
  }
}

}  // namespace cladtorch::data
