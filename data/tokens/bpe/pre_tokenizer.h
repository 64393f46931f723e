// Cuts a text into the pieces inside which tokens are formed.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cladtorch::data::bpe {

/// A reference to what takes pieces, valid during the call it is passed to.
class PieceSink {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, PieceSink>)
  PieceSink(const F& take)  // NOLINT(google-explicit-constructor): made at the call
      : object_(&take),
        call_([](const void* object, std::string_view piece) { (*static_cast<const F*>(object))(piece); }) {}
  void operator()(std::string_view piece) const { call_(object_, piece); }

 private:
  const void* object_;
  void (*call_)(const void*, std::string_view);
};

/// Where a piece of text stands: at the beginning of all, at the beginning of a part of its own (behind a
/// special token, or cut off by a stage), or where a part that was encoded before goes on.
enum class Place { text, part, continuation };

/// One step of a pre-tokenizer: cuts a piece into smaller ones.
class SplitStage {
 public:
  virtual ~SplitStage() = default;
  virtual void split(std::string_view piece, Place place, const PieceSink& sink) const = 0;
  /// As Tokenizer::whole_length, for this stage alone.
  virtual size_t last_boundary(std::string_view) const { return 0; }
  /// Whether that depends on where the text begins, so that nothing may be put before it or cut off.
  virtual bool counts_from_start() const { return false; }
  /// Whether it looks at single characters only, so that any boundary of a later stage is one of this too.
  virtual bool by_character() const { return false; }
  /// Whether it may put something before a piece.
  virtual bool prepends() const { return false; }
};

/// The "pre_tokenizer" of a tokenizer.json: ByteLevel, Split, Digits, Metaspace, or a Sequence of them.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  /// `json` may be null: the text is one piece. Throws Error naming what is not supported.
  explicit PreTokenizer(const nlohmann::json& json);

  /// Whether the last stage is ByteLevel: tokens are made of bytes, not of characters.
  bool byte_level() const { return byte_level_; }

  void split(std::string_view text, Place place, const PieceSink& sink) const { run(0, text, place, sink); }

  /// Whether the text stays in one piece, but for what goes before it.
  bool keeps_whole() const { return keeps_whole_; }
  size_t last_boundary(std::string_view text) const;
  /// Whether last_boundary() has to be given a part of the text from its beginning.
  bool counts_from_start() const { return !stages_.empty() && stages_[0]->counts_from_start(); }

 private:
  void add(const nlohmann::json& json, int depth);
  void run(size_t stage, std::string_view piece, Place place, const PieceSink& sink) const;

  std::vector<std::shared_ptr<const SplitStage>> stages_;
  bool byte_level_ = false;
  bool keeps_whole_ = true;
};

}  // namespace cladtorch::data::bpe
