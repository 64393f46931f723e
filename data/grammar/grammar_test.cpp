#include "cladtorch/data/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using testing::HasSubstr;

std::map<std::string, int> sample_counts(const Grammar& grammar, int samples) {
  Random random(1);
  std::map<std::string, int> counts;
  for (int i = 0; i < samples; ++i) {
    std::string text;
    grammar.sample(random, text);
    ++counts[text];
  }
  return counts;
}

std::string compile_error(const std::string& source) {
  return io::error_of([&] { Grammar(source, "start"); });
}

TEST(Grammar, SamplesEachAlternativeAsOftenAsItsWeightSays) {
  const Grammar grammar("rule start\n  3: a\n  b\n", "start");
  auto counts = sample_counts(grammar, 40000);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts["a"], 30000, 4 * std::sqrt(40000 * 0.75 * 0.25));
}

TEST(Grammar, ComputesEntropyAndLengthOfWeightedAlternatives) {
  const Grammar grammar("rule start\n  3: a\n  b<tail>\nwords tail\n  xx yyyy\n", "start");
  const GrammarStatistics statistics = grammar.statistics();
  EXPECT_DOUBLE_EQ(statistics.nats, -0.75 * std::log(0.75) - 0.25 * std::log(0.25) + 0.25 * std::log(2));
  EXPECT_DOUBLE_EQ(statistics.bytes, 0.75 * 1 + 0.25 * (1 + 3));
}

TEST(Grammar, AVariableKeepsItsValueAndIsPaidForOnce) {
  const Grammar grammar(
      "table hero name he\n  Ann | she\n  Bob | he\nrule start\n  [hero]{hero.name}: {hero.he}, <again>\n"
      "rule again\n  {hero.name}\n",
      "start");
  const auto counts = sample_counts(grammar, 100);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_TRUE(counts.contains("Ann: she, Ann"));
  EXPECT_TRUE(counts.contains("Bob: he, Bob"));
  EXPECT_DOUBLE_EQ(grammar.statistics().nats, std::log(2));
  EXPECT_DOUBLE_EQ(grammar.statistics().bytes, 12.5);
}

TEST(Grammar, PutsArticlesAndCapitalsBeforeTheWordThatComes) {
  const Grammar grammar(
      "words animal\n  owl toad\nrule big\n  <animal>\nrule start\n  <A big> and <a big>. <^big>!\n",
      "start");
  const auto counts = sample_counts(grammar, 200);
  EXPECT_EQ(counts.size(), 8u);
  EXPECT_TRUE(counts.contains("An owl and a toad. Owl!"));
  EXPECT_TRUE(counts.contains("A toad and an owl. Toad!"));
}

TEST(Grammar, JoinsContinuedLinesAndReadsChoicesInBrackets) {
  const Grammar grammar("# a comment\nrule start\n  one (red/blue)\n  + two\\n\n", "start");
  const auto counts = sample_counts(grammar, 50);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_TRUE(counts.contains("one red two\n"));
}

TEST(Grammar, ParsesWhatItSamplesAndNothingElse) {
  const Grammar grammar("rule start\n  3: a\n  b<tail>\nwords tail\n  xx yyyy\n", "start");
  EXPECT_EQ(grammar.parse("bxx").derivations, 1u);
  EXPECT_DOUBLE_EQ(grammar.parse("bxx").log_probability, std::log(0.25) - std::log(2));
  for (const char* foreign : {"", "b", "bx", "bxxx", "aa", "c"}) {
    EXPECT_EQ(grammar.parse(foreign).derivations, 0u) << foreign;
    EXPECT_EQ(grammar.parse(foreign).log_probability, -INFINITY) << foreign;
  }
}

TEST(Grammar, AnAmbiguousTextHasTheSumOfItsDerivations) {
  const Grammar grammar("rule start\n  <x>b\n  a<y>\nwords x\n  a c\nwords y\n  b d\n", "start");
  const GrammarParse parse = grammar.parse("ab");
  EXPECT_EQ(parse.derivations, 2u);
  EXPECT_DOUBLE_EQ(parse.log_probability, std::log(0.5));
  EXPECT_THAT(grammar.prefix_conflict(), HasSubstr("after 'ab'"));
}

TEST(Grammar, FindsAWordThatBeginsAnotherWord) {
  EXPECT_EQ(Grammar("words start\n  bell bench\n", "start").prefix_conflict(), "");
  EXPECT_THAT(Grammar("words start\n  bell bells\n", "start").prefix_conflict(), HasSubstr("after 'bell'"));
  EXPECT_THAT(Grammar("words start\n  bell bell\n", "start").prefix_conflict(), HasSubstr("after 'bell'"));
}

TEST(Grammar, FindsAConflictThatOnlySomeValuesOfAVariableHave) {
  const auto conflict = [](const std::string& name) {
    const std::string table = "table who name\n  " + name + "\n  Bob\n";
    return Grammar(table + "rule start\n  [who]<line>\nrule line\n  {who.name} sang\n  Ann sang on\n",
                   "start")
        .prefix_conflict();
  };
  // Both heroes may begin with the line about Ann, which is a conflict of the choice of hero.
  EXPECT_THAT(conflict("Cyd"), HasSubstr("after 'Ann sang on'"));
  EXPECT_THAT(conflict("Ann"), HasSubstr("after 'Ann sang'"));
}

TEST(Grammar, NamesTheLineOfAMistake) {
  EXPECT_THAT(compile_error("rule start\n  <missing>\n"), HasSubstr("there is no rule 'missing'"));
  EXPECT_THAT(compile_error("rule start\n  <start>\n"), HasSubstr("line 1: rule 'start' uses itself"));
  EXPECT_THAT(compile_error("rule start\n  <open\n"), HasSubstr("line 2: '<' is not closed"));
  EXPECT_THAT(compile_error("table t a b\n  one\n"), HasSubstr("line 2: expected 2 fields, got 1"));
  EXPECT_THAT(compile_error("table t a\n  one\nrule start\n  {t.b}\n"),
              HasSubstr("line 4: table 't' has no column 'b'"));
  EXPECT_THAT(compile_error("table t a\n  one\nrule start\n  {t.a}\n"), HasSubstr("not bound"));
  EXPECT_THAT(compile_error("table t a\n  one\nrule start\n  [t][t]x\n"), HasSubstr("[t] is bound twice"));
  EXPECT_THAT(compile_error("rule start\n  a\nrule start\n  b\n"),
              HasSubstr("line 3: 'start' is defined twice"));
  EXPECT_THAT(compile_error("  a\n"), HasSubstr("line 1: expected 'table', 'words' or 'rule'"));
  EXPECT_THAT(compile_error("rule start\n"), HasSubstr("has no alternatives"));
  EXPECT_THAT(compile_error("rule start\n  0: a\n"), HasSubstr("weight must be at least 1"));
}

}  // namespace
}  // namespace cladtorch::data
