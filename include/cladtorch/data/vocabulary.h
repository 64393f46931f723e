// Which tokenizer a text gets.
#pragma once

#include <string>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

/// "char" (made from the text), "byte", or an existing tokenizer, named by its path.
class Vocabulary {
 public:
  static const Vocabulary characters, bytes;

  /// `name` is char, byte, or a path that load_tokenizer takes. Throws Error for anything else.
  explicit Vocabulary(std::string name);

  const std::string& name() const { return name_; }
  /// Whether the name is a path.
  bool is_file() const { return is_file_; }

  /// The tokenizer, if it can be made without a text. Throws Error for char.
  TokenizerPtr tokenizer() const;

 private:
  std::string name_;
  bool is_file_ = false;
};

inline const Vocabulary Vocabulary::characters{"char"};
inline const Vocabulary Vocabulary::bytes{"byte"};

}  // namespace cladtorch::data
