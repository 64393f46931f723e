// The gradients of the models of text, and that they learn.
#include <gtest/gtest.h>

#include "cladtorch/testing/gradcheck.h"
#include "training.h"

namespace text {
namespace {

const Report silent = [](int64_t, double) {};

TEST(Text, GradientsMatchDifferences) {
  Random random(1);
  const CharacterLstm characters(7, random);
  const Tensor ids = randint(0, 7, {5, 3}, random), next = randint(0, 7, {5, 3}, random);
  EXPECT_TRUE(cladtorch::gradcheck(
      characters, [&](const CharacterLstm& m) { return character_loss(m, ids, next); },
      [&](const CharacterLstm& m, CharacterLstm* d) { loss_and_gradient(m, ids, next, d); }));

  Labelled all{{"one two two", "three", "two one three four three"}, {0, 1, 2}, {"a", "b", "c"}};
  const Batch batch(all, {0, 1, 2}, Vocabulary(all.texts));
  EXPECT_TRUE(cladtorch::gradcheck(
      TopicClassifier(4, 3, random),
      [&](const TopicClassifier& m) { return topic_loss(m, batch.words, batch.lengths, batch.labels); },
      [&](const TopicClassifier& m, TopicClassifier* d) { loss_and_gradient(m, batch, d); }));
}

TEST(Text, AnLstmLearnsASentence) {
  std::string sentence = "the compiler writes the backward pass. ";
  std::string text;
  for (int i = 0; i < 20; ++i) text += sentence;
  const Alphabet alphabet(text);
  const CharacterLstm model = train_characters(alphabet.encode(text), alphabet.size(), 60, 1, silent);
  EXPECT_NE(continued(model, alphabet, "the comp", 120, 1).find("the backward pass."), std::string::npos);
}

TEST(Text, TopicsAreLearnt) {
  Labelled all;
  all.classes = {"animals", "numbers"};
  Random random(2);
  const std::vector<std::string> animals{"cat", "dog", "cow", "hen"}, numbers{"one", "two", "six", "ten"};
  for (int i = 0; i < 256; ++i) {
    std::string text;
    for (uint64_t k = 0; k <= random.below(6); ++k)
      text += (i % 2 ? numbers : animals)[random.below(4)] + " and ";
    all.texts.push_back(text);
    all.labels.push_back(i % 2);
  }
  const Vocabulary vocabulary(all.texts);
  EXPECT_EQ(vocabulary.size(), 10);
  EXPECT_GT(accuracy(train_topics(all, vocabulary, 6, 1, silent), all, vocabulary), 0.95);
}

TEST(Text, FortunesAreDividedByPercentSigns) {
  const fs::path folder = fs::temp_directory_path() / "cladtorch-fortunes";
  fs::create_directories(folder);
  std::ofstream(folder / "a") << "first of a\n%\nsecond of a,\nin two lines\n%\n";
  std::ofstream(folder / "b") << "the one of b\n";
  const Labelled all = read_fortunes(folder, {"a", "b"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.labels, (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(words_of(all.texts[1]), (std::vector<std::string>{"second", "of", "a", "in", "two", "lines"}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace text
