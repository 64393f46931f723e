#include "data/tokens/bpe/pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cladtorch/quote.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/regex.h"
#include "data/tokens/bpe/scanner.h"
#include "data/tokens/bpe/unicode.h"

namespace cladtorch::data::bpe {
namespace {

class ScannerStage final : public SplitStage {
 public:
  explicit ScannerStage(Scanner scanner) : scanner_(scanner) {}
  void split(std::string_view piece, Place, const PieceSink& sink) const override {
    while (!piece.empty()) {
      const size_t length = scanner_.first_piece(piece);
      sink(piece.substr(0, length));
      piece.remove_prefix(length);
    }
  }
  size_t last_boundary(std::string_view text) const override { return scanner_.last_boundary(text); }

 private:
  Scanner scanner_;
};

/// What becomes of the matches of a Split.
enum class Behavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

/// Cuts a text at its matches, which come from the left, and joins matches to what stands before them, to
/// what stands behind them, or to each other.
class Pieces {
 public:
  Pieces(std::string_view text, Behavior behavior, bool invert, const PieceSink& sink)
      : text_(text), behavior_(behavior), invert_(invert), sink_(sink) {}

  void add_match(Range match) {
    if (match.begin > at_) add({at_, match.begin}, invert_);
    add(match, !invert_);
    at_ = match.end;
  }
  void finish() {
    if (at_ < text_.size()) add({at_, text_.size()}, invert_);
    give();
  }

 private:
  void add(Range part, bool match) {
    const bool follows = std::exchange(last_matches_, match);
    if (behavior_ == Behavior::removed && match) return;
    if (joins(match, follows) && pending_.end > pending_.begin) {
      pending_.end = part.end;
      return;
    }
    give();
    pending_ = part;
  }
  bool joins(bool match, bool follows) const {
    switch (behavior_) {
      case Behavior::isolated:
      case Behavior::removed:
        return false;
      case Behavior::contiguous:
        return match == follows;
      case Behavior::merged_with_previous:
        return match && !follows;
      case Behavior::merged_with_next:
        return follows && !match;
    }
    return false;
  }
  void give() {
    if (pending_.end > pending_.begin) sink_(text_.substr(pending_.begin, pending_.end - pending_.begin));
    pending_ = {};
  }

  std::string_view text_;
  Behavior behavior_;
  bool invert_;
  const PieceSink& sink_;
  size_t at_ = 0;
  Range pending_;  // may grow
  bool last_matches_ = false;
};

Behavior behavior_from(const std::string& name) {
  if (name == "Isolated") return Behavior::isolated;
  if (name == "Removed") return Behavior::removed;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  not_supported("behavior of Split", name,
                "Isolated, Removed, MergedWithPrevious, MergedWithNext, Contiguous");
}

class PatternStage final : public SplitStage {
 public:
  PatternStage(const PatternText& pattern, Behavior behavior, bool invert)
      : behavior_(behavior), invert_(invert) {
    if (pattern.regex) {
      regex_ = std::make_unique<Regex>(pattern.text);
    } else {
      require(!pattern.text.empty(), "tokenizer: the pattern of a Split is empty");
      text_ = pattern.text;
    }
  }
  void split(std::string_view text, Place, const PieceSink& sink) const override {
    Pieces pieces(text, behavior_, invert_, sink);
    if (regex_) {
      regex_->for_each_match(text, [&](Range match) { pieces.add_match(match); });
    } else {
      for_each_occurrence(text, [&](Range match) { pieces.add_match(match); });
    }
    pieces.finish();
  }

  bool counts_from_start() const override { return true; }
  size_t last_boundary(std::string_view text) const override {
    // With the others the end of a match is no boundary, or only where it is known what follows.
    const bool ends_pieces = behavior_ == Behavior::isolated || behavior_ == Behavior::removed ||
                             (behavior_ == Behavior::merged_with_previous && !invert_);
    if (!ends_pieces) return 0;
    if (regex_) return regex_->last_boundary(text);
    size_t end = 0;
    for_each_occurrence(text, [&](Range match) { end = match.end; });
    return end;
  }

 private:
  template <class Visit>
  void for_each_occurrence(std::string_view text, Visit visit) const {
    for (size_t at = 0; (at = text.find(text_, at)) != std::string_view::npos; at += text_.size())
      visit(Range{at, at + text_.size()});
  }

  std::unique_ptr<Regex> regex_;
  std::string text_;
  Behavior behavior_;
  bool invert_;
};

/// Numbers apart from the rest, each by itself or together.
class DigitsStage final : public SplitStage {
 public:
  explicit DigitsStage(bool individual) : individual_(individual) {}
  void split(std::string_view piece, Place, const PieceSink& sink) const override {
    const uint8_t* kinds = kind_table();
    const uint8_t *begin = bytes_of(piece), *end = begin + piece.size(), *start = begin;
    bool in_number = false;
    for (const uint8_t* at = begin; at != end;) {
      const Character c = character_at(at, end, kinds);
      const bool digit = c.kind == number;
      if (at != start && (digit != in_number || (digit && individual_))) {
        sink(piece.substr(static_cast<size_t>(start - begin), static_cast<size_t>(at - start)));
        start = at;
      }
      in_number = digit;
      at += c.bytes;
    }
    if (start != end) sink(piece.substr(static_cast<size_t>(start - begin)));
  }
  bool by_character() const override { return individual_; }

 private:
  bool individual_;
};

/// A space before the piece, unless one is there; the pieces then become bytes.
class PrefixSpaceStage final : public SplitStage {
 public:
  void split(std::string_view piece, Place place, const PieceSink& sink) const override {
    if (place == Place::continuation || piece.starts_with(' ')) return sink(piece);
    sink(" " + std::string(piece));
  }
  bool by_character() const override { return true; }
  bool prepends() const override { return true; }
};

/// Spaces become a visible character, and words begin with it.
class MetaspaceStage final : public SplitStage {
 public:
  enum class Prepend { never, first, always };
  MetaspaceStage(std::string mark, Prepend prepend, bool split)
      : mark_(std::move(mark)), prepend_(prepend), split_(split) {}

  void split(std::string_view piece, Place place, const PieceSink& sink) const override {
    std::string text;
    for (char c : piece) {
      if (c == ' ') {
        text += mark_;
      } else {
        text += c;
      }
    }
    const bool first = prepend_ == Prepend::first && place == Place::text;
    const bool always = prepend_ == Prepend::always && place != Place::continuation;
    if ((first || always) && !text.starts_with(mark_)) text.insert(0, mark_);
    if (!split_) return sink(text);
    size_t start = 0;
    for (size_t at = text.find(mark_, 1); at != std::string::npos; at = text.find(mark_, at + 1)) {
      sink(std::string_view(text).substr(start, at - start));
      start = at;
    }
    sink(std::string_view(text).substr(start));
  }
  size_t last_boundary(std::string_view text) const override {
    const size_t space = split_ ? text.rfind(' ') : 0;
    return space == std::string_view::npos ? 0 : space;
  }
  bool prepends() const override { return true; }

 private:
  std::string mark_;
  Prepend prepend_;
  bool split_;
};

MetaspaceStage::Prepend prepend_from(const Json& json) {
  using Prepend = MetaspaceStage::Prepend;
  const bool old = field_or(json, "add_prefix_space", true);
  const std::string name = field_or<std::string>(json, "prepend_scheme", old ? "always" : "never");
  if (name == "always") return Prepend::always;
  if (name == "first") return Prepend::first;
  if (name == "never") return Prepend::never;
  not_supported("prepend_scheme of Metaspace", name, "always, first, never");
}

}  // namespace

PreTokenizer::PreTokenizer(const Json& json) {
  if (!json.is_null()) add(json, 0);
}

void PreTokenizer::add(const Json& json, int depth) {
  check_depth(depth);
  const std::string type = type_of(json, "pre_tokenizer");
  require(!byte_level_, "tokenizer: the pre_tokenizer ", in_quotes(type),
          " stands behind ByteLevel, which is only supported as the last one");
  if (type == "Sequence") {
    for (const Json& part : list_field(json, "pretokenizers")) add(part, depth + 1);
    return;
  }
  if (type == "ByteLevel") {
    if (field_or(json, "add_prefix_space", true)) stages_.push_back(std::make_shared<PrefixSpaceStage>());
    if (field_or(json, "use_regex", true)) stages_.push_back(std::make_shared<ScannerStage>(Scanner{}));
    byte_level_ = true;
  } else if (type == "Split") {
    const PatternText pattern = pattern_field(json);
    const Behavior behavior = behavior_from(field<std::string>(json, "behavior"));
    const bool invert = field_or(json, "invert", false);
    // The known patterns match every character, so removing what does not match removes nothing.
    const bool all_matches = invert ? behavior == Behavior::removed : behavior == Behavior::isolated;
    const std::optional<Scanner> scanner = pattern.regex ? scanner_for(pattern.text) : std::nullopt;
    if (scanner && all_matches) {
      stages_.push_back(std::make_shared<ScannerStage>(*scanner));
    } else {
      stages_.push_back(std::make_shared<PatternStage>(pattern, behavior, invert));
    }
  } else if (type == "Digits") {
    stages_.push_back(std::make_shared<DigitsStage>(field_or(json, "individual_digits", false)));
  } else if (type == "Metaspace") {
    const std::string mark = field_or<std::string>(json, "replacement", "\u2581");
    require(!mark.empty(), "tokenizer: the replacement of Metaspace is empty");
    const bool split = field_or(json, "split", true);
    stages_.push_back(std::make_shared<MetaspaceStage>(mark, prepend_from(json), split));
    if (!split) return;
  } else {
    not_supported("pre_tokenizer", type, "ByteLevel, Split, Digits, Metaspace, Sequence");
  }
  keeps_whole_ = false;
}

void PreTokenizer::run(size_t stage, std::string_view piece, Place place, const PieceSink& sink) const {
  if (piece.empty()) return;
  if (stage == stages_.size()) return sink(piece);
  if (stage + 1 == stages_.size()) return stages_[stage]->split(piece, place, sink);
  Place next = place;
  stages_[stage]->split(piece, place, [&](std::string_view part) {
    run(stage + 1, part, next, sink);
    next = Place::part;
  });
}

size_t PreTokenizer::last_boundary(std::string_view text) const {
  for (size_t i = 1; i < stages_.size(); ++i) {
    if (stages_[i]->prepends()) return 0;  // it would have to know whether a cut was there before
  }
  for (const auto& stage : stages_) {
    if (stage->by_character()) continue;
    return stage->counts_from_start() && stage != stages_[0] ? 0 : stage->last_boundary(text);
  }
  return 0;
}

}  // namespace cladtorch::data::bpe
