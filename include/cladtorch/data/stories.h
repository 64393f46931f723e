// The built-in training text: short English stories from a probabilistic grammar whose entropy is known
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cladtorch/data/grammar.h"

namespace cladtorch::data {

/// The grammar of one story, separator included (its source is data/stories/words.cpp and plots.cpp).
const Grammar& story_grammar();

/// Whole stories, one after another, until there are at least `bytes` bytes. They are the same on every
/// machine.
std::string generate_stories(size_t bytes, uint64_t seed);

/// Every character that a story can contain, ascending; all are ASCII.
std::vector<char32_t> story_characters();

/// The exact entropy of the endless stream of stories, in nats per byte.
double story_entropy();

}  // namespace cladtorch::data
