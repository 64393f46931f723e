// Trains models of text.
//
//     text_models characters [FILE [STEPS]]      an LSTM that continues the text
//     text_models topics [FOLDER [EPOCHS]]       from which file a fortune of Debian's package "fortunes" is
#include <cstdio>
#include <cstdlib>

#include "training.h"

namespace {

void characters(const std::string& path, int64_t steps) {
  const std::string all = text::read_file(path);
  const text::Alphabet alphabet(all);
  std::printf("%zu characters, %lld different ones\n", all.size(), static_cast<long long>(alphabet.size()));
  const text::CharacterLstm model =
      text::train_characters(alphabet.encode(all), alphabet.size(), steps, 1, [&](int64_t step, double loss) {
        if (step % (steps / 10 + 1) == 0 || step + 1 == steps)
          std::printf("step %5lld  loss %.3f\n", static_cast<long long>(step), loss), std::fflush(stdout);
      });
  std::printf("\n%s\n", text::continued(model, alphabet, all.substr(0, 1), 400, 2).c_str());
}

void topics(const std::string& folder, int64_t epochs) {
  if (!std::filesystem::exists(folder))
    cladtorch::fail("there is no folder ", folder, "; install the package fortunes, or name a folder");
  const text::Labelled all =
      text::read_fortunes(folder, {"art", "computers", "definitions", "knghtbrd", "men-women", "politics",
                                   "science", "songs-poems", "startrek", "work", "zippy"});
  text::Labelled training, others;
  training.classes = others.classes = all.classes;
  for (size_t i = 0; i < all.size(); ++i) {
    text::Labelled& part = i % 10 == 9 ? others : training;
    part.texts.push_back(all.texts[i]);
    part.labels.push_back(all.labels[i]);
  }
  const text::Vocabulary vocabulary(training.texts);
  std::printf("%zu texts of %zu topics, %lld words\n", training.size(), training.classes.size(),
              static_cast<long long>(vocabulary.size()));
  const int64_t steps = epochs * static_cast<int64_t>(training.size() / 32);
  double average = 0;
  const text::TopicClassifier model =
      text::train_topics(training, vocabulary, epochs, 1, [&](int64_t step, double loss) {
        average = step == 0 ? loss : 0.98 * average + 0.02 * loss;
        if (step % (steps / 10 + 1) == 0 || step + 1 == steps)
          std::printf("step %5lld  loss %.3f\n", static_cast<long long>(step), average), std::fflush(stdout);
      });
  std::vector<int64_t> counts(all.classes.size());
  for (const int32_t label : others.labels) ++counts[static_cast<size_t>(label)];
  std::printf("accuracy on %zu texts not trained on: %.1f %% (the largest topic has %.1f %%)\n",
              others.size(), 100 * text::accuracy(model, others, vocabulary),
              100.0 * static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
                  static_cast<double>(others.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  const int64_t count = argc > 3 ? std::atoll(argv[3]) : task == "topics" ? 8 : 1000;
  if ((task != "topics" && task != "characters") || argc > 4 || count < 1) {
    std::fprintf(stderr, "usage: text_models characters [FILE [STEPS]], or topics [FOLDER [EPOCHS]]\n");
    return 2;
  }
  try {
    if (task == "topics") {
      topics(argc > 2 ? argv[2] : "/usr/share/games/fortunes", count);
    } else {
      characters(argc > 2 ? argv[2] : "/usr/share/common-licenses/GPL-3", count);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "text_models: %s\n", error.what());
    return 1;
  }
  return 0;
}
