#include "cladtorch/data/stories.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <set>

#include "cladtorch/data/ideal_predictor.h"

namespace cladtorch::data {
namespace {

TEST(Stories, TheGrammarIsUnambiguousByConstruction) { EXPECT_EQ(story_grammar().prefix_conflict(), ""); }

TEST(Stories, EachStoryHasOneDerivationAndTheirProbabilitiesAgreeWithTheExactEntropy) {
  const GrammarStatistics exact = story_grammar().statistics();
  constexpr int samples = 4000;
  Random random(11);
  double nats = 0, nats_squared = 0, bytes = 0, bytes_squared = 0;
  for (int i = 0; i < samples; ++i) {
    std::string story;
    story_grammar().sample(random, story);
    const GrammarParse parse = story_grammar().parse(story);
    ASSERT_EQ(parse.derivations, 1u) << story;
    nats -= parse.log_probability;
    nats_squared += parse.log_probability * parse.log_probability;
    bytes += static_cast<double>(story.size());
    bytes_squared += static_cast<double>(story.size() * story.size());
  }
  const auto standard_error = [](double sum, double squares) {
    const double mean = sum / samples;
    return std::sqrt((squares / samples - mean * mean) / samples);
  };
  EXPECT_NEAR(nats / samples, exact.nats, 4 * standard_error(nats, nats_squared));
  EXPECT_NEAR(bytes / samples, exact.bytes, 4 * standard_error(bytes, bytes_squared));
  EXPECT_LT(standard_error(nats, nats_squared), 0.005 * exact.nats);  // so the check above is a sharp one
}

TEST(Stories, AreWholeAndTheSameForTheSameSeed) {
  const std::string text = generate_stories(20000, 5);
  EXPECT_GE(text.size(), 20000u);
  EXPECT_LT(text.size(), 21500u);
  EXPECT_TRUE(text.ends_with(".\n\n"));
  EXPECT_EQ(text, generate_stories(20000, 5));
  EXPECT_EQ(text.substr(0, 300), generate_stories(1, 5).substr(0, 300));
  EXPECT_NE(text, generate_stories(20000, 6));
}

TEST(Stories, DoNotChangeFromVersionToVersionUnnoticed) {
  // A changed grammar changes the floor that the documentation quotes: then update docs/data.md with it.
  EXPECT_NEAR(story_entropy(), 0.328100, 5e-6);
}

TEST(Stories, AreCleanSentences) {
  const std::string text = generate_stories(200000, 8);
  for (char c : text) ASSERT_TRUE(std::isprint(static_cast<unsigned char>(c)) || c == '\n');
  for (const char* blemish :
       {"  ", " ,", " .", " a a", " a e", " a i", " a o", " a u", " an b", " an t", "\n\n\n"}) {
    const size_t at = text.find(blemish);
    ASSERT_EQ(at, std::string::npos) << "'" << blemish << "' in: " << text.substr(at < 40 ? 0 : at - 40, 80);
  }
  for (size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    ASSERT_TRUE(text[at + 2] == '"' || std::isupper(static_cast<unsigned char>(text[at + 2])))
        << text.substr(at, 40);
  }
}

TEST(Stories, NameOnlyOneHeroEach) {
  const std::set<std::string> heroes = {"Pip", "Nell", "Otto", "Fern", "Hugo", "Dot"};
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    std::string story;
    story_grammar().sample(random, story);
    int found = 0;
    for (const std::string& hero : heroes) found += story.find(hero) != std::string::npos;
    ASSERT_EQ(found, 1) << story;
    const bool he = story.find("He ") != std::string::npos || story.find(" he ") != std::string::npos;
    const bool she = story.find("She ") != std::string::npos || story.find(" she ") != std::string::npos;
    ASSERT_FALSE(he && she) << story;
  }
}

TEST(IdealPredictor, AgreesWithTheParserWhereAWindowBeginsWithAStory) {
  // -log P(story) = surprises after a whole story has been read, since then the place in the grammar is
  // known.
  Random random(2);
  std::string first, second;
  story_grammar().sample(random, first);
  story_grammar().sample(random, second);
  const std::vector<double> surprises = IdealPredictor(story_grammar()).surprises(first + second);
  double sum = 0;
  for (size_t i = first.size(); i < surprises.size(); ++i) sum += surprises[i];
  EXPECT_NEAR(sum, -story_grammar().parse(second).log_probability, 5e-6);
}

TEST(IdealPredictor, ProbabilitiesOfAllNextBytesSumToOne) {
  const Grammar grammar("rule start\n  2: <word> <word>.\n  <a word>!\nwords word\n  ant toad tea\n",
                        "start");
  const IdealPredictor predictor(grammar);
  const std::string text = "ant tea.a toad!an ant!tea toad.";
  for (size_t length = 0; length < 12; ++length) {
    double total = 0;
    for (int byte = 0; byte < 256; ++byte) {
      try {
        total += std::exp(-predictor.surprises(text.substr(5, length) + static_cast<char>(byte)).back());
      } catch (const std::exception&) {  // a byte that cannot come here
      }
    }
    EXPECT_NEAR(total, 1, 1e-9) << length;
  }
}

}  // namespace
}  // namespace cladtorch::data
