// A file beside a tokenizer, which adds tokens and says what they are for. The first byte chooses the
// tokenizer and the file.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/error.h"
#include "io/temporary_folder.h"

namespace {

using namespace cladtorch;
namespace fs = std::filesystem;

constexpr const char* files[] = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

/// A folder for each way to keep a vocabulary.
struct Folders {
  io::TemporaryFolder json, pair, model;

  Folders() {
    const fs::path corpus = CLADTORCH_CORPUS;
    fs::copy_file(corpus / "tokenizer_json/byte_level", json / "tokenizer.json");
    fs::copy_file(corpus / "sentencepiece/unigram", model / "tokenizer.model");
    pair.write("vocab.json", R"({"l":0,"o":1,"w":2,"lo":3,"low":4,"<|endoftext|>":5,"Ġ":6})");
    pair.write("merges.txt", "#version: 0.2\nl o\nlo w\n");
  }
  const io::TemporaryFolder& operator[](int i) const { return i == 0 ? json : i == 1 ? pair : model; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  static const Folders folders;
  if (size == 0) return 0;
  const io::TemporaryFolder& folder = folders[input[0] % 3];
  const char* const name = files[input[0] / 3 % 3];
  folder.write(name, std::string(reinterpret_cast<const char*>(input) + 1, size - 1));
  try {
    const data::TokenizerPtr tokenizer = data::load_tokenizer(folder.path());
    tokenizer->decode(tokenizer->encode("low low <s> lo</s>"));
    data::tokenizer_from_json(tokenizer->to_json());
  } catch (const Error&) {
  }
  fs::remove(folder / name);
  return 0;
}
