// Texts as tensors, and the models of this folder.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "cladtorch/cladtorch.h"

namespace text {

using cladtorch::DType;
using cladtorch::Random;
using cladtorch::Tensor;
namespace nn = cladtorch::nn;
namespace fs = std::filesystem;

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  cladtorch::require(file.good(), "cannot read ", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The characters of a text, numbered.
struct Alphabet {
  std::string characters;
  std::map<char, int32_t> numbers;

  explicit Alphabet(const std::string& text) : characters(text) {
    std::sort(characters.begin(), characters.end());
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    for (const char c : characters) numbers.emplace(c, static_cast<int32_t>(numbers.size()));
  }
  int64_t size() const { return static_cast<int64_t>(characters.size()); }
  Tensor encode(const std::string& text) const {
    Tensor ids = cladtorch::empty({static_cast<int64_t>(text.size())}, DType::int32);
    for (size_t i = 0; i < text.size(); ++i) ids.data<int32_t>()[i] = numbers.at(text[i]);
    return ids;
  }
};

/// Predicts each character from those before.
struct CharacterLstm {
  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Linear out;

  CharacterLstm(int64_t characters, Random& random)
      : embedding(characters, 64, random, 0.5),
        lstm(64, 256, random),
        out(256, characters, random, true, 0.05) {}
  /// Scores [T, N, characters] of what follows each of ids [T, N].
  Tensor forward(const Tensor& ids) const { return out(lstm.forward(embedding(ids)).output); }
  CLADTORCH_PARAMETERS(embedding, lstm, out)
};
inline double character_loss(const CharacterLstm& model, const Tensor& ids, const Tensor& next) {
  return cross_entropy(model.forward(ids), next).item();
}
inline double loss_and_gradient(const CharacterLstm& model, const Tensor& ids, const Tensor& next,
                                CharacterLstm* gradient) {
  auto step = clad::value_and_gradient(character_loss, "model");
  return step.execute(model, ids, next, gradient);
}

/// Texts with the number of their class.
struct Labelled {
  std::vector<std::string> texts;
  std::vector<int32_t> labels;
  std::vector<std::string> classes;

  size_t size() const { return texts.size(); }
};

/// The fortunes of files in a folder, each file a class. Fortunes are divided by lines with a percent sign
/// alone.
inline Labelled read_fortunes(const fs::path& folder, const std::vector<std::string>& names) {
  Labelled all;
  for (const std::string& name : names) {
    const std::string text = "\n" + read_file(folder / name) + "\n%\n";
    for (size_t begin = 0, end; (end = text.find("\n%\n", begin)) != std::string::npos; begin = end + 2) {
      if (end - begin < 8) continue;
      all.texts.push_back(text.substr(begin, end - begin));
      all.labels.push_back(static_cast<int32_t>(all.classes.size()));
    }
    all.classes.push_back(name);
  }
  return all;
}

/// Lower-case words, without punctuation.
inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The words that occur twice or more; 0 stands for all others.
struct Vocabulary {
  std::map<std::string, int32_t> numbers;

  explicit Vocabulary(const std::vector<std::string>& texts) {
    std::map<std::string, int> counts;
    for (const std::string& one : texts)
      for (const std::string& word : words_of(one)) ++counts[word];
    for (const auto& [word, count] : counts)
      if (count > 1) numbers.emplace(word, static_cast<int32_t>(numbers.size() + 1));
  }
  int64_t size() const { return static_cast<int64_t>(numbers.size()) + 1; }
};

/// Some texts as words [T, N] with their lengths [N] and labels [N]; T is that of the longest, at most `most`
/// words.
struct Batch {
  Tensor words, lengths, labels;

  Batch(const Labelled& all, const std::vector<size_t>& chosen, const Vocabulary& vocabulary,
        size_t most = 48) {
    const auto n = static_cast<int64_t>(chosen.size());
    lengths = cladtorch::empty({n}, DType::int32);
    labels = cladtorch::empty({n}, DType::int32);
    std::vector<std::vector<std::string>> texts;
    size_t longest = 1;
    for (const size_t i : chosen) {
      texts.push_back(words_of(all.texts[i]));
      texts.back().resize(std::clamp<size_t>(texts.back().size(), 1, most));
      longest = std::max(longest, texts.back().size());
    }
    words = cladtorch::zeros({static_cast<int64_t>(longest), n}, DType::int32);
    for (size_t k = 0; k < texts.size(); ++k) {
      lengths.data<int32_t>()[k] = static_cast<int32_t>(texts[k].size());
      labels.data<int32_t>()[k] = all.labels[chosen[k]];
      for (size_t t = 0; t < texts[k].size(); ++t)
        if (const auto found = vocabulary.numbers.find(texts[k][t]); found != vocabulary.numbers.end())
          words.data<int32_t>()[t * texts.size() + k] = found->second;
    }
  }
};

/// Reads a text in both directions.
struct TopicClassifier {
  nn::Embedding embedding;
  nn::Dropout dropout{0.5};
  nn::GRU gru;
  nn::Linear out;

  TopicClassifier(int64_t words, int64_t topics, Random& random)
      : embedding(words, 64, random, 0.3),
        gru(64, 64, random, {.bidirectional = true}),
        out(128, topics, random, true, 0.1) {}
  /// Scores [N, topics]: of the mean of what both directions made of each word.
  Tensor forward(const Tensor& words, const Tensor& lengths) const {
    const Tensor y = gru.forward(dropout(embedding(words)), lengths).output;
    const Tensor mean_of_words = sum(y, 0) / lengths.to(y.dtype()).unsqueeze(1);
    return out(dropout(mean_of_words));
  }
  CLADTORCH_PARAMETERS(embedding, gru, out)
};
inline double topic_loss(const TopicClassifier& model, const Tensor& words, const Tensor& lengths,
                         const Tensor& labels) {
  return cross_entropy(model.forward(words, lengths), labels).item();
}
inline double loss_and_gradient(const TopicClassifier& model, const Batch& batch, TopicClassifier* gradient) {
  auto step = clad::value_and_gradient(topic_loss, "model");
  return step.execute(model, batch.words, batch.lengths, batch.labels, gradient);
}

}  // namespace text
