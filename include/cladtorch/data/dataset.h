// What a training run reads: a vocabulary, training tokens, validation tokens, and the floor where it is
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cladtorch/data/token_sequence.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/data/vocabulary.h"

namespace cladtorch::data {

/// Owns its tokens (in memory or as mapped shards); copies share them.
struct Dataset {
  std::string name{};  ///< for people: "stories", or the path
  TokenizerPtr tokenizer{};
  TokenSequence train{}, validation{};
  std::optional<double> entropy_floor{};  ///< nats per token that no model can beat, where it is known
  std::shared_ptr<const void> storage{};  ///< keeps the tokens valid
};

/// About `bytes` bytes of built-in stories (docs/data.md), whole stories only. The floor is the exact entropy
/// of the grammar: the text is ASCII, so nats per byte and per character are the same;
/// per token of another vocabulary it is not known.
Dataset stories_dataset(size_t bytes, uint64_t seed, const Vocabulary& vocabulary = Vocabulary::characters);

/// A text file, or every file below a folder in the order of their names, plain or as JSON Lines, compressed
/// or not (docs/data.md). Of plain text the last tenth of the tokens is for validation, of JSON Lines a tenth
/// of the documents: what prepare_text does by default. Keeps two bytes per token (four beyond 65,536 kinds).
/// Throws Error on a missing, empty or (for characters) not UTF-8 file.
Dataset text_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

/// A folder written by prepare_text or save_dataset: tokenizer.json, dataset.json and token shards. The
/// tokens stay on the disk, mapped.
Dataset shard_dataset(const std::filesystem::path& folder);

/// Whether `path` holds tokens, not text: a folder that shard_dataset can open, as far as its names tell, or
/// a token file of llm.c or a folder of them (see llmc_tokens.h).
bool is_prepared(const std::filesystem::path& path);

/// Writes `dataset` to `folder`, which is made if missing, as prepare_text does.
void save_dataset(const Dataset& dataset, const std::filesystem::path& folder);

/// text_dataset unless is_prepared(path). What prepare_text wrote has its vocabulary already: `vocabulary` is
/// only compared when it names a file, and Error is thrown when it is another one. Files of llm.c have none,
/// but for a tokenizer.json in their folder: `vocabulary` must name one. Of these, files with "val" in their
/// names are for validation; without one, the last tenth of the tokens is.
Dataset open_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

/// What a model is evaluated on, in `validation`: that part of a prepared folder, or all of a text, read as
/// text_dataset does but without the end-of-text token after plain text. `vocabulary` is the model's; Error
/// is thrown when the tokens of a folder are of another one.
Dataset evaluation_dataset(const std::filesystem::path& path, const Vocabulary& vocabulary);

}  // namespace cladtorch::data
