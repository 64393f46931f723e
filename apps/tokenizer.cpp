#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <memory>
#include <thread>

#include "apps/command.h"
#include "apps/process.h"
#include "cladtorch/data/bpe_trainer.h"
#include "cladtorch/data/text_files.h"
#include "cladtorch/data/token_stream.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/quote.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

struct Options {
  std::filesystem::path tokenizer, text, out;
  std::string words;
  std::vector<std::string> tokens;
  bool around = false;
  int threads = 0;
  data::BpeTrainingOptions training;
};

/// What is being done, on one line of a terminal; nothing elsewhere.
class Progress {
 public:
  void show(const std::string& phase, double done) {
    const int percent = static_cast<int>(100 * done);
    if (!terminal_ || (phase == phase_ && percent == percent_)) return;
    phase_ = phase;
    percent_ = percent;
    print_error(fmt::format("\r{} {:3} % ", phase, percent));
  }
  ~Progress() {
    if (!phase_.empty()) print_error(fmt::format("\r{:40}\r", ""));
  }

 private:
  bool terminal_ = ::isatty(2) != 0;
  std::string phase_;
  int percent_ = -1;
};

int train(const Options& options) {
  data::BpeTrainingOptions training = options.training;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  training.threads = options.threads > 0 ? options.threads : cores;
  std::shared_ptr<const data::BpeTokenizer> tokenizer;
  {
    Progress progress;
    training.progress = [&](const std::string& phase, double done) { progress.show(phase, done); };
    tokenizer = data::train_bpe(data::TextFiles(options.text), training);
  }
  tokenizer->save(options.out);
  fmt::print("{}: {} tokens", options.out.string(), tokenizer->vocab_size());
  if (tokenizer->vocab_size() < training.vocab_size) fmt::print(", all that the text gives");
  fmt::print("\n");
  return 0;
}

/// Numbers with a space between two of them.
class NumberWriter {
 public:
  void write(std::span<const int32_t> numbers) {
    for (int32_t number : numbers) {
      if (!first_) line_ += ' ';
      first_ = false;
      line_ += std::to_string(number);
    }
    print_output(line_);
    line_.clear();
  }

 private:
  std::string line_;
  bool first_ = true;
};

int encode(const Options& options) {
  const data::TokenizerPtr tokenizer = data::load_tokenizer(options.tokenizer);
  const data::SpecialTokens& special = tokenizer->special_tokens();
  NumberWriter out;
  if (options.around) out.write(special.before);
  data::TokenStream stream(*tokenizer);
  if (!options.words.empty()) {
    out.write(stream.append(options.words));
  } else if (!options.text.empty()) {
    data::TextFiles(options.text).read(tokenizer->needs_utf8(), [&](std::string_view piece) {
      out.write(stream.append(piece));
    });
  } else {
    std::array<char, 1 << 16> buffer;
    while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
      out.write(stream.append({buffer.data(), bytes}));
    }
    if (std::ferror(stdin)) throw Error(io::describe_failure("read", "standard input", errno));
  }
  out.write(stream.finish());
  if (options.around) out.write(special.after);
  print_output("\n");
  return 0;
}

int32_t token_number(const std::string& word) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  require(error == std::errc{} && end == word.data() + word.size(), "tokenizer decode: ", in_quotes(word),
          " is not a token id");
  return number;
}

int decode(const Options& options) {
  const data::TokenizerPtr tokenizer = data::load_tokenizer(options.tokenizer);
  std::vector<int32_t> tokens;
  for (const std::string& word : options.tokens) tokens.push_back(token_number(word));
  if (options.tokens.empty()) {
    for (std::string word; std::cin >> std::setw(64) >> word;) tokens.push_back(token_number(word));
  }
  print_output(tokenizer->decode(tokens));
  return 0;
}

int show(const Options& options) {
  const data::TokenizerPtr tokenizer = data::load_tokenizer(options.tokenizer);
  const auto named = [&](std::span<const int32_t> tokens) {
    std::string text;
    for (int32_t token : tokens) text += fmt::format(" {} ({})", tokenizer->token_bytes(token), token);
    return text.empty() ? " none" : text;
  };
  const data::SpecialTokens& special = tokenizer->special_tokens();
  fmt::print("kind         {}\nvocabulary   {} tokens\n", tokenizer->kind(), tokenizer->vocab_size());
  fmt::print("before text {}\nafter text  {}\n", named(special.before), named(special.after));
  fmt::print("end of text {}\n", special.end_of_text ? named(std::array{*special.end_of_text}) : " none");
  return 0;
}

}  // namespace

void add_tokenizer(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("tokenizer", "Learn a vocabulary, or encode and decode text with one");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* help, int (*run)(const Options&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->callback([=, &action] { action = [=] { return run(*options); }; });
    return sub;
  };
  CLI::App* sub_train = add("train", "Learn a byte-level BPE vocabulary from text", train);
  CLI::App* sub_encode = add("encode", "Turn text into token ids", encode);
  CLI::App* sub_decode = add("decode", "Turn token ids into text", decode);
  CLI::App* sub_show = add("show", "Describe a vocabulary", show);
  data::BpeTrainingOptions& training = options->training;

  sub_train->add_option("--text", options->text, "text file or folder of them")
      ->type_name("PATH")
      ->required();
  sub_train
      ->add_option("--out", options->out, "file to write, a tokenizer.json in the format of Hugging Face")
      ->type_name("FILE")
      ->required();
  sub_train
      ->add_option("--vocab-size", training.vocab_size,
                   "number of tokens in the vocabulary, special ones included")
      ->type_name("N")
      ->check(whole_number(256, 10'000'000))
      ->capture_default_str();
  sub_train->add_option("--pattern", training.pattern, "pattern that cuts text into words")
      ->type_name("gpt2|gpt4")
      ->check(name_of<int>({{"gpt2", 2}, {"gpt4", 4}}))
      ->capture_default_str();
  sub_train
      ->add_option("--special-tokens", training.special_tokens, "special tokens, which get the first ids")
      ->type_name("TOKEN ...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  sub_train
      ->add_option("--min-frequency", training.min_frequency,
                   "least number of times that a pair is seen to be merged")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
  sub_train->add_option("--threads", options->threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(whole_number(0, most_threads));

  for (CLI::App* sub : {sub_encode, sub_decode, sub_show}) {
    sub->add_option("--tokenizer", options->tokenizer, "file or folder of a tokenizer")
        ->type_name("PATH")
        ->required();
  }
  CLI::Option* file =
      sub_encode->add_option("--text", options->text, "text file or folder of them")->type_name("PATH");
  sub_encode->add_option("words", options->words, "the text (default: standard input)")
      ->type_name("TEXT")
      ->excludes(file);
  sub_encode->add_flag("--add-special-tokens", options->around,
                       "add the tokens that a model expects around a text");
  sub_decode->add_option("tokens", options->tokens, "token ids (default: standard input)")->type_name("ID");
}

}  // namespace cladtorch::apps
