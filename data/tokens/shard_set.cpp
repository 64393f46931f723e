#include "data/tokens/shard_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

/// A shard's list of documents is kept in memory while it is written: 32 MB at most.
constexpr uint64_t most_documents = uint64_t{1} << 22;

/// The largest token of a span that is not empty.
int64_t largest(TokenSpan tokens) {
  if (tokens.width() == TokenWidth::u16) {
    const auto* data = static_cast<const uint16_t*>(tokens.data());
    return *std::max_element(data, data + tokens.size());
  }
  const auto* data = static_cast<const uint32_t*>(tokens.data());
  return *std::max_element(data, data + tokens.size());
}

}  // namespace

void check_tokens(const fs::path& file, TokenSpan tokens, int64_t vocab_size) {
  if (tokens.empty() || largest(tokens) < vocab_size) return;
  size_t i = 0;
  while (tokens[i] >= 0 && tokens[i] < vocab_size) ++i;
  fail("read shard '", file.string(), "': token ", i, " is ", tokens[i], ", outside the vocabulary of ",
       vocab_size);
}

void ShardSetWriter::open_shard() {
  const size_t number = options_.first + entries_.size();
  entries_.push_back({fmt::format("{}-{:05}.tokens", options_.split, number)});
  writer_.emplace(options_.folder / entries_.back().file, options_.width, options_.vocabulary);
}

void ShardSetWriter::close_shard() {
  writer_->finish();
  entries_.back().tokens = writer_->count();
  entries_.back().documents = writer_->documents();
  finished_tokens_ += writer_->count();
  writer_.reset();
}

void ShardSetWriter::begin_document() {
  if (writer_ && (writer_->count() == options_.shard_tokens || writer_->documents() == most_documents)) {
    close_shard();
  }
  if (!writer_) open_shard();
  writer_->begin_document();
}

void ShardSetWriter::append(std::span<const int32_t> tokens, bool ignored) {
  while (!tokens.empty()) {
    if (writer_ && writer_->count() == options_.shard_tokens) close_shard();
    if (!writer_) open_shard();
    const size_t part = std::min<uint64_t>(tokens.size(), options_.shard_tokens - writer_->count());
    writer_->append(tokens.first(part), ignored);
    tokens = tokens.subspan(part);
  }
}

std::vector<ShardEntry> ShardSetWriter::finish() {
  if (writer_) close_shard();
  return std::move(entries_);
}

TokenSequence ShardSet::tokens() const {
  std::vector<TokenSequence::Part> parts;
  for (const TokenShard& shard : shards) parts.push_back(shard.part());
  return TokenSequence(std::move(parts));
}

ShardSet open_shards(const fs::path& folder, const std::vector<ShardEntry>& entries, int64_t vocab_size,
                     uint64_t vocabulary) {
  ShardSet set;
  for (const ShardEntry& entry : entries) {
    const fs::path file = folder / entry.file;
    const TokenShard& shard = set.shards.emplace_back(TokenShard::open(file));
    require(shard.vocabulary() == vocabulary, "read shard '", file.string(),
            "': its tokens belong to another vocabulary than the tokenizer.json beside it; prepare the text "
            "again");
    check_tokens(file, shard.tokens(), vocab_size);
  }
  return set;
}

void remove_shards(const fs::path& folder, const std::vector<std::string>& kept) {
  static const std::regex name("(train|validation)(-[0-9]+)?\\.tokens(\\.tmp-[0-9]+)?");
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code no_file;
    const std::string file = entry.path().filename().string();
    if (entry.is_regular_file(no_file) && std::regex_match(file, name) &&
        std::find(kept.begin(), kept.end(), file) == kept.end()) {
      found.push_back(entry.path());
    }
  }
  for (const fs::path& file : found) fs::remove(file);
}

}  // namespace cladtorch::data
