#include "data/tokens/bpe/post_processor.h"

#include "cladtorch/quote.h"
#include "data/tokens/bpe/fields.h"

namespace cladtorch::data::bpe {
namespace {

int32_t token_number(const Json& json, int64_t vocab_size) {
  require(json.is_number_integer() && json.get<int64_t>() >= 0 && json.get<int64_t>() < vocab_size,
          "tokenizer: the post_processor adds the token ", shown(json), ", outside the vocabulary of ",
          vocab_size);
  return json.get<int32_t>();
}

/// The numbers of a special token that a template names.
std::vector<int32_t> numbers_of(const Json& json, const std::string& name, int64_t vocab_size) {
  const auto all = json.find("special_tokens");
  require(all != json.end() && all->is_object() && all->contains(name) && (*all)[name].is_object(),
          "tokenizer: the post_processor names ", in_quotes(name), ", which its 'special_tokens' lack");
  std::vector<int32_t> numbers;
  for (const Json& number : list_field((*all)[name], "ids"))
    numbers.push_back(token_number(number, vocab_size));
  return numbers;
}

SpecialTokens read_template(const Json& json, int64_t vocab_size) {
  SpecialTokens tokens;
  bool behind = false;
  for (const Json& part : list_field(json, "single")) {
    require(part.is_object() && part.size() == 1 && part.begin()->is_object(),
            "tokenizer: a part of the post_processor's 'single' is ", shown(part));
    if (part.contains("Sequence")) {
      require(!behind, "tokenizer: the post_processor repeats the text");
      behind = true;
    } else {
      require(part.contains("SpecialToken"),
              "tokenizer: a part of the post_processor's 'single' is neither "
              "SpecialToken nor Sequence");
      const std::string name = field<std::string>(*part.begin(), "id");
      for (int32_t number : numbers_of(json, name, vocab_size)) {
        (behind ? tokens.after : tokens.before).push_back(number);
      }
    }
  }
  return tokens;
}

/// ["</s>", 2]
int32_t named_token(const Json& json, const char* key, int64_t vocab_size) {
  const Json& pair = list_field(json, key);
  require(pair.size() == 2, "tokenizer: ", in_quotes(key),
          " of the post_processor must be a token and its number");
  return token_number(pair[1], vocab_size);
}

void read(const Json& json, int64_t vocab_size, int depth, SpecialTokens& tokens) {
  check_depth(depth);
  const std::string type = type_of(json, "post_processor");
  // What a later processor adds goes around what an earlier one has added.
  const auto wrap = [&](const SpecialTokens& more) {
    tokens.before.insert(tokens.before.begin(), more.before.begin(), more.before.end());
    tokens.after.insert(tokens.after.end(), more.after.begin(), more.after.end());
  };
  if (type == "Sequence") {
    for (const Json& part : list_field(json, "processors")) read(part, vocab_size, depth + 1, tokens);
  } else if (type == "TemplateProcessing") {
    wrap(read_template(json, vocab_size));
  } else if (type == "RobertaProcessing") {
    wrap({{named_token(json, "cls", vocab_size)}, {named_token(json, "sep", vocab_size)}, {}});
  } else if (type != "ByteLevel") {
    not_supported("post_processor", type, "ByteLevel, TemplateProcessing, RobertaProcessing, Sequence");
  }
}

}  // namespace

SpecialTokens read_post_processor(const Json& json, int64_t vocab_size) {
  SpecialTokens tokens;
  if (!json.is_null()) read(json, vocab_size, 0, tokens);
  return tokens;
}

std::optional<int32_t> end_of_text(const std::vector<AddedToken>& tokens) {
  for (const char* name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"}) {
    for (const AddedToken& token : tokens) {
      if (token.special && token.content == name) return token.number;
    }
  }
  return std::nullopt;
}

}  // namespace cladtorch::data::bpe
