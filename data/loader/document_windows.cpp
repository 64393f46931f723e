#include "data/loader/document_windows.h"

#include <algorithm>
#include <set>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace {

bool scores_any(const TokenSequence& tokens, uint64_t first, uint64_t count) {
  for (uint64_t i = first; i < first + count; ++i) {
    if (!tokens.ignored(i)) return true;
  }
  return false;
}

}  // namespace

DocumentWindows::DocumentWindows(const char* who, TokenSequence tokens, int64_t time)
    : tokens_(std::move(tokens)) {
  std::vector<Part> parts = cut(static_cast<size_t>(time));
  require(tokens_.empty() || !tokens_.documents().empty(), who,
          ": it is not known where the documents of this text begin; prepare it again with 'cladtorch data "
          "prepare', or use the packing 'packed'");
  require(!parts.empty(), who, ": no document of the text has a token to predict; use a longer text");
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.length != b.length ? a.length > b.length : a.start < b.start;
  });
  pack(parts, static_cast<size_t>(time));
}

std::vector<DocumentWindows::Part> DocumentWindows::cut(size_t time) const {
  std::vector<Part> parts;
  const bool masked = tokens_.has_ignored();
  std::vector<uint64_t> bounds = tokens_.documents();
  if (!bounds.empty()) bounds.push_back(tokens_.size());
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    for (uint64_t at = bounds[i]; at + 1 < bounds[i + 1]; at += time) {
      const uint64_t length = std::min<uint64_t>(time, bounds[i + 1] - 1 - at);
      if (!masked || scores_any(tokens_, at + 1, length)) parts.push_back({at, length});
    }
  }
  return parts;
}

/// `parts` descend in length.
void DocumentWindows::pack(const std::vector<Part>& parts, size_t time) {
  std::vector<std::vector<uint64_t>> open(time);  // windows by the room that they have left
  std::set<uint64_t> rooms;                       // for which there are any
  std::vector<uint64_t> window_of(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint64_t length = parts[i].length;
    uint64_t room = time;
    if (const auto fits = rooms.lower_bound(length); fits != rooms.end()) {
      room = *fits;
      window_of[i] = open[room].back();
      open[room].pop_back();
      if (open[room].empty()) rooms.erase(room);
    } else {
      window_of[i] = ends_.size();
      ends_.push_back(0);
    }
    if (const uint64_t left = room - length; left > 0) {
      open[left].push_back(window_of[i]);
      rooms.insert(left);
    }
    ++ends_[window_of[i]];
  }
  uint64_t sum = 0;
  for (uint64_t& end : ends_) end = sum += end;
  parts_.resize(parts.size());
  // From the last part to the first, so that each window's parts end where the window ends.
  std::vector<uint64_t> place = ends_;
  for (size_t i = parts.size(); i-- > 0;) parts_[--place[window_of[i]]] = parts[i];
}

uint64_t DocumentWindows::tokens() const {
  uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.length;
  return sum;
}

void DocumentWindows::copy(size_t window, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  size_t at = 0;
  for (uint64_t i = window == 0 ? 0 : ends_[window - 1]; i < ends_[window]; ++i) {
    const Part& part = parts_[i];
    tokens_.copy(part.start, tokens.subspan(at, part.length));
    tokens_.copy_targets(part.start + 1, targets.subspan(at, part.length));
    at += part.length;
  }
  std::fill(tokens.begin() + static_cast<ptrdiff_t>(at), tokens.end(), 0);
  std::fill(targets.begin() + static_cast<ptrdiff_t>(at), targets.end(), ignored_target);
}

}  // namespace cladtorch::data
