#include "cladtorch/data/stories.h"

#include <set>

#include "data/stories/stories_source.h"

namespace cladtorch::data {

const Grammar& story_grammar() {
  static const Grammar grammar(std::string(story_words) + story_plots, "story");
  return grammar;
}

std::string generate_stories(size_t bytes, uint64_t seed) {
  Random random(seed);
  std::string text;
  while (text.size() < bytes) story_grammar().sample(random, text);
  return text;
}

std::vector<char32_t> story_characters() {
  std::set<char32_t> found;
  for (const Grammar::Node& node : story_grammar().nodes()) {
    for (char c : node.text) found.insert(static_cast<unsigned char>(c));
  }
  return {found.begin(), found.end()};
}

double story_entropy() { return story_grammar().statistics().nats_per_byte(); }

}  // namespace cladtorch::data
