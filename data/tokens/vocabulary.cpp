#include "cladtorch/data/vocabulary.h"

#include "cladtorch/error.h"
#include "data/tokens/character_set.h"

namespace cladtorch::data {

Vocabulary::Vocabulary(std::string name) : name_(std::move(name)) {
  if (name_ == "char" || name_ == "byte") return;
  std::error_code error;
  require(std::filesystem::exists(name_, error),
          "vocabulary: expected char, byte, or the file or folder of a tokenizer; '", name_,
          "' does not exist");
  is_file_ = true;
}

TokenizerPtr Vocabulary::tokenizer(const TextFiles& files) const {
  if (name_ != "char") return tokenizer();
  CharacterSet characters;
  files.read(true, [&](std::string_view piece) { characters.add(piece); });
  return std::make_shared<CharTokenizer>(characters.code_points());
}

TokenizerPtr Vocabulary::tokenizer() const {
  require(name_ != "char", "vocabulary: char is made from a text, and there is none");
  if (name_ == "byte") return std::make_shared<ByteTokenizer>();
  return load_tokenizer(name_);
}

}  // namespace cladtorch::data
