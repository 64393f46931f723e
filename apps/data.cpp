#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <vector>

#include "apps/command.h"
#include "apps/process.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/llmc_tokens.h"
#include "cladtorch/data/stories.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

struct Options {
  std::string text;  // "" means the built-in stories
  std::filesystem::path out;
  uint64_t file_tokens = 100'000'000;
  std::string vocabulary = "char";
  int64_t bytes = 2'000'000;
  uint64_t seed = 1;
};

data::Dataset open(const Options& options) {
  const data::Vocabulary vocabulary(options.vocabulary);
  if (!options.text.empty()) return data::open_dataset(options.text, vocabulary);
  return data::stories_dataset(static_cast<size_t>(options.bytes), options.seed, vocabulary);
}

/// A token as a person wants to see it.
std::string shown(const data::Tokenizer& tokenizer, int32_t token) {
  const std::string bytes(tokenizer.token_bytes(token));
  if (bytes == " ") return "space";
  if (bytes == "\n") return "newline";
  const bool control =
      bytes.size() == 1 && (static_cast<unsigned char>(bytes[0]) < 0x21 || bytes[0] == 0x7f ||
                            static_cast<unsigned char>(bytes[0]) >= 0x80);
  return control ? fmt::format("0x{:02x}", static_cast<unsigned char>(bytes[0])) : bytes;
}

/// How often each token of the vocabulary occurs, and how many tokens are never targets.
struct Counts {
  std::vector<uint64_t> of_token;
  uint64_t ignored = 0;

  Counts(const data::TokenSequence& tokens, int64_t vocab_size) : of_token(static_cast<size_t>(vocab_size)) {
    std::vector<int32_t> part(1 << 16);
    for (size_t at = 0; at < tokens.size(); at += part.size()) {
      part.resize(std::min(part.size(), tokens.size() - at));
      tokens.copy(at, part);
      for (int32_t token : part) ++of_token[static_cast<size_t>(token)];
      tokens.copy_targets(at, part);
      ignored += static_cast<uint64_t>(std::count(part.begin(), part.end(), data::ignored_target));
    }
  }

  /// Tokens by how often they occur, the most common first.
  std::vector<size_t> ranked() const {
    std::vector<size_t> tokens(of_token.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    std::sort(tokens.begin(), tokens.end(), [&](size_t a, size_t b) {
      return of_token[a] != of_token[b] ? of_token[a] > of_token[b] : a < b;
    });
    return tokens;
  }
};

std::string described(const data::TokenSequence& tokens, uint64_t ignored) {
  std::string text = fmt::format("{} tokens", tokens.size());
  if (const size_t documents = tokens.documents().size(); documents > 0) {
    text += fmt::format(" in {} document{}", documents, documents == 1 ? "" : "s");
  }
  if (ignored > 0) {
    text += fmt::format(", {:.1f} % of them prompts",
                        100.0 * static_cast<double>(ignored) / static_cast<double>(tokens.size()));
  }
  return text;
}

int show(const Options& options) {
  const data::Dataset data = open(options);
  const int64_t kinds = data.tokenizer->vocab_size();
  const Counts train(data.train, kinds), validation(data.validation, kinds);

  fmt::print("text         {}\n", options.text.empty() ? "built-in stories" : options.text);
  fmt::print("vocabulary   {} ({} tokens)\n", data.tokenizer->kind(), kinds);
  fmt::print("training     {}\n", described(data.train, train.ignored));
  fmt::print("validation   {}\n", described(data.validation, validation.ignored));
  if (data.entropy_floor) fmt::print("entropy      {:.6f} nats per token (exact)\n", *data.entropy_floor);
  std::vector<std::string> common;
  for (size_t token : train.ranked()) {
    if (common.size() == 10 || train.of_token[token] == 0) break;
    common.push_back(fmt::format(
        "{} {:.1f} %", shown(*data.tokenizer, static_cast<int32_t>(token)),
        100.0 * static_cast<double>(train.of_token[token]) / static_cast<double>(data.train.size())));
  }
  fmt::print("most common  {}\n", fmt::join(common, ", "));
  return 0;
}

int export_tokens(const Options& options) {
  const data::Dataset data = open(options);
  data::write_llmc_folder(data, options.out, options.file_tokens);
  fmt::print("{}: {} tokens to train on, {} for validation, {} kinds\n", options.out.string(),
             data.train.size(), data.validation.size(), data.tokenizer->vocab_size());
  return 0;
}

int stories(const Options& options) {
  const std::string text = data::generate_stories(static_cast<size_t>(options.bytes), options.seed);
  if (options.out.empty()) {
    print_output(text);
  } else {
    io::write_file(options.out, text);
    fmt::print("{}: {}, entropy {:.6f} nats per byte (exact)\n", options.out.string(),
               train::short_bytes(static_cast<double>(text.size())), data::story_entropy());
  }
  return 0;
}

void check(const Options& options) {
  try {
    data::Vocabulary{options.vocabulary};
  } catch (const Error& error) {
    throw train::UsageError(std::string("data: ") + error.what());
  }
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("data", "Inspect a text, turn it into tokens, or write the built-in stories");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* help, int (*run)(const Options&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->callback([=, &action] {
      action = [=] {
        check(*options);
        return run(*options);
      };
    });
    return sub;
  };
  CLI::App* sub_show = add("show", "Print statistics of a text", show);
  add_data_prepare(*command, action);
  CLI::App* sub_export = add("export", "Write the tokens of a text as token files of llm.c", export_tokens);
  CLI::App* sub_stories = add("stories", "Write the built-in stories as text", stories);
  for (CLI::App* sub : {sub_show, sub_export}) {
    sub->add_option(
           "--text", options->text,
           "text file, folder of text files, prepared tokens or token files of llm.c (default: stories)")
        ->type_name("PATH");
    sub->add_option("--tokenizer", options->vocabulary,
                    "characters, bytes, or the file or folder of a tokenizer")
        ->type_name("char|byte|PATH")
        ->capture_default_str();
  }
  sub_export->add_option("--out", options->out, "new folder")->type_name("FOLDER")->required();
  sub_export->add_option("--shard-tokens", options->file_tokens, "largest number of tokens in a file")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
  for (CLI::App* sub : {sub_show, sub_export, sub_stories}) {
    sub->add_option("--bytes", options->bytes, "size of the built-in stories")
        ->type_name("N")
        ->check(whole_number(1, most_story_bytes))
        ->capture_default_str();
    sub->add_option("--seed", options->seed, "seed of the built-in stories")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
  }
  sub_stories->add_option("--out", options->out, "file to write (default: standard output)")
      ->type_name("FILE");
}

}  // namespace cladtorch::apps
