#include "cladtorch/data/prepare.h"

#include "cladtorch/data/dataset.h"
#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/dataset_folder.h"
#include "data/prepare/encode.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

void check_source(const fs::path& path, const fs::path& folder) {
  require(!is_prepared(path), "prepare: '", path.string(), "' holds prepared tokens already, expected text");
  const fs::path inside = fs::weakly_canonical(folder).lexically_relative(fs::weakly_canonical(path));
  require(!fs::is_directory(path) || inside.empty() || *inside.begin() == "..", "prepare: '", folder.string(),
          "' lies in the text '", path.string(), "' and would become a part of it; choose another folder");
}

}  // namespace

std::string to_string(Split split) { return split == Split::tail ? "tail" : "documents"; }

Split split_from_string(const std::string& name) {
  if (name == "tail") return Split::tail;
  if (name == "documents") return Split::documents;
  fail("split: expected tail or documents, got ", in_quotes(name));
}

PrepareSummary prepare_text(const fs::path& path, const fs::path& folder, const PrepareOptions& options) {
  check_source(path, folder);
  if (!options.validation.empty()) check_source(options.validation, folder);
  const TextEncoder text(path, options);
  DatasetWriter writer(folder, *text.tokenizer(), options.shard_tokens);
  PrepareSummary summary = text.encode(writer.train(), writer.validation());
  writer.finish(text.splits_tail() ? text.tail(writer.train_tokens()) : 0);
  summary.train_tokens = writer.train_tokens();
  summary.validation_tokens = writer.validation_tokens();
  summary.vocab_size = text.tokenizer()->vocab_size();
  writer.commit(path.string(), std::nullopt);
  return summary;
}

}  // namespace cladtorch::data
