#include "data/tokens/bpe/merge_learner.h"

#include <algorithm>

namespace cladtorch::data::bpe {

MergeLearner::MergeLearner(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], static_cast<int32_t>(i));
}

void MergeLearner::add_word(const std::vector<int32_t>& symbols, uint64_t count) {
  if (symbols.size() < 2) return;
  words_.push_back({symbols_.size(), static_cast<uint32_t>(symbols.size()), static_cast<int64_t>(count)});
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
}

void MergeLearner::start() {
  started_ = true;
  for (uint32_t i = 0; i < words_.size(); ++i) {
    const int32_t* symbols = symbols_.data() + words_[i].begin;
    for (uint32_t k = 0; k + 1 < words_[i].length; ++k) {
      add_use({symbols[k], symbols[k + 1]}, i, words_[i].count);
    }
  }
  for (const auto& [pair, use] : uses_) queue_.push({use.count, pair});
}

void MergeLearner::add_use(const Pair& pair, uint32_t word, int64_t count) {
  Use& use = uses_[pair];
  use.count += count;
  if (use.words.empty() || use.words.back() != word) use.words.push_back(word);
}

int32_t MergeLearner::symbol_for(const Pair& pair) {
  std::string name = names_[static_cast<size_t>(pair.left)] + names_[static_cast<size_t>(pair.right)];
  const auto [place, is_new] = numbers_.emplace(name, static_cast<int32_t>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return place->second;
}

bool MergeLearner::merge_next(int64_t min_frequency) {
  if (!started_) start();
  while (!queue_.empty()) {
    Candidate best = queue_.top();
    queue_.pop();
    const auto found = uses_.find(best.pair);
    const int64_t count = found == uses_.end() ? 0 : found->second.count;
    if (count < 1) continue;
    if (count != best.count) {  // other merges took some of its places since it was queued
      queue_.push({count, best.pair});
      continue;
    }
    if (count < min_frequency) return false;
    const int32_t merged = symbol_for(best.pair);
    merges_.push_back({best.pair.left, best.pair.right, merged});
    const std::vector<uint32_t> words = std::move(found->second.words);
    uses_.erase(found);
    grown_.clear();
    for (uint32_t word : words) merge_in_word(word, best.pair, merged);
    uses_.erase(best.pair);  // places that overlapped
    std::sort(grown_.begin(), grown_.end());
    grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
    for (const Pair& pair : grown_) {
      if (const auto use = uses_.find(pair); use != uses_.end()) queue_.push({use->second.count, pair});
    }
    return true;
  }
  return false;
}

void MergeLearner::merge_in_word(uint32_t number, const Pair& pair, int32_t merged) {
  Word& word = words_[number];
  int32_t* symbols = symbols_.data() + word.begin;
  const auto lose = [&](int32_t left, int32_t right) {
    const auto use = uses_.find({left, right});
    if (use != uses_.end()) use->second.count -= word.count;
  };
  const auto gain = [&](int32_t left, int32_t right) {
    add_use({left, right}, number, word.count);
    grown_.push_back({left, right});
  };
  uint32_t to = 0;
  for (uint32_t from = 0; from < word.length;) {
    if (from + 1 == word.length || symbols[from] != pair.left || symbols[from + 1] != pair.right) {
      symbols[to++] = symbols[from++];
      continue;
    }
    if (to > 0) {
      lose(symbols[to - 1], pair.left);
      gain(symbols[to - 1], merged);
    }
    if (from + 2 < word.length) {
      lose(pair.right, symbols[from + 2]);
      gain(merged, symbols[from + 2]);
    }
    symbols[to++] = merged;
    from += 2;
  }
  word.length = to;
}

}  // namespace cladtorch::data::bpe
