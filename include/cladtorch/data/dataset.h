// The data of a training run: a vocabulary, training tokens, validation tokens, and the floor if it is known.
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
  std::string name{};  ///< for messages: "stories", or the path
  TokenizerPtr tokenizer{};
  TokenSequence train{}, validation{};
  std::optional<double> entropy_floor{};  ///< nats per token that no model can beat, if it is known
  std::shared_ptr<const void> storage{};  ///< keeps the tokens valid
};

/// About `bytes` bytes of built-in stories (docs/data.md), in whole stories. The floor is the exact entropy
/// of the grammar. The text is ASCII, so nats per byte and per character are the same; the floor per token of
/// another vocabulary is not known.
Dataset stories_dataset(size_t bytes, uint64_t seed, const Vocabulary& vocabulary = Vocabulary::characters);

/// A text file, or every file below a folder in the order of their names, plain or as JSON Lines, compressed
/// or not (docs/data.md). As prepare_text does by default, it uses the last tenth of the tokens of plain
/// text, or a tenth of the documents of JSON Lines, for validation. Keeps two bytes per token, or four if the
/// vocabulary has more than 65,536 tokens. Throws Error on a missing, empty or (for characters) not UTF-8
/// file.
Dataset text_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

/// A folder written by prepare_text or save_dataset: tokenizer.json, dataset.json and token shards. The
/// tokens stay on the disk, mapped.
Dataset shard_dataset(const std::filesystem::path& folder);

/// Whether `path` holds tokens, not text. Judged by its names, it is a folder that shard_dataset can open, or
/// a token file of llm.c or a folder of them (see llmc_tokens.h).
bool is_prepared(const std::filesystem::path& path);

/// Writes `dataset` to `folder`, which is created if it is missing, as prepare_text does.
void save_dataset(const Dataset& dataset, const std::filesystem::path& folder);

/// Opens text, or prepared tokens if is_prepared(path). A folder of prepare_text has its own vocabulary; if
/// `vocabulary` names a file, the two are compared, and Error is thrown if they differ. Files of llm.c have
/// no vocabulary, so `vocabulary` must name one unless a tokenizer.json is in their folder. Among these,
/// files with "val" in their names are for validation; if there are none, the last tenth of the tokens is.
Dataset open_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

/// The tokens on which a model is evaluated, in `validation`: the validation part of a prepared folder, or
/// all of a text, read as text_dataset does but without the end-of-text token after plain text. `vocabulary`
/// is the model's; Error is thrown if the tokens of a folder belong to another one.
Dataset evaluation_dataset(const std::filesystem::path& path, const Vocabulary& vocabulary);

}  // namespace cladtorch::data
