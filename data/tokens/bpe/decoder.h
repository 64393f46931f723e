// How the tokens of a vocabulary become bytes again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cladtorch::data::bpe {

/// The "decoder" of a tokenizer.json: ByteLevel, Metaspace, or a Sequence of Replace, ByteFallback, Fuse and
/// Strip.
class Decoder {
 public:
  /// `json` may be null. Throws Error naming what is not supported, or does not go with `byte_level`.
  Decoder(const nlohmann::json& json, bool byte_level);

  /// What the token named `name` stands for.
  std::string bytes_of(const std::string& name) const;

  /// How much of the beginning of a decoded text was put there by the encoder.
  size_t added_before(std::string_view text) const;

 private:
  void add(const nlohmann::json& json, int depth);

  bool byte_level_;
  bool bytes_by_name_ = false;  // <0x0A> is a byte
  std::vector<std::pair<std::string, std::string>> replacements_;
  std::string strip_;  // taken off the beginning, up to strip_count_ times
  size_t strip_count_ = 0;
};

}  // namespace cladtorch::data::bpe
