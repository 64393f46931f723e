#include "data/llmc_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cladtorch/data/llmc_tokens.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_folder.h"
#include "data/tokens/shard_set.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* tokenizer_file = "tokenizer.json";

/// The token files at `path`, sorted by name.
std::vector<fs::path> token_files(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return LlmcTokens::is_one(path) ? std::vector<fs::path>{path} : std::vector<fs::path>{};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code no_file;
    const bool candidate = entry->path().extension() == ".bin" && entry->is_regular_file(no_file);
    if (candidate && LlmcTokens::is_one(entry->path())) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TokenizerPtr tokenizer_for(const fs::path& path, const Vocabulary& vocabulary) {
  if (vocabulary.is_file()) return vocabulary.tokenizer();
  std::error_code ignored;
  if (fs::is_regular_file(path / tokenizer_file, ignored)) return load_tokenizer(path / tokenizer_file);
  fail(
      "open '", path.string(),
      "': token files of llm.c do not hold their vocabulary; name it with --tokenizer, such as a folder with "
      "GPT-2's encoder.json and vocab.bpe");
}

/// Several files opened as one sequence.
struct Files {
  std::vector<LlmcTokens> train, validation;

  static TokenSequence sequence(const std::vector<LlmcTokens>& files) {
    std::vector<TokenSequence::Part> parts;
    for (const LlmcTokens& file : files) parts.push_back({file.tokens()});
    return TokenSequence(std::move(parts));
  }
};

/// train_000000.bin, train_000001.bin, ...: names that llm.c's patterns such as "train_*.bin" find.
void write_files(const TokenSequence& tokens, const fs::path& folder, const char* split, TokenWidth width,
                 uint64_t file_tokens) {
  for (uint64_t at = 0, number = 0; at < tokens.size(); at += file_tokens, ++number) {
    const uint64_t count = std::min<uint64_t>(file_tokens, tokens.size() - at);
    write_llmc_tokens(folder / fmt::format("{}_{:06}.bin", split, number), tokens.subsequence(at, count),
                      width);
  }
}

}  // namespace

bool holds_llmc_tokens(const fs::path& path) { return !token_files(path).empty(); }

Dataset read_llmc_folder(const fs::path& path, const Vocabulary& vocabulary) {
  Dataset dataset{.name = path.string(), .tokenizer = tokenizer_for(path, vocabulary)};
  const auto files = std::make_shared<Files>();
  for (const fs::path& file : token_files(path)) {
    const bool validates =
        fs::is_directory(path) && file.filename().string().find("val") != std::string::npos;
    auto& split = validates ? files->validation : files->train;
    split.push_back(LlmcTokens::open(file));
    check_tokens(file, split.back().tokens(), dataset.tokenizer->vocab_size());
  }
  dataset.train = Files::sequence(files->train);
  dataset.validation = Files::sequence(files->validation);
  if (files->validation.empty()) {
    const TokenSequence all = dataset.train;
    const size_t tail = all.size() / 10;
    dataset.train = all.subsequence(0, all.size() - tail);
    dataset.validation = all.subsequence(all.size() - tail, tail);
  }
  dataset.storage = files;
  return dataset;
}

void write_llmc_folder(const Dataset& dataset, const fs::path& folder, uint64_t file_tokens) {
  require(!dataset.train.has_ignored() && !dataset.validation.has_ignored(), "write '", folder.string(),
          "': token files of llm.c have no place for prompts that are read but not learned");
  require(file_tokens > 0, "write '", folder.string(), "': a file must hold at least 1 token");
  io::require_new_folder(folder);
  io::AtomicFolder fresh(folder);
  const TokenWidth width = width_for(dataset.tokenizer->vocab_size());
  write_files(dataset.train, fresh.path(), "train", width, file_tokens);
  write_files(dataset.validation, fresh.path(), "val", width, file_tokens);
  dataset.tokenizer->save(fresh.path() / tokenizer_file);
  fresh.commit();
}

}  // namespace cladtorch::data
