#include "data/tokens/bpe/word_count.h"

#include <deque>
#include <future>
#include <string_view>
#include <utility>

#include "data/tokens/bpe/added_tokens.h"

namespace cladtorch::data::bpe {
namespace {

/// What one thread counts at a time.
constexpr size_t chunk_bytes = size_t{4} << 20;
/// A chunk without a place to cut it is cut anywhere at this size.
constexpr size_t most_chunk_bytes = 4 * chunk_bytes;

/// Forgets the rarest words until half of `most` are left.
void forget_rare_words(WordCounts& counts, size_t most) {
  for (uint64_t rare = 1; counts.size() > most / 2; rare *= 2) {
    std::erase_if(counts, [&](const auto& word) { return word.second <= rare; });
  }
}

class Counter {
 public:
  Counter(const Scanner& scanner, const BpeTrainingOptions& options) : scanner_(scanner), options_(options) {
    for (const std::string& token : options.special_tokens) special_.add(token, 0);
  }

  /// Takes the next part of the text.
  void add(std::string_view text) {
    pending_ += text;
    while (pending_.size() >= next_look_) {
      size_t end = scanner_.last_boundary(std::string_view(pending_).substr(0, chunk_bytes));
      if (end == 0) end = scanner_.last_boundary(pending_);
      if (end == 0 && pending_.size() >= most_chunk_bytes) end = pending_.size();
      if (end == 0) {
        next_look_ = pending_.size() + chunk_bytes;
        return;
      }
      next_look_ = chunk_bytes;
      start(pending_.substr(0, end));
      pending_.erase(0, end);
    }
  }

  WordCounts finish() {
    if (!pending_.empty()) start(std::move(pending_));
    while (!running_.empty()) collect();
    return std::move(all_);
  }

 private:
  void start(std::string chunk) {
    if (running_.size() >= static_cast<size_t>(options_.threads)) collect();
    running_.push_back(
        std::async(std::launch::async, [this, text = std::move(chunk)] { return count(text); }));
  }

  /// In the order of the text, so that what is forgotten does not depend on which thread was faster.
  void collect() {
    WordCounts counts = running_.front().get();
    running_.pop_front();
    if (all_.empty()) {
      all_ = std::move(counts);
    } else {
      for (const auto& [word, number] : counts) all_[word] += number;
    }
    if (all_.size() > options_.most_words) forget_rare_words(all_, options_.most_words);
  }

  WordCounts count(std::string_view text) const {
    std::unordered_map<std::string_view, uint64_t> counts;
    const auto add_words = [&](std::string_view part) {
      while (!part.empty()) {
        const size_t length = scanner_.first_piece(part);
        ++counts[part.substr(0, length)];
        part.remove_prefix(length);
      }
    };
    size_t done = 0;
    for (size_t at = special_.next_start(text, 0); at < text.size(); at = special_.next_start(text, at)) {
      const size_t bytes = special_.longest(text.substr(at)).bytes;
      if (bytes > 0) {
        add_words(text.substr(done, at - done));
        done = at + bytes;
      }
      at += std::max<size_t>(bytes, 1);
    }
    add_words(text.substr(done));
    WordCounts words;
    for (const auto& [word, count] : counts) words.emplace(word, count);
    return words;
  }

  Scanner scanner_;
  const BpeTrainingOptions& options_;
  StringTrie special_;
  std::string pending_;
  size_t next_look_ = chunk_bytes;
  std::deque<std::future<WordCounts>> running_;
  WordCounts all_;
};

}  // namespace

WordCounts count_words(const TextFiles& text, const Scanner& scanner, const BpeTrainingOptions& options) {
  uint64_t total = 0, done = 0;
  std::error_code ignored;
  for (const auto& path : text.paths()) total += std::filesystem::file_size(path, ignored);
  Counter counter(scanner, options);
  text.read(false, [&](std::string_view piece) {
    counter.add(piece);
    done += piece.size();
    if (options.progress && total > 0) {
      options.progress("counting words",
                       std::min(1.0, static_cast<double>(done) / static_cast<double>(total)));
    }
  });
  return counter.finish();
}

}  // namespace cladtorch::data::bpe
