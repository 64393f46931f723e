#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "apps/open_model.h"
#include "cladtorch/data/text_files.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/evaluate.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path from, adapter, ids, logits, grads, text;
  int64_t context = 0, stride = 0, batch = 4;
  int threads = 0;
  std::string dtype = "fp32";
  bool json = false;
};

void check(const Options& options) {
  if (options.ids.empty() == options.text.empty())
    throw train::UsageError("eval: expected either --ids or --text");
  if (options.ids.empty() && !(options.logits.empty() && options.grads.empty()))
    throw train::UsageError("eval: --logits and --grads go with --ids");
  if (!options.ids.empty() && (options.context > 0 || options.stride > 0))
    throw train::UsageError("eval: --context and --stride go with --text");
  train::dtype_from_string(options.dtype, "eval: --dtype");
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
  require(stored.shape.size() == 2 && !stored.data.empty(), where, " is no matrix [B, T] of token ids");
  if (stored.type == io::StoredType::i64) return narrowed<int64_t>(stored, vocab_size, where);
  if (stored.type == io::StoredType::i32) return narrowed<int32_t>(stored, vocab_size, where);
  fail(where, " is ", io::stored_name(stored.type), ", expected I64 or I32");
}

void write_logits(const Tensor& logits, const fs::path& path) {
  const Tensor values = logits.to(DType::float32).contiguous();
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
  formats::save_parameters(*gradient, options.grads);
  return result;
}

/// On a terminal, the part that is done, on a line that the next one overwrites.
void show_progress(double part) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{:3.0f} %{}", 100 * part, part < 1 ? "" : "\r     \r");
}

train::Evaluation evaluate_text(const LanguageModel& model, const fs::path& checkpoint,
                                const Options& options) {
  const data::TokenizerPtr tokenizer = data::load_tokenizer(checkpoint / "tokenizer.json");
  std::string text;
  data::TextFiles(options.text).read(false, [&](std::string_view piece) { text += piece; });
  return train::evaluate_text(model, tokenizer->encode(text),
                              {.context = options.context,
                               .stride = options.stride,
                               .batch = options.batch,
                               .progress = show_progress});
}

/// JSON has no NaN: null.
io::Json number(double value) { return std::isfinite(value) ? io::Json(value) : io::Json(nullptr); }

int run(const Options& options) {
  check(options);
  if (options.threads > 0) set_num_threads(options.threads);
  const auto [model, checkpoint] =
      open_model(options.from, options.adapter, train::dtype_from_string(options.dtype, "eval: --dtype"));
  const train::Evaluation result =
      options.ids.empty() ? evaluate_text(*model, checkpoint, options) : evaluate_ids(*model, options);
  if (options.json) {
    fmt::print("{}\n", io::Json{{"loss", number(result.loss)},
                                {"perplexity", number(result.perplexity())},
                                {"tokens", result.tokens}}
                           .dump());
  } else {
    fmt::print("loss        {:.6f}\nperplexity  {:.4f}\ntokens      {}\n", result.loss, result.perplexity(),
               result.tokens);
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "eval", "Loss and perplexity of a model on token ids or a text; also its scores and gradients");
  auto options = std::make_shared<Options>();
  command->add_option("--from", options->from, "folder of a run, a checkpoint, or a Hugging Face model")
      ->type_name("FOLDER")
      ->required();
  add_adapter(command, options->adapter);
  command->add_option("--ids", options->ids, "safetensors file with the matrix 'input_ids' [B, T], int64")
      ->type_name("FILE");
  command->add_option("--logits", options->logits, "write the scores 'logits' [B, T, V] into this file")
      ->type_name("FILE");
  command
      ->add_option("--grads", options->grads,
                   "write the loss's gradient of every parameter, named as in the model's file")
      ->type_name("FILE");
  command->add_option("--text", options->text, "evaluate a text file or a folder of them instead")
      ->type_name("PATH");
  command->add_option("--context", options->context, "--text: tokens in a window; 0: at most 1024")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--stride", options->stride, "--text: tokens between windows; 0: half a window")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--batch", options->batch, "--text: windows at a time")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "numbers that the model computes with: fp32 or bf16")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "threads (default: all cores)")
      ->check(whole_number(0, most_threads));
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace cladtorch::apps
