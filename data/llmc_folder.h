// The token files of llm.c as a dataset.
#pragma once

#include <filesystem>

#include "cladtorch/data/dataset.h"

namespace cladtorch::data {

/// Whether `path` is a token file of llm.c, or a folder that holds one.
bool holds_llmc_tokens(const std::filesystem::path& path);

/// Maps the file, or all such files of the folder in the order of their names. Files with "val" in their
/// names are for validation; without one, the last tenth of the tokens is. The vocabulary is `vocabulary`
/// where that is a file, or else a tokenizer in the folder. Throws Error naming a file that is damaged or has
/// a token outside of the vocabulary, and where it is not known which vocabulary that is.
Dataset read_llmc_folder(const std::filesystem::path& path, const Vocabulary& vocabulary);

}  // namespace cladtorch::data
