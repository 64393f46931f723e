#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "apps/command.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/stories.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

/// Stories are made in memory.
constexpr int64_t most_bytes = 1'000'000'000;

struct Options {
  std::string text;  // "" means the built-in stories
  std::filesystem::path out;
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

int show(const Options& options) {
  const data::Dataset data = open(options);
  std::map<int32_t, size_t> counts;
  for (size_t i = 0; i < data.train.size(); ++i) ++counts[data.train[i]];
  std::vector<std::pair<size_t, int32_t>> ranked;
  for (const auto& [token, count] : counts) ranked.emplace_back(count, token);
  std::sort(ranked.rbegin(), ranked.rend());

  fmt::print("text         {}\n", options.text.empty() ? "built-in stories" : options.text);
  fmt::print("vocabulary   {} ({} tokens)\n", data.tokenizer->kind(), data.tokenizer->vocab_size());
  fmt::print("training     {} tokens\n", data.train.size());
  fmt::print("validation   {} tokens\n", data.validation.size());
  if (data.entropy_floor) fmt::print("entropy      {:.6f} nats per token (exact)\n", *data.entropy_floor);
  fmt::print("most common ");
  for (size_t i = 0; i < std::min<size_t>(ranked.size(), 10); ++i) {
    fmt::print(" {} {:.1f} %{}", shown(*data.tokenizer, ranked[i].second),
               100.0 * static_cast<double>(ranked[i].first) / static_cast<double>(data.train.size()),
               i + 1 < std::min<size_t>(ranked.size(), 10) ? "," : "\n");
  }
  return 0;
}

int prepare(const Options& options) {
  if (options.text.empty()) {
    data::save_dataset(open(options), options.out);
  } else {
    data::prepare_text(options.text, options.out, data::Vocabulary(options.vocabulary));
  }
  const data::Dataset data = data::shard_dataset(options.out);
  fmt::print("{}: {} tokens to train on, {} for validation, {} kinds\n", options.out.string(),
             data.train.size(), data.validation.size(), data.tokenizer->vocab_size());
  return 0;
}

int stories(const Options& options) {
  const std::string text = data::generate_stories(static_cast<size_t>(options.bytes), options.seed);
  if (options.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
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
      app.add_subcommand("data", "Look at text, turn it into token files, write built-in stories");
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
  CLI::App* sub_show = add("show", "statistics of a text", show);
  CLI::App* sub_prepare =
      add("prepare", "write a text as memory-mapped token files for train --text", prepare);
  CLI::App* sub_stories = add("stories", "write built-in stories as text", stories);
  for (CLI::App* sub : {sub_show, sub_prepare}) {
    const bool showing = sub == sub_show;
    sub->add_option("--text", options->text,
                    showing ? "text file, folder of them, or prepared tokens (default: stories)"
                            : "text file or folder of them (default: stories)")
        ->type_name("PATH");
    sub->add_option("--tokenizer,--vocabulary", options->vocabulary,
                    "char, byte, or the file or folder of a tokenizer")
        ->type_name("NAME|PATH")
        ->capture_default_str();
  }
  for (CLI::App* sub : {sub_show, sub_prepare, sub_stories}) {
    sub->add_option("--bytes", options->bytes, "size of the built-in stories")
        ->check(whole_number(1, most_bytes))
        ->capture_default_str();
    sub->add_option("--seed", options->seed, "seed of the built-in stories")
        ->check(whole_number())
        ->capture_default_str();
  }
  sub_prepare->add_option("--out", options->out, "folder for the token files")
      ->type_name("FOLDER")
      ->required();
  sub_stories->add_option("--out", options->out, "file (default: standard output)")->type_name("FILE");
}

}  // namespace cladtorch::apps
