// The source of the story grammar, in two parts that are read one after the other.
#pragma once

namespace cladtorch::data {

extern const char* const story_words;
extern const char* const story_plots;

}  // namespace cladtorch::data
