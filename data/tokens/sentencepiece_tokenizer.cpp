#include "cladtorch/data/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/tokens/base64.h"
#include "data/tokens/bpe/added_tokens.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/model.h"
#include "data/tokens/sentencepiece_model.h"
#include "data/tokens/tokenizer_settings.h"

namespace cladtorch::data {
namespace {

using bpe::Json;
using bpe::space_mark;

/// A character of the private use area, which no vocabulary joins with another one.
constexpr std::string_view separate = "\ue000";

constexpr float added_score = -1000;

std::string with_spaces(std::string piece) {
  for (size_t at = 0; (at = piece.find(space_mark, at)) != std::string::npos; ++at) {
    piece.replace(at, space_mark.size(), " ");
  }
  return piece;
}

SentencePiece::Kind kind_of(const sentencepiece::SentencePieceProcessor& processor, int id) {
  using Kind = SentencePiece::Kind;
  if (processor.IsByte(id)) return Kind::byte;
  if (processor.IsUnused(id)) return Kind::unused;
  if (processor.IsControl(id)) return Kind::control;
  return processor.IsUnknown(id) ? Kind::unknown : Kind::normal;
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
  Json settings = Json::object();  // the keys of to_json() beside the model
  sentencepiece::SentencePieceProcessor processor;
  std::vector<std::string> bytes;
  bpe::AddedTokens added;
  std::vector<bool> special_added;  // by number
  SpecialTokens special;
  bool adds_space = false;  // before a text
  bool separates_words = true;
  std::vector<int> separate_ids;  // of a text that is `separate` alone; empty where it would not stay alone

  Parts(std::string model, const TokenizerSettings& from) : file(std::move(model)) {
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
    find_separate();
    add_tokens(from);
    set_special(from);
  }

  void find_separate() {
    if (!adds_space) return;
    const std::vector<int> alone = encode(separate), followed = encode(std::string(separate) + "a");
    if (followed.size() > alone.size() && std::equal(alone.begin(), alone.end(), followed.begin()))
      separate_ids = alone;
  }

  int piece_number(const std::string& name) const {
    const int id = processor.PieceToId(name);
    return id >= 0 && id < processor.GetPieceSize() && processor.IdToPiece(id) == name ? id : -1;
  }

  void add_tokens(const TokenizerSettings& from) {
    Json list = Json::array();
    const auto pieces = static_cast<int64_t>(bytes.size());
    add_missing(list, from, pieces, [&](const std::string& name) { return piece_number(name); });
    std::sort(list.begin(), list.end(), [](const Json& a, const Json& b) { return a["id"] < b["id"]; });
    for (Json& token : list) token["normalized"] = false;
    added = bpe::AddedTokens(list, {});
    for (const bpe::AddedToken& token : added.all()) {
      const auto number = static_cast<size_t>(token.number);
      require(number <= 2 * (bytes.size() + added.all().size()) + 1024, "tokenizer: the added token ",
              in_quotes(token.content), " has the number ", number, ", far beyond the vocabulary of ",
              pieces);
      require(number >= static_cast<size_t>(pieces) || processor.IdToPiece(token.number) == token.content,
              "tokenizer: the added token ", in_quotes(token.content), " has the number ", number,
              " of another piece of the model");
      if (number >= bytes.size()) bytes.resize(number + 1);
      bytes[number] = token.content;
    }
    special_added.resize(bytes.size());
    for (const bpe::AddedToken& token : added.all()) {
      special_added[static_cast<size_t>(token.number)] = token.special;
    }
    if (!added.empty()) settings["added_tokens"] = added.to_json();
  }

  void set_special(const TokenizerSettings& from) {
    if (processor.bos_id() >= 0) special.begin_of_text = processor.bos_id();
    if (processor.eos_id() >= 0) special.end_of_text = processor.eos_id();
    if (processor.pad_id() >= 0) special.padding = processor.pad_id();
    set_role("bos_token", from.names.begin, special.begin_of_text);
    set_role("eos_token", from.names.end, special.end_of_text);
    set_role("pad_token", from.names.padding, special.padding);
    if (from.add_begin) settings["add_bos_token"] = *from.add_begin;
    if (from.add_end) settings["add_eos_token"] = *from.add_end;
    if (special.begin_of_text && from.add_begin.value_or(true))
      special.before.push_back(*special.begin_of_text);
    if (special.end_of_text && from.add_end.value_or(false)) special.after.push_back(*special.end_of_text);
  }

  void set_role(const char* role, const std::string& name, std::optional<int32_t>& number) {
    if (name.empty()) return;
    settings[role] = name;
    const auto known = std::find_if(added.all().begin(), added.all().end(),
                                    [&](const bpe::AddedToken& token) { return token.content == name; });
    number = known != added.all().end() ? known->number : piece_number(name);
    require(*number >= 0, "tokenizer: the vocabulary lacks the special token ", in_quotes(name));
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

  /// Without the space that the model puts before a text.
  std::vector<int> encode_inside(std::string_view text) const {
    if (separate_ids.empty()) return encode(text);
    std::vector<int> ids = encode(std::string(separate) + std::string(text));
    ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(std::min(separate_ids.size(), ids.size())));
    return ids;
  }

  /// A part without added tokens.
  void append(std::string_view text, bpe::Place place, std::vector<int32_t>& tokens) const {
    // Word by word, where that gives the same: unigram models add scores in float, so that in one long text
    // two ways to write a word could be told apart by rounding alone.
    for (size_t end; !text.empty(); text.remove_prefix(end), place = bpe::Place::continuation) {
      end = cuts_words() ? next_cut(text) : text.size();
      std::string_view part = text.substr(0, end);
      // The space that the model puts before every text stands for the one at which the text was cut.
      if (place == bpe::Place::continuation && part.starts_with(' ')) part.remove_prefix(1);
      const std::vector<int> ids = place == bpe::Place::part ? encode_inside(part) : encode(part);
      tokens.insert(tokens.end(), ids.begin(), ids.end());
    }
  }
};

SentencePieceTokenizer::SentencePieceTokenizer(std::string model)
    : SentencePieceTokenizer(std::move(model), TokenizerSettings{}) {}
SentencePieceTokenizer::SentencePieceTokenizer(std::string model, const TokenizerSettings& settings)
    : parts_(std::make_unique<const Parts>(std::move(model), settings)) {}
SentencePieceTokenizer::~SentencePieceTokenizer() = default;

int64_t SentencePieceTokenizer::vocab_size() const { return static_cast<int64_t>(parts_->bytes.size()); }

void SentencePieceTokenizer::append_tokens(std::string_view text, std::vector<int32_t>& tokens,
                                           bool begins) const {
  const bpe::Place first = begins ? bpe::Place::text : bpe::Place::continuation;
  parts_->added.split(
      text, false,
      [&](std::string_view part, size_t begin) {
        parts_->append(part, begin == 0 ? first : bpe::Place::part, tokens);
      },
      [&](int32_t token) { tokens.push_back(token); });
}

size_t SentencePieceTokenizer::whole_length(std::string_view text) const {
  if (!parts_->cuts_words()) return 0;
  for (size_t at = text.size(); at-- > 1;) {
    if (may_cut(text, at) && parts_->added.may_cut(text, at) && parts_->added.may_cut(text, at + 1))
      return at;
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
  if (token < 0 || token >= vocab_size()) return false;
  if (parts_->special_added[static_cast<size_t>(token)]) return true;
  return token < parts_->processor.GetPieceSize() &&
         (parts_->processor.IsControl(token) || parts_->processor.IsUnknown(token));
}

std::vector<SentencePiece> SentencePieceTokenizer::pieces() const {
  using Kind = SentencePiece::Kind;
  std::vector<SentencePiece> pieces(parts_->bytes.size(), {.kind = Kind::unused});
  for (int id = 0; id < parts_->processor.GetPieceSize(); ++id) {
    pieces[static_cast<size_t>(id)] = {parts_->processor.IdToPiece(id), parts_->processor.GetScore(id),
                                       kind_of(parts_->processor, id)};
  }
  for (const bpe::AddedToken& token : parts_->added.all()) {
    SentencePiece& piece = pieces[static_cast<size_t>(token.number)];
    if (piece.kind == Kind::control || piece.kind == Kind::unknown) continue;
    piece = {token.content, added_score, token.special ? Kind::control : Kind::user_defined};
  }
  return pieces;
}

bool SentencePieceTokenizer::joins_pairs() const { return data::joins_pairs(parts_->file); }
bool SentencePieceTokenizer::adds_space() const { return parts_->adds_space; }

std::optional<int32_t> SentencePieceTokenizer::unknown() const {
  const int id = parts_->processor.unk_id();
  return id >= 0 ? std::optional<int32_t>(id) : std::nullopt;
}

Json SentencePieceTokenizer::to_json() const {
  Json json = parts_->settings;
  json.update({{"format", "cladtorch-tokenizer"},
               {"version", 1},
               {"kind", kind()},
               {"model", to_base64(parts_->file)}});
  return json;
}

std::shared_ptr<const SentencePieceTokenizer> SentencePieceTokenizer::from_json(const Json& json) {
  const Json model = json.value("model", Json());
  const auto file = model.is_string() ? from_base64(model.get_ref<const std::string&>()) : std::nullopt;
  require(file.has_value(), "tokenizer: 'model' must be a SentencePiece model in base64");
  return std::make_shared<SentencePieceTokenizer>(*file, settings_of_json(json));
}

std::map<std::string, std::string> SentencePieceTokenizer::files() const {
  std::map<std::string, std::string> files = {{"tokenizer.model", parts_->file}};
  if (!parts_->settings.empty()) {
    Json config = parts_->settings;
    config["tokenizer_class"] = "LlamaTokenizer";
    for (Json& token : config["added_tokens"]) {
      const auto number = token["id"].get<int32_t>();
      token.erase("id");
      config["added_tokens_decoder"][std::to_string(number)] = token;
    }
    config.erase("added_tokens");
    files[settings_file] = settings_text(config);
  }
  return files;
}

}  // namespace cladtorch::data
