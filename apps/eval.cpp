#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.h"
#include "apps/eval_results.h"
#include "apps/open_model.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/hellaswag.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/evaluate.h"
#include "cladtorch/train/metrics.h"
#include "cladtorch/train/multiple_choice.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/status_line.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

namespace fs = std::filesystem;

struct Options {
  ModelOptions model;
  fs::path ids, logits, grads;
  std::vector<fs::path> texts, hellaswag;
  int64_t context = 0, stride = 0, batch = 4;
  std::optional<int64_t> limit;
  int threads = 0;
  std::string style;
  bool json = false;
};

void check(const Options& options) {
  const bool ids = !options.ids.empty(), texts = !options.texts.empty(), choices = !options.hellaswag.empty();
  if (!ids && !texts && !choices)
    throw train::UsageError("eval: there is nothing to evaluate; give --text, --hellaswag or --ids");
  if (ids && (texts || choices))
    throw train::UsageError(
        "eval: --ids does not go with --text and --hellaswag; evaluate them in another run");
  if (!ids && !(options.logits.empty() && options.grads.empty()))
    throw train::UsageError("eval: --logits and --grads need --ids");
  if (!texts && (options.context > 0 || options.stride > 0))
    throw train::UsageError("eval: --context and --stride need --text");
  if (!choices && (options.limit || !options.style.empty()))
    throw train::UsageError("eval: --limit and --hellaswag-style need --hellaswag");
  check(options.model, "eval");
  if (!options.style.empty() && options.style != "harness" && options.style != "llmc")
    throw train::UsageError(
        fmt::format("eval: --hellaswag-style is '{}', expected harness or llmc", options.style));
}

template <class Stored>
Tensor narrowed(const io::StoredTensor& stored, int64_t vocab_size, const std::string& where) {
  Tensor ids = empty(Shape(std::span<const int64_t>(stored.shape)), DType::int32);
  for (int64_t i = 0; i < ids.numel(); ++i) {
    Stored value = 0;
    std::memcpy(&value, stored.data.data() + static_cast<size_t>(i) * sizeof value, sizeof value);
    require(value >= 0 && static_cast<int64_t>(value) < vocab_size, where, " holds the id ", value,
            ", expected 0 to ", vocab_size - 1, " as the model's vocabulary");
    ids.data<int32_t>()[i] = static_cast<int32_t>(value);
  }
  return ids;
}

/// The matrix of token ids that the file holds.
Tensor read_ids(const fs::path& path, int64_t vocab_size) {
  const io::SafetensorsFile file(path);
  const io::StoredTensor& stored = file.at("input_ids");
  const std::string where = "read '" + path.string() + "': 'input_ids'";
  require(stored.shape.size() == 2 && !stored.data.empty(), where, " is not a matrix [B, T] of token ids");
  if (stored.type == io::StoredType::i64) return narrowed<int64_t>(stored, vocab_size, where);
  if (stored.type == io::StoredType::i32) return narrowed<int32_t>(stored, vocab_size, where);
  fail(where, " is ", io::stored_name(stored.type), ", expected I64 or I32");
}

void write_logits(const Tensor& logits, const fs::path& path) {
  const Tensor values = logits.to(DType::float32).to(Device{}).contiguous();
  io::write_safetensors(path, {{"logits",
                                {io::StoredType::f32,
                                 {values.shape().begin(), values.shape().end()},
                                 {static_cast<const std::byte*>(values.data()), values.nbytes()}}}});
}

train::Evaluation evaluate_ids(const LanguageModel& model, const Options& options) {
  const Tensor ids = read_ids(options.ids, model.sizes().vocab_size);
  if (!options.logits.empty()) write_logits(model.logits(ids), options.logits);
  if (options.grads.empty()) return train::evaluate_tokens(model, ids);
  const std::unique_ptr<LanguageModel> gradient = model.gradient_like();
  const train::Evaluation result = train::evaluate_tokens(model, ids, gradient.get());
  formats::save_parameters(*gradient->to(Device{}), options.grads);
  return result;
}

/// On a terminal, one line about the data that a model is evaluated on; it goes away at the end.
class Display {
 public:
  void begin(const std::string& data) {
    data_ = data;
    begin_ = Clock::now();
  }
  void show(double share) {
    if (!line_.terminal() || !line_.due()) return;
    const double passed = std::chrono::duration<double>(Clock::now() - begin_).count();
    const std::string text = fmt::format("{:3.0f} %  {}  eta {}  {}", 100 * share, train::progress_bar(share),
                                         train::short_duration(passed / share * (1 - share)), data_);
    line_.show(text.substr(0, static_cast<size_t>(line_.width())), false);
  }

 private:
  using Clock = std::chrono::steady_clock;
  train::StatusLine line_{stderr};
  std::string data_;
  Clock::time_point begin_;
};

TextResult evaluate_text(const LanguageModel& model, const fs::path& text, const fs::path& checkpoint,
                         const Options& options, Display& display) {
  display.begin(text.string());
  const data::Dataset dataset = data::evaluation_dataset(text, data::Vocabulary(checkpoint.string()));
  TextResult result{.data = text.string(),
                    .evaluation = {},
                    .bytes_per_token = train::bytes_per_token(dataset.validation, *dataset.tokenizer)};
  try {
    result.evaluation = train::evaluate_text(model, dataset.validation,
                                             {.context = options.context,
                                              .stride = options.stride,
                                              .batch = options.batch,
                                              .progress = [&](double share) { display.show(share); }});
  } catch (const Error& error) {
    fail("'", text.string(), "': ", error.what());
  }
  return result;
}

EvalResults evaluate_data(const LanguageModel& model, const fs::path& checkpoint, const Options& options) {
  const data::TokenizerPtr tokenizer = train::load_tokenizer(checkpoint, model);
  Display display;
  EvalResults results;
  for (const fs::path& text : options.texts)
    results.texts.push_back(evaluate_text(model, text, checkpoint, options, display));
  if (options.hellaswag.empty()) return results;
  const data::HellaSwagStyle style =
      options.style.empty() ? data::HellaSwagStyle::harness : data::hellaswag_style(options.style);
  for (const fs::path& file : options.hellaswag) {
    display.begin(file.string());
    const auto questions =
        data::read_hellaswag(file, style, options.limit.value_or(std::numeric_limits<int64_t>::max()));
    const auto progress = [&](double share) { display.show(share); };
    results.choices.push_back({file.string(), train::evaluate_hellaswag(model, *tokenizer, questions, style,
                                                                        {.progress = progress})});
  }
  return results;
}

int run(const Options& options) {
  check(options);
  if (options.threads > 0) set_num_threads(options.threads);
  const auto [model, checkpoint] = open_model(options.model);
  const auto print = [&](const auto& result) {
    fmt::print("{}", options.json ? to_json(result) : to_text(result));
  };
  if (options.ids.empty()) {
    print(evaluate_data(*model, checkpoint, options));
  } else {
    print(evaluate_ids(*model, options));
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "eval",
      "Measure loss and perplexity on texts and accuracy on HellaSwag, or write logits and gradients");
  auto options = std::make_shared<Options>();
  add_model(command, options->model);
  command->add_option("--ids", options->ids, "safetensors file of token ids, the matrix 'input_ids' [B, T]")
      ->type_name("FILE");
  command->add_option("--logits", options->logits, "with --ids: file to write 'logits' [B, T, V] into")
      ->type_name("FILE");
  command
      ->add_option(
          "--grads", options->grads,
          "with --ids: file to write the gradient of the loss into, under the names of the parameters")
      ->type_name("FILE");
  command
      ->add_option("--text", options->texts,
                   "text files, folders of them, or prepared tokens, whose validation part is used")
      ->type_name("PATH")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--context", options->context,
                   "with --text: tokens per window; 0: the model's, at most 1024")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--stride", options->stride,
                   "with --text: tokens from one window to the next; 0: half a window")
      ->type_name("N")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--batch", options->batch, "with --text: windows at a time")
      ->type_name("N")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  command
      ->add_option("--hellaswag", options->hellaswag,
                   "files in HellaSwag's own format, such as hellaswag_val.jsonl")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--hellaswag-style", options->style,
                   "with --hellaswag: prompt and score as lm-evaluation-harness or llm.c does "
                   "(default: harness)")
      ->type_name("harness|llmc");
  command->add_option("--limit", options->limit, "with --hellaswag: only the first N examples")
      ->type_name("N")
      ->check(whole_number(1));
  add_arithmetic(command, options->model);
  command->add_option("--threads", options->threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(whole_number(0, most_threads));
  command->add_flag("--json", options->json, "print one JSON object instead of tables");
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace cladtorch::apps
