// A model file is a message of Protocol Buffers (sentencepiece_model.proto). Its normalization rules are a
// blob: the size of a trie in 4 bytes, the trie, and the replacements, each ending with a zero byte. The trie
// is a double array of Darts-clone: 4 bytes per unit; from a place p, the byte c leads to the unit p ^ c if
// its label is c, and on to the place of that unit's number xor its offset.
#include "data/tokens/sentencepiece_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace {

constexpr uint32_t piece_field = 1, text_field = 1, trainer_field = 2, model_type_field = 3,
                   normalizer_field = 3, denormalizer_field = 5, rules_field = 2;
constexpr uint64_t bpe_model = 2;

/// The library has room for so many rules that begin a text, one inside the other.
constexpr int most_nested_rules = 32;

/// The fields of one message; numbers of fixed size are skipped.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /// The next field that has a content or a value; nothing at the end.
  struct Field {
    uint64_t number;
    std::string_view content = {};
    uint64_t value = 0;
  };
  std::optional<Field> next() {
    while (!rest_.empty()) {
      const uint64_t tag = varint();
      switch (tag & 7) {
        case 0:
          return Field{.number = tag >> 3, .value = varint()};
        case 1:
          take(8);
          break;
        case 2:
          return Field{.number = tag >> 3, .content = take(varint())};
        case 5:
          take(4);
          break;
        default:
          damaged();
      }
    }
    return std::nullopt;
  }

 private:
  [[noreturn]] static void damaged() { fail("expected a SentencePiece model, which this is not"); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) damaged();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
};

class RuleTrie {
 public:
  RuleTrie(std::string_view units, size_t replacement_bytes)
      : units_(units.size() / sizeof(uint32_t)), nested_(units_.size(), unseen), bytes_(replacement_bytes) {
    if (!units_.empty()) std::memcpy(units_.data(), units.data(), units_.size() * sizeof(uint32_t));
  }

  /// Whether every path from the root stays inside, ends, and has few enough rules.
  bool is_sound() {
    if (units_.empty()) return false;
    const uint32_t root = offset(0);
    if (!has_room(root)) return false;
    // Depth first, with a stack of our own: a path may be as long as the trie.
    std::vector<uint32_t> path = {root};
    nested_[root] = open;
    while (!path.empty()) {
      const uint32_t place = path.back();
      const std::optional<uint32_t> child = unseen_child(place);
      if (child) {
        if (!has_room(*child)) return false;
        nested_[*child] = open;
        path.push_back(*child);
        continue;
      }
      path.pop_back();
      const int rules = rules_from(place);
      if (rules < 0 || rules > most_nested_rules) return false;
      nested_[place] = rules;
    }
    return true;
  }

 private:
  static constexpr int unseen = -2, open = -1;  // open: on the path that is being followed

  static uint32_t label(uint32_t unit) { return unit & (0x80000000u | 0xff); }
  static bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
  uint32_t offset(uint32_t number) const {
    const uint32_t unit = units_[number];
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
  }
  /// Whether all units that a byte may lead to from `place` are there.
  bool has_room(uint32_t place) const { return (place | 0xff) < units_.size(); }

  /// Calls visit(place, unit) for each continuation, until it returns false.
  template <class Visit>
  void for_each_child(uint32_t place, Visit visit) const {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t number = place ^ byte;
      if (label(units_[number]) == byte && !visit(number ^ offset(number), units_[number])) return;
    }
  }

  std::optional<uint32_t> unseen_child(uint32_t place) const {
    std::optional<uint32_t> found;
    for_each_child(place, [&](uint32_t child, uint32_t) {
      if (!has_room(child) || nested_[child] == unseen) found = child;
      return !found;
    });
    return found;
  }

  /// The most rules on a path that goes on from `place`; -1 where it comes back to itself, or a rule has no
  /// replacement. All continuations have been followed.
  int rules_from(uint32_t place) const {
    int most = 0;
    for_each_child(place, [&](uint32_t child, uint32_t unit) {
      const bool sound = nested_[child] >= 0 && (!has_leaf(unit) || (units_[child] & 0x7fffffffu) < bytes_);
      most = sound ? std::max(most, nested_[child] + (has_leaf(unit) ? 1 : 0)) : -1;
      return sound;
    });
    return most;
  }

  std::vector<uint32_t> units_;
  std::vector<int> nested_;  // by place: the most rules behind it, or unseen, or open
  size_t bytes_;
};

bool are_sound_rules(std::string_view blob) {
  uint32_t trie_bytes = 0;
  if (blob.size() < sizeof trie_bytes) return false;
  std::memcpy(&trie_bytes, blob.data(), sizeof trie_bytes);
  blob.remove_prefix(sizeof trie_bytes);
  if (trie_bytes >= blob.size() || blob.back() != '\0') return false;
  return RuleTrie(blob.substr(0, trie_bytes), blob.size() - trie_bytes).is_sound();
}

}  // namespace

void check_sentencepiece_model(std::string_view model) {
  for (FieldReader fields(model); const auto field = fields.next();) {
    const bool piece = field->number == piece_field;
    const bool normalizer = field->number == normalizer_field || field->number == denormalizer_field;
    if (!piece && !normalizer) continue;
    for (FieldReader parts(field->content); const auto part = parts.next();) {
      const std::string_view content = part->content;
      require(!piece || part->number != text_field || content.find('\0') == std::string_view::npos,
              "expected a SentencePiece model: one of its pieces holds a zero byte");
      require(!normalizer || part->number != rules_field || content.empty() || are_sound_rules(content),
              "expected a SentencePiece model: its table of normalization rules is damaged");
    }
  }
}

bool joins_pairs(std::string_view model) {
  uint64_t type = 0;
  for (FieldReader fields(model); const auto field = fields.next();) {
    if (field->number != trainer_field) continue;
    for (FieldReader parts(field->content); const auto part = parts.next();) {
      if (part->number == model_type_field) type = part->value;
    }
  }
  return type == bpe_model;
}

}  // namespace cladtorch::data
