// Tokenizers in folders of transformers: what the files beside a vocabulary change. folders.py writes what
// transformers makes of each folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/token_stream.h"
#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"
#include "tests/tokenizers/vectors.h"

namespace cladtorch::data {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using io::TemporaryFolder;
using nlohmann::json;
using testing::ElementsAreArray;
using testing::HasSubstr;

json all_cases() { return json::parse(io::read_file(vectors_folder() / "folders.json")); }

/// The folder of a case.
void write_case(const json& entry, const TemporaryFolder& folder) {
  const fs::path vocabulary = vectors_folder() / entry["vocabulary"].get<std::string>();
  if (entry["kind"] == "model") {
    fs::copy_file(vocabulary / "tokenizer.model", folder / "tokenizer.model");
  } else if (entry["kind"] == "json") {
    fs::copy_file(vocabulary / "tokenizer.json", folder / "tokenizer.json");
  } else {
    const json model = json::parse(io::read_file(vocabulary / "tokenizer.json"))["model"];
    std::string merges = "#version: 0.2\n";
    for (const json& merge : model["merges"])
      merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
    folder.write("vocab.json", model["vocab"].dump());
    folder.write("merges.txt", merges);
  }
  for (const auto& [name, content] : entry["files"].items()) folder.write(name, content.dump());
}

/// Where transformers knows no such token, a name that is common for it may still tell.
void expect_role(const std::optional<int32_t>& found, const json& expected, bool may_be_known) {
  if (!expected.is_null()) {
    EXPECT_EQ(found, std::optional(expected.get<int32_t>()));
  } else if (!may_be_known) {
    EXPECT_EQ(found, std::nullopt);
  }
}

void expect_as_transformers(const Tokenizer& tokenizer, const json& expected) {
  EXPECT_EQ(tokenizer.vocab_size(), expected["size"]);
  expect_role(tokenizer.special_tokens().begin_of_text, expected["bos"], true);
  expect_role(tokenizer.special_tokens().end_of_text, expected["eos"], true);
  expect_role(tokenizer.special_tokens().padding, expected["pad"], false);
  for (const json& text : expected["texts"]) {
    EXPECT_THAT(tokenizer.encode_whole(text[0].get<std::string>()),
                ElementsAreArray(text[1].get<std::vector<int32_t>>()))
        << text[0];
  }
}

class Folder : public testing::TestWithParam<json> {
 protected:
  Folder() { write_case(GetParam(), folder_); }
  TemporaryFolder folder_;
};

TEST_P(Folder, GivesTheTokensOfTransformers) {
  expect_as_transformers(*load_tokenizer(folder_.path()), GetParam()["expected"]);
}

TEST_P(Folder, IsTheSameWhenItsFilesAreWrittenAgain) {
  const TokenizerPtr tokenizer = load_tokenizer(folder_.path());
  const TemporaryFolder copy, single;
  for (const auto& [name, content] : tokenizer->files()) copy.write(name, content);
  const TokenizerPtr again = load_tokenizer(copy.path());
  expect_as_transformers(*again, GetParam()["expected"]);
  EXPECT_EQ(again->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(again->files(), tokenizer->files());
  tokenizer->save(single / "tokenizer.json");
  const TokenizerPtr alone = load_tokenizer(single / "tokenizer.json");
  EXPECT_EQ(alone->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(alone->encode_whole("a<|im_end|> b"), tokenizer->encode_whole("a<|im_end|> b"));
}

TEST_P(Folder, GivesTheSameTokensInPieces) {
  const TokenizerPtr tokenizer = load_tokenizer(folder_.path());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    for (const json& text : GetParam()["expected"]["texts"]) all += text[0].get<std::string>();
  }
  for (const size_t step : {1, 3, 7, 64}) {
    TokenStream stream(*tokenizer);
    std::vector<int32_t> tokens;
    for (size_t at = 0; at < all.size(); at += step) {
      const std::vector<int32_t>& more = stream.append(std::string_view(all).substr(at, step));
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
    const std::vector<int32_t>& rest = stream.finish();
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    ASSERT_EQ(tokens, tokenizer->encode(all)) << step;
  }
}

TEST_P(Folder, KeepsItsRolesInAPreparedDataset) {
  const TemporaryFolder prepared;
  const TokenizerPtr tokenizer = load_tokenizer(folder_.path());
  const std::string text(200, 'a');
  save_dataset(text_dataset(prepared.write("text", text), Vocabulary(folder_.path().string())),
               prepared / "tokens");
  const TokenizerPtr kept = shard_dataset(prepared / "tokens").tokenizer;
  EXPECT_EQ(kept->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(kept->special_tokens().end_of_text, tokenizer->special_tokens().end_of_text);
  EXPECT_EQ(kept->special_tokens().begin_of_text, tokenizer->special_tokens().begin_of_text);
  EXPECT_EQ(kept->special_tokens().padding, tokenizer->special_tokens().padding);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, Folder, testing::ValuesIn(all_cases()), [](const auto& info) {
  std::string name = info.param["name"];
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TokenizerFolder, SaysWhatIsWrongWithTheFilesBesideIt) {
  const TemporaryFolder folder;
  fs::copy_file(vectors_folder() / "gpt2" / "tokenizer.json", folder / "tokenizer.json");
  const auto error_with = [&](const std::string& name, const std::string& content) {
    folder.write(name, content);
    const std::string message = error_of([&] { load_tokenizer(folder.path()); });
    fs::remove(folder / name);
    EXPECT_THAT(message, HasSubstr(folder.path().string()));
    return message;
  };
  const std::string config = "tokenizer_config.json";
  EXPECT_THAT(error_with(config, "{"), HasSubstr("tokenizer_config.json': not JSON"));
  EXPECT_THAT(error_with("added_tokens.json", "[]"), HasSubstr("added_tokens.json': expected a JSON object"));
  EXPECT_THAT(error_with("added_tokens.json", R"({"<a>": "b"})"), HasSubstr("'<a>' has the number \"b\""));
  EXPECT_THAT(error_with("added_tokens.json", R"({"<a>": 7})"), HasSubstr("'<a>' has the number 7 of"));
  EXPECT_THAT(error_with("added_tokens.json", R"({"<a>": 2000000000})"), HasSubstr("far beyond"));
  EXPECT_THAT(error_with(config, R"({"eos_token": 3})"), HasSubstr("'eos_token' is 3, expected a token"));
  EXPECT_THAT(error_with(config, R"({"eos_token": ""})"), HasSubstr("'eos_token' has no content"));
  EXPECT_THAT(error_with(config, R"({"add_bos_token": "yes"})"), HasSubstr("'add_bos_token' is \"yes\""));
  EXPECT_THAT(error_with(config, R"({"added_tokens_decoder": {"x": {"content": "a"}}})"),
              HasSubstr("'x' in added_tokens_decoder is not a token id"));
  EXPECT_THAT(error_with(config, R"({"added_tokens_decoder": []})"), HasSubstr("expected an object"));
  EXPECT_THAT(error_with("special_tokens_map.json", R"({"bos_token": {"lstrip": true}})"),
              HasSubstr("'bos_token' has no content"));
}

}  // namespace
}  // namespace cladtorch::data
