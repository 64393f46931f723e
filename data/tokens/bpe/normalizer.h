// What a tokenizer changes in a text before it cuts it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/tokens/bpe/pre_tokenizer.h"

namespace cladtorch::data::bpe {

/// The "normalizer" of a tokenizer.json: NFC, NFD, NFKC, NFKD, Prepend, Replace, or a Sequence of them.
class Normalizer {
 public:
  Normalizer() = default;
  /// `json` may be null: nothing is changed. Throws Error naming what is not supported.
  explicit Normalizer(const nlohmann::json& json);

  bool empty() const { return steps_.empty(); }
  /// Bytes that are not UTF-8 stay as they are.
  std::string apply(std::string text, Place place) const;

  /// Whether a text can be cut before a space that follows another character: what is done to one side does
  /// not depend on the other.
  bool local() const { return local_; }

 private:
  void add(const nlohmann::json& json, int depth);

  std::vector<std::function<std::string(std::string, Place)>> steps_;
  bool local_ = true;
};

}  // namespace cladtorch::data::bpe
