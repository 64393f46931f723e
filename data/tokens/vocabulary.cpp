#include "cladtorch/data/vocabulary.h"

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/quote.h"

namespace cladtorch::data {

Vocabulary::Vocabulary(std::string name) : name_(std::move(name)) {
  if (name_ == "char" || name_ == "byte") return;
  std::error_code error;
  const bool exists = std::filesystem::exists(name_, error);
  if (error) throw Error(io::describe_failure("read", name_, error.value()));
  require(exists, "vocabulary: expected char, byte, or the file or folder of a tokenizer; ", in_quotes(name_),
          " does not exist");
  is_file_ = true;
}

TokenizerPtr Vocabulary::tokenizer() const {
  require(name_ != "char", "vocabulary: char is learned from a text, but there is none");
  if (name_ == "byte") return std::make_shared<ByteTokenizer>();
  return load_tokenizer(name_);
}

}  // namespace cladtorch::data
