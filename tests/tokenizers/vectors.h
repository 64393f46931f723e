// The stored vectors of one vocabulary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/data/tokenizer.h"

namespace cladtorch::data {

struct Vectors {
  struct Text {
    std::string text;
    std::vector<int32_t> tokens;
    std::string decoded;
  };
  std::vector<Text> texts;
  std::vector<std::pair<std::string, std::vector<int32_t>>> bytes;  // not UTF-8
  std::vector<std::string> blocks;                                  // hashes of the tokens of block_text(i)
  std::vector<int32_t> around;                                      // tokens that are put around a text
};

/// Where the vocabularies lie, each in a folder.
std::filesystem::path vectors_folder();

Vectors load_vectors(const std::string& name);

/// Every character of the 256 from 256 * block on that was assigned in Unicode 14, in several neighbourhoods;
/// as generate.py writes it.
std::string block_text(size_t block);

std::string hash_of(const std::vector<int32_t>& tokens);

}  // namespace cladtorch::data
