// import, export and merge: models between Hugging Face folders, which are what this program works with, and
// other formats.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "apps/command.h"
#include "apps/open_model.h"
#include "cladtorch/formats/convert.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/progress.h"

namespace cladtorch::apps {
namespace {

const std::map<std::string, formats::ModelFormat> format_names = {{"hf", formats::ModelFormat::hugging_face},
                                                                  {"llmc", formats::ModelFormat::llmc},
                                                                  {"gguf", formats::ModelFormat::gguf}};
const std::map<std::string, io::StoredType> type_names = {
    {"fp32", io::StoredType::f32}, {"fp16", io::StoredType::f16}, {"bf16", io::StoredType::bf16}};

struct Options {
  std::filesystem::path from, out, adapter;
  std::string type, format;
  double shard_gigabytes = 5;
  bool merge = false;  ///< there must be an adapter
};

int run(const Options& options) {
  formats::ConvertOptions convert;
  if (!options.format.empty()) convert.format = format_names.at(options.format);
  if (!options.type.empty()) convert.type = type_names.at(options.type);
  convert.shard_bytes = static_cast<uint64_t>(options.shard_gigabytes * 1e9);
  // A run holds checkpoints, and a checkpoint is a Hugging Face folder.
  const bool folder = std::filesystem::is_directory(options.from);
  const std::filesystem::path from = folder ? train::find_checkpoint(options.from) : options.from;
  require(!options.merge || !options.adapter.empty() || formats::holds_adapter(from), "merge: '",
          from.string(), "' holds no adapter; name one with --adapter");
  if (!options.adapter.empty()) convert.adapter = train::find_checkpoint(options.adapter);
  const formats::Converted converted = formats::convert_model(from, options.out, convert);
  fmt::print("{}: {}, {} parameters\n", options.out.string(), converted.model, converted.parameters);
  if (convert.format == formats::ModelFormat::gguf && !converted.vocabulary) {
    fmt::print(
        "the file holds no vocabulary: llama.cpp needs a BPE, byte-level or of SentencePiece (tokenizer.json "
        "or "
        "tokenizer.model)\n");
  }
  return 0;
}

CLI::App* add(CLI::App& app, Action& action, const char* name, const char* help,
              const std::shared_ptr<Options>& options) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("--dtype", options->type, "number format of the weights (default: as stored)")
      ->type_name("fp32|fp16|bf16")
      ->check(name_of(type_names));
  command->callback([=, &action] { action = [=] { return run(*options); }; });
  return command;
}

void add_shards(CLI::App* command, const std::shared_ptr<Options>& options) {
  command->add_option("--shard-gb", options->shard_gigabytes, "largest file of a Hugging Face folder, in GB")
      ->type_name("NUMBER")
      ->check(number_between(1e-6, 1e9))
      ->capture_default_str();
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add(app, action, "import",
          "Convert a model from llm.c or transformers into a folder that the other commands take", options);
  command->add_option("--from", options->from, "folder of a transformers model, or .bin file of llm.c")
      ->type_name("PATH")
      ->required();
  command->add_option("--out", options->out, "new folder")->type_name("FOLDER")->required();
  add_shards(command, options);
}

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add(app, action, "export", "Write a model for another program", options);
  command->add_option("--from", options->from, "folder of a run, a checkpoint, or a Hugging Face model")
      ->type_name("FOLDER")
      ->required();
  command->add_option("--out", options->out, "new folder (hf) or file (llmc, gguf)")
      ->type_name("PATH")
      ->required();
  command
      ->add_option("--format", options->format, "hf: transformers; llmc: .bin file of llm.c; gguf: llama.cpp")
      ->type_name("hf|llmc|gguf")
      ->check(name_of(format_names))
      ->required();
  add_shards(command, options);
}

void add_merge(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->merge = true;
  CLI::App* command =
      add(app, action, "merge", "Write a model with a LoRA adapter added to its weights", options);
  command->add_option("--from", options->from, "folder of the model, or of an adapter, which names its model")
      ->type_name("FOLDER")
      ->required();
  add_adapter(command, options->adapter);
  command->add_option("--out", options->out, "new folder, in the format of transformers")
      ->type_name("FOLDER")
      ->required();
  add_shards(command, options);
}

}  // namespace cladtorch::apps
