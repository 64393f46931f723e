// Which tokenizer a text gets.
#pragma once

#include <string>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

/// "char" or "byte", made from the text, or a tokenizer that exists already, named by its path.
class Vocabulary {
 public:
  static const Vocabulary characters, bytes;

  /// `name`: char, byte, or a path that load_tokenizer takes. Throws Error when it is none of them.
  explicit Vocabulary(std::string name);

  const std::string& name() const { return name_; }
  /// Whether the name is a path.
  bool is_file() const { return is_file_; }

  /// The tokenizer, where no text is needed to make it: Error for char.
  TokenizerPtr tokenizer() const;

 private:
  std::string name_;
  bool is_file_ = false;
};

inline const Vocabulary Vocabulary::characters{"char"};
inline const Vocabulary Vocabulary::bytes{"byte"};

}  // namespace cladtorch::data
