#include "cladtorch/train/generate.h"

#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "apps/open_model.h"
#include "apps/process.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

struct Options {
  ModelOptions model;
  std::string prompt;
  int64_t tokens = 500;
  int threads = 0;
  bool ignore_end = false;
  train::SamplingOptions sampling{.temperature = 0.8};
};

/// Complains before it looks at any file.
void check(const Options& options) {
  try {
    const train::Sampler sampler(options.sampling);
  } catch (const Error& error) {
    throw train::UsageError(error.what());
  }
  check(options.model, "generate");
}

void write(std::string_view text) {
  print_output(text);
  check_output();  // a reader sees each token when it is there
}

/// What the folder says ends a text, or else the tokenizer.
std::vector<int32_t> end_tokens(const formats::GenerationTokens& folder, const data::Tokenizer& tokenizer) {
  if (!folder.end.empty()) return folder.end;
  if (const auto end = tokenizer.special_tokens().end_of_text) return {*end};
  return {};
}

int run(const Options& options) {
  check(options);
  if (options.threads > 0) set_num_threads(options.threads);
  const auto [model, checkpoint] = open_model(options.model);
  const data::TokenizerPtr tokenizer = train::load_tokenizer(checkpoint, *model);
  const formats::GenerationTokens ends = formats::read_generation_tokens(checkpoint);
  const auto prompt = train::encode_prompt(*tokenizer, options.prompt, ends.begin);
  for (const int32_t token : prompt) {
    require(token < model->sizes().vocab_size, "generate: '", checkpoint.string(),
            "': the empty prompt is the token ", token, " (bos_token_id), but the model has only ",
            model->sizes().vocab_size, "; give a text with --prompt");
  }
  train::SamplingOptions sampling = options.sampling;
  sampling.vocab_size = tokenizer->vocab_size();
  if (!options.ignore_end) sampling.stop = end_tokens(ends, *tokenizer);

  train::Utf8Stream stream(write);
  stream.write(options.prompt);
  train::generate(*model, prompt, options.tokens, sampling, [&](int32_t token) {
    if (!tokenizer->is_special(token)) stream.write(tokenizer->token_bytes(token));
  });
  stream.finish();
  write("\n");
  return 0;
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a trained model");
  auto options = std::make_shared<Options>();
  add_model(command, options->model);
  command->add_option("--prompt", options->prompt, "text to continue")->type_name("TEXT");
  command->add_option("--tokens", options->tokens, "largest number of tokens to generate")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str();
  command->add_flag("--ignore-eos", options->ignore_end, "continue past the token that ends a text");
  command
      ->add_option("--temperature", options->sampling.temperature,
                   "randomness of the choice of tokens; 0: always the most likely")
      ->type_name("NUMBER")
      ->capture_default_str();
  command->add_option("--top-k", options->sampling.top_k, "choose among the k most likely tokens; 0: all")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--top-p", options->sampling.top_p,
                   "choose among the most likely tokens that together reach this probability")
      ->type_name("NUMBER")
      ->capture_default_str();
  command->add_option("--seed", options->sampling.seed, "seed of the random choices")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str();
  add_arithmetic(command, options->model);
  command->add_option("--threads", options->threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(whole_number(0, most_threads));
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace cladtorch::apps
