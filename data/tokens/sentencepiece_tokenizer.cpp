#include "cladtorch/data/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "data/tokens/base64.h"
#include "data/tokens/bpe/model.h"
#include "data/tokens/sentencepiece_model.h"

namespace cladtorch::data {
namespace {

using bpe::space_mark;

std::string with_spaces(std::string piece) {
  for (size_t at = 0; (at = piece.find(space_mark, at)) != std::string::npos; ++at) {
    piece.replace(at, space_mark.size(), " ");
  }
  return piece;
}

/// Whether `at` is a place between two words: a space between two characters of ASCII, so that no normalizer
/// makes something else of it.
bool may_cut(std::string_view text, size_t at) {
  const auto plain = [&](size_t i) { return text[i] > ' ' && text[i] < 0x7f; };
  return text[at] == ' ' && at > 0 && plain(at - 1) && at + 1 < text.size() && plain(at + 1);
}

size_t next_cut(std::string_view text) {
  for (size_t at = text.find(' ', 1); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    if (may_cut(text, at)) return at;
  }
  return text.size();
}

}  // namespace

struct SentencePieceTokenizer::Parts {
  std::string file;
  sentencepiece::SentencePieceProcessor processor;
  std::vector<std::string> bytes;
  SpecialTokens special;
  bool adds_space = false;  // before a text
  bool separates_words = true;

  explicit Parts(std::string model) : file(std::move(model)) {
    check_sentencepiece_model(file);
    const auto status = processor.LoadFromSerializedProto(file);
    require(status.ok(), "expected a SentencePiece model: ", status.message());
    for (int i = 0; i < processor.GetPieceSize(); ++i) {
      bytes.push_back(bytes_of(i));
      const std::string& piece = processor.IdToPiece(i);
      const size_t start = piece.find_first_not_of(space_mark);
      if (start != std::string::npos && piece.find(space_mark, start) != std::string::npos) {
        separates_words = false;
      }
    }
    adds_space = !encode("a").empty() && bytes[static_cast<size_t>(encode("a").front())].starts_with(' ');
    if (processor.bos_id() >= 0) special.before.push_back(processor.bos_id());
    if (processor.eos_id() >= 0) special.end_of_text = processor.eos_id();
  }

  std::string bytes_of(int id) const {
    const std::string& piece = processor.IdToPiece(id);
    if (processor.IsByte(id) && piece.size() == 6) {  // <0x0A>
      unsigned char byte = 0;
      std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
      return {static_cast<char>(byte)};
    }
    return with_spaces(piece);
  }

  bool cuts_words() const { return adds_space && separates_words; }

  std::vector<int> encode(std::string_view text) const {
    std::vector<int> ids;
    const auto status = processor.Encode({text.data(), text.size()}, &ids);
    require(status.ok(), "encode: ", status.message());
    return ids;
  }
};

SentencePieceTokenizer::SentencePieceTokenizer(std::string model)
    : parts_(std::make_unique<const Parts>(std::move(model))) {}
SentencePieceTokenizer::~SentencePieceTokenizer() = default;

int64_t SentencePieceTokenizer::vocab_size() const { return static_cast<int64_t>(parts_->bytes.size()); }

void SentencePieceTokenizer::append_tokens(std::string_view text, std::vector<int32_t>& tokens,
                                           bool begins) const {
  // Word by word, where that gives the same: unigram models add scores in float, so that in one long text two
  // ways to write a word could be told apart by rounding alone.
  for (size_t end; !text.empty(); text.remove_prefix(end), begins = false) {
    end = parts_->cuts_words() ? next_cut(text) : text.size();
    std::string_view part = text.substr(0, end);
    // The space that the model puts before every text stands for the one at which the text was cut.
    if (!begins && part.starts_with(' ')) part.remove_prefix(1);
    const std::vector<int> ids = parts_->encode(part);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }
}

size_t SentencePieceTokenizer::whole_length(std::string_view text) const {
  if (!parts_->cuts_words()) return 0;
  for (size_t at = text.size(); at-- > 1;) {
    if (may_cut(text, at)) return at;
  }
  return 0;
}

std::string_view SentencePieceTokenizer::token_bytes(int32_t token) const {
  require(token >= 0 && token < vocab_size(), "decode: token ", token, " is outside the vocabulary of ",
          vocab_size());
  return parts_->bytes[static_cast<size_t>(token)];
}

std::string SentencePieceTokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text = Tokenizer::decode(tokens);
  if (parts_->adds_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

const SpecialTokens& SentencePieceTokenizer::special_tokens() const { return parts_->special; }

bool SentencePieceTokenizer::is_special(int32_t token) const {
  return token >= 0 && token < vocab_size() &&
         (parts_->processor.IsControl(token) || parts_->processor.IsUnknown(token));
}

nlohmann::json SentencePieceTokenizer::to_json() const {
  return {{"format", "cladtorch-tokenizer"},
          {"version", 1},
          {"kind", kind()},
          {"model", to_base64(parts_->file)}};
}

}  // namespace cladtorch::data
