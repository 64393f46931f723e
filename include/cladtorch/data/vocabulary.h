// Which tokenizer a text gets.
#pragma once

#include <string>

#include "cladtorch/data/text_files.h"
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

  /// The tokenizer of this vocabulary for the text in `files`, which is read once for char and not at all
  /// otherwise.
  TokenizerPtr tokenizer(const TextFiles& files) const;

  /// The same for a vocabulary that needs no text: Error for char.
  TokenizerPtr tokenizer() const;

 private:
  std::string name_;
  bool is_file_ = false;
};

inline const Vocabulary Vocabulary::characters{"char"};
inline const Vocabulary Vocabulary::bytes{"byte"};

}  // namespace cladtorch::data
