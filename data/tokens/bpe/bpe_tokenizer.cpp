#include "cladtorch/data/bpe_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cladtorch/quote.h"
#include "data/tokens/bpe/added_tokens.h"
#include "data/tokens/bpe/decoder.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/gpt2_files.h"
#include "data/tokens/bpe/model.h"
#include "data/tokens/bpe/normalizer.h"
#include "data/tokens/bpe/post_processor.h"
#include "data/tokens/bpe/pre_tokenizer.h"
#include "data/tokens/tokenizer_settings.h"

namespace cladtorch::data {

using bpe::Json;
using bpe::Place;

namespace {

/// Places to cut that are tried before the text is taken for one that has none.
constexpr int most_tries = 64;

const Json& part_of(const Json& json, const char* key) {
  static const Json none;
  const auto found = json.find(key);
  return found == json.end() ? none : *found;
}

}  // namespace

struct BpeTokenizer::Parts {
  Json normalizer_json, pre_tokenizer_json, post_processor_json, decoder_json;
  bpe::Normalizer normalizer;
  bpe::PreTokenizer pre_tokenizer;
  bpe::Decoder decoder;
  bpe::Model model;
  bpe::AddedTokens added;
  SpecialTokens special;
  std::vector<std::string> bytes;  // of every token
  std::vector<bool> is_special;

  Parts(const Json& json, const SpecialNames& names)
      : normalizer_json(part_of(json, "normalizer")),
        pre_tokenizer_json(part_of(json, "pre_tokenizer")),
        post_processor_json(part_of(json, "post_processor")),
        decoder_json(part_of(json, "decoder")),
        normalizer(normalizer_json),
        pre_tokenizer(pre_tokenizer_json),
        decoder(decoder_json, pre_tokenizer.byte_level()),
        model(part_of(json, "model"), pre_tokenizer.byte_level()),
        added(part_of(json, "added_tokens"), normalizer) {
    list_tokens();
    special = bpe::read_post_processor(post_processor_json, static_cast<int64_t>(bytes.size()));
    if (!special.before.empty()) special.begin_of_text = special.before.front();
    special.end_of_text = bpe::end_of_text(added.all());
    if (!names.begin.empty()) special.begin_of_text = number_of(names.begin);
    if (!names.end.empty()) special.end_of_text = number_of(names.end);
    if (!names.padding.empty()) special.padding = number_of(names.padding);
  }

  std::optional<int32_t> find(std::string_view name) const {
    for (const bpe::AddedToken& token : added.all()) {
      if (token.content == name) return token.number;
    }
    const int32_t number = model.find(name);
    return number < 0 ? std::nullopt : std::optional(number);
  }

  int32_t number_of(const std::string& name) const {
    const std::optional<int32_t> number = find(name);
    require(number.has_value(), "tokenizer: the vocabulary lacks the special token ", in_quotes(name));
    return *number;
  }

  void list_tokens() {
    int64_t size = model.size();
    for (const bpe::AddedToken& token : added.all()) {
      const int32_t known = model.find(token.content);
      require(known < 0 || known == token.number, "tokenizer: the added token ", in_quotes(token.content),
              " has the number ", token.number, ", but the vocabulary has it as ", known);
      size = std::max<int64_t>(size, int64_t{token.number} + 1);
    }
    require(size <= 2 * (model.size() + static_cast<int64_t>(added.all().size())) + 1024,
            "tokenizer: an added token has the number ", size - 1, ", far beyond the vocabulary of ",
            model.size());
    bytes.resize(static_cast<size_t>(size));
    is_special.resize(bytes.size());
    for (int64_t i = 0; i < model.size(); ++i)
      bytes[static_cast<size_t>(i)] = decoder.bytes_of(model.name(i));
    for (const bpe::AddedToken& token : added.all()) {
      const auto place = static_cast<size_t>(token.number);
      require(token.number >= model.size() || model.name(token.number).empty() ||
                  model.name(token.number) == token.content,
              "tokenizer: the added token ", in_quotes(token.content), " has the number ", token.number,
              " of ", in_quotes(token.number < model.size() ? model.name(token.number) : ""));
      bytes[place] = token.content;
      is_special[place] = token.special;
    }
  }

  /// A part of the text without added tokens of the raw text.
  void append_part(std::string_view part, Place place, std::vector<int32_t>& tokens) const {
    if (normalizer.empty() && !added.any_normalized()) return append_words(part, place, tokens);
    const std::string normal = normalizer.apply(std::string(part), place);
    added.split(
        normal, true,
        [&](std::string_view piece, size_t begin) {
          append_words(piece, begin == 0 ? place : Place::part, tokens);
        },
        [&](int32_t token) { tokens.push_back(token); });
  }

  void append_words(std::string_view text, Place place, std::vector<int32_t>& tokens) const {
    pre_tokenizer.split(text, place, [&](std::string_view piece) { model.encode(piece, tokens); });
  }

  /// The last place where the words before it are certain, where that depends on where their part of the text
  /// began.
  size_t last_boundary_of_part(std::string_view text) const {
    const bpe::Range part = added.last_part(text);
    const size_t length = pre_tokenizer.last_boundary(text.substr(part.begin, part.end - part.begin));
    return length > 0 && added.may_cut(text, part.begin + length) ? part.begin + length : 0;
  }

  /// The last place where the words before it are certain, leaving added tokens aside.
  size_t last_boundary(std::string_view text) const {
    if (!pre_tokenizer.keeps_whole()) return pre_tokenizer.last_boundary(text);
    if (!model.words_are_separate()) return 0;
    for (size_t at = text.size(); at-- > 1;) {
      // ASCII, so that no normalizer makes a space of it.
      if (text[at] == ' ' && text[at - 1] > ' ' && text[at - 1] < 0x7f) return at;
    }
    return 0;
  }
};

BpeTokenizer::BpeTokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
BpeTokenizer::~BpeTokenizer() = default;

std::shared_ptr<const BpeTokenizer> BpeTokenizer::from_json(const Json& json, const SpecialNames& names) {
  require(json.is_object(), "tokenizer: expected an object");
  return std::shared_ptr<const BpeTokenizer>(new BpeTokenizer(std::make_unique<const Parts>(json, names)));
}

std::shared_ptr<const BpeTokenizer> BpeTokenizer::from_vocabulary_and_merges(const Json& vocabulary,
                                                                             std::string_view merges) {
  return from_json(bpe::gpt2_tokenizer(vocabulary, merges));
}

int64_t BpeTokenizer::vocab_size() const { return static_cast<int64_t>(parts_->bytes.size()); }

void BpeTokenizer::append_tokens(std::string_view text, std::vector<int32_t>& tokens, bool begins) const {
  const Place first = begins ? Place::text : Place::continuation;
  if (parts_->added.empty()) {
    if (!text.empty()) parts_->append_part(text, first, tokens);
    return;
  }
  parts_->added.split(
      text, false,
      [&](std::string_view part, size_t begin) {
        parts_->append_part(part, begin == 0 ? first : Place::part, tokens);
      },
      [&](int32_t token) { tokens.push_back(token); });
}

size_t BpeTokenizer::whole_length(std::string_view text) const {
  const bool normalizes = !parts_->normalizer.empty();
  if (normalizes && (!parts_->normalizer.local() || parts_->added.any_normalized())) return 0;
  if (parts_->pre_tokenizer.counts_from_start()) return normalizes ? 0 : parts_->last_boundary_of_part(text);
  size_t place = text.size();
  for (int i = 0; i < most_tries; ++i) {
    place = parts_->last_boundary(text.substr(0, place));
    if (place == 0 || parts_->added.may_cut(text, place)) return place;
  }
  return 0;
}

std::string_view BpeTokenizer::token_bytes(int32_t token) const {
  require(token >= 0 && token < vocab_size(), "decode: token ", token, " is outside the vocabulary of ",
          vocab_size());
  return parts_->bytes[static_cast<size_t>(token)];
}

std::string BpeTokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text = Tokenizer::decode(tokens);
  text.erase(0, parts_->decoder.added_before(text));
  return text;
}

const SpecialTokens& BpeTokenizer::special_tokens() const { return parts_->special; }

bool BpeTokenizer::is_special(int32_t token) const {
  return token >= 0 && token < vocab_size() && parts_->is_special[static_cast<size_t>(token)];
}

Json BpeTokenizer::to_json() const {
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", parts_->added.to_json()},
          {"normalizer", parts_->normalizer_json},
          {"pre_tokenizer", parts_->pre_tokenizer_json},
          {"post_processor", parts_->post_processor_json},
          {"decoder", parts_->decoder_json},
          {"model", parts_->model.to_json()}};
}

std::map<std::string, std::string> BpeTokenizer::files() const {
  std::map<std::string, std::string> files = Tokenizer::files();
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
  const SpecialTokens& special = parts_->special;
  for (const auto& [role, token] : {std::pair{"bos_token", special.begin_of_text},
                                    {"eos_token", special.end_of_text},
                                    {"pad_token", special.padding}}) {
    if (token) config[role] = token_bytes(*token);
  }
  files[settings_file] = settings_text(config);
  return files;
}

std::optional<int32_t> BpeTokenizer::find(std::string_view name) const { return parts_->find(name); }

}  // namespace cladtorch::data
