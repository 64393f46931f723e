// The characters that stand for bytes in byte-level vocabularies: every byte becomes a printable character,
// itself where it is one (as GPT-2's encoder does).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace cladtorch::data::bpe {

/// The character that stands for each byte.
const std::array<char32_t, 256>& byte_alphabet();

/// `bytes` in characters of the alphabet, as UTF-8.
std::string to_alphabet(std::string_view bytes);

/// The bytes that `characters` stand for; none when one is not of the alphabet.
std::optional<std::string> from_alphabet(std::string_view characters);

}  // namespace cladtorch::data::bpe
