// What a training run reads: a vocabulary, training tokens, validation tokens, and the floor where it is
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cladtorch/data/token_span.h"
#include "cladtorch/data/tokenizer.h"
#include "cladtorch/data/vocabulary.h"

namespace cladtorch::data {

/// Owns its tokens (in memory or as mapped shards); copies share them.
struct Dataset {
  std::string name;  ///< for people: "stories", or the path
  TokenizerPtr tokenizer;
  TokenSpan train;                      ///< the first nine tenths of the text
  TokenSpan validation;                 ///< the rest
  std::optional<double> entropy_floor;  ///< nats per token that no model can beat, where it is known
  std::shared_ptr<const void> storage;  ///< keeps the spans valid
};

/// The last 1/10 of the tokens is for validation.
inline constexpr size_t validation_share = 10;

/// About `bytes` bytes of built-in stories (docs/data.md), whole stories only. The floor is the exact entropy
/// of the grammar: the text is ASCII, so nats per byte and per character are the same; per token of
/// another vocabulary it is not known.
Dataset stories_dataset(size_t bytes, uint64_t seed, const Vocabulary& vocabulary = Vocabulary::characters);

/// A text file, or every file below a folder in the order of their names. Reads it in pieces; keeps two bytes
/// per token (four beyond 65,536 kinds). Throws Error on a missing, empty or (for characters) not UTF-8 file.
Dataset text_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

/// A folder written by prepare_text or save_dataset: tokenizer.json, dataset.json, train.tokens,
/// validation.tokens. The tokens stay on the disk, mapped.
Dataset shard_dataset(const std::filesystem::path& folder);

/// Whether `path` is a folder that shard_dataset can open, as far as its names tell.
bool is_prepared(const std::filesystem::path& path);

/// Writes `dataset` to `folder`, which is made if missing. An older dataset in it is no dataset any more from
/// the first write on, and the new one is a dataset after the last.
void save_dataset(const Dataset& dataset, const std::filesystem::path& folder);

/// text_dataset written straight to shards in `folder`, in bounded memory whatever the size of the text.
/// Throws Error when `path` holds prepared tokens, or `folder` lies in it and would be read as text next
/// time.
void prepare_text(const std::filesystem::path& path, const std::filesystem::path& folder,
                  const Vocabulary& vocabulary = Vocabulary::characters);

/// shard_dataset if is_prepared(path), text_dataset otherwise. Prepared tokens have their vocabulary already:
/// `vocabulary` is only compared when it names a file, and Error is thrown when it is another one.
Dataset open_dataset(const std::filesystem::path& path,
                     const Vocabulary& vocabulary = Vocabulary::characters);

}  // namespace cladtorch::data
