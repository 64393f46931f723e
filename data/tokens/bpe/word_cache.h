// Tokens of short words that were encoded before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace cladtorch::data::bpe {

/// A direct-mapped table of one thread, shared by all tokenizers: most words of a text are in it after the
/// first kilobytes, and it never grows. A slot fills one cache line.
class WordCache {
 public:
  static constexpr size_t most_bytes = 24;
  static constexpr size_t most_tokens = 8;

  static WordCache& of_this_thread() {
    thread_local WordCache cache;
    return cache;
  }

  struct alignas(64) Slot {
    uint64_t words[3];
    uint32_t owner = 0;  // 0: nobody
    uint8_t bytes;
    uint8_t count;
    int32_t tokens[most_tokens];
  };

  struct Key {
    uint64_t words[3];
    uint32_t owner;
    uint8_t bytes;
    bool operator==(const Slot& slot) const {
      return slot.owner == owner && slot.bytes == bytes && slot.words[0] == words[0] &&
             slot.words[1] == words[1] && slot.words[2] == words[2];
    }
  };

  /// `word` must have 1 to most_bytes bytes; `owner` is the number of a tokenizer, not 0.
  static Key key(std::string_view word, uint32_t owner) {
    const char* p = word.data();
    const size_t n = word.size();
    Key key{{0, 0, 0}, owner, static_cast<uint8_t>(n)};
    // Loads that overlap: with the length they determine every byte.
    if (n >= 8) {
      key.words[0] = load<uint64_t>(p);
      key.words[1] = load<uint64_t>(p + n - 8);
      if (n > 16) key.words[2] = load<uint64_t>(p + 8);
    } else if (n >= 4) {
      key.words[0] = load<uint32_t>(p) | uint64_t{load<uint32_t>(p + n - 4)} << 32;
    } else {
      const auto byte = [&](size_t i) { return static_cast<uint8_t>(p[i]); };
      key.words[0] = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
    }
    return key;
  }

  Slot& slot(const Key& key) {
    uint64_t hash = (key.words[0] ^ key.bytes) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 32) ^ key.words[1]) * 0xd6e8feb86659fd93u;
    hash = (hash ^ (hash >> 32) ^ key.words[2] ^ key.owner) * 0x9e3779b97f4a7c15u;
    return slots_[hash >> (64 - bits)];
  }

  static void store(Slot& slot, const Key& key, const int32_t* tokens, size_t count) {
    std::copy(key.words, key.words + 3, slot.words);
    slot.owner = key.owner;
    slot.bytes = key.bytes;
    slot.count = static_cast<uint8_t>(count);
    std::copy(tokens, tokens + count, slot.tokens);
  }

 private:
  static constexpr int bits = 15;

  template <class T>
  static T load(const char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(size_t{1} << bits);
};

}  // namespace cladtorch::data::bpe
