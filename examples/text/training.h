// Training of the models of text.
#pragma once

#include <functional>

#include "cladtorch/train/adamw.h"
#include "cladtorch/train/lr_scheduler.h"
#include "cladtorch/train/tensor_list.h"
#include "text.h"

namespace text {

using Report = std::function<void(int64_t step, double loss)>;

/// Random windows of the text, 64 characters each.
inline CharacterLstm train_characters(const Tensor& ids, int64_t characters, int64_t steps, uint64_t seed,
                                      const Report& report) {
  constexpr int64_t length = 64, batch = 32;
  constexpr double lr = 3e-3;
  cladtorch::require(ids.size(0) > length + 1, "the text has ", ids.size(0),
                     " characters, expected more than ", length + 1);
  Random random(seed);
  CharacterLstm model(characters, random), gradient = cladtorch::like(model);
  cladtorch::TensorList gradients(gradient);
  cladtorch::AdamW optimizer(model, {.lr = lr});
  cladtorch::Workspace workspace;
  for (int64_t step = 0; step < steps; ++step) {
    const cladtorch::Workspace::Step memory(workspace);
    const Tensor x = cladtorch::empty({length, batch}, DType::int32),
                 y = cladtorch::empty(x.shape(), DType::int32);
    for (int64_t i = 0; i < batch; ++i) {
      const auto first = static_cast<int64_t>(random.below(static_cast<uint64_t>(ids.size(0) - length)));
      Tensor(x.select(1, i)).copy_from(ids.narrow(0, first, length));
      Tensor(y.select(1, i)).copy_from(ids.narrow(0, first + 1, length));
    }
    const double loss = loss_and_gradient(model, x, y, &gradient);
    clip_grad_norm(gradients, 1.0);
    optimizer.set_lr(cladtorch::OneCycleLR{.max_lr = lr, .total_steps = steps, .pct_start = 0.1}.at(step));
    optimizer.step(gradients);
    report(step, loss);
  }
  return model;
}

/// Continues a text by `count` characters, each drawn by its probability.
inline std::string continued(const CharacterLstm& model, const Alphabet& alphabet, std::string text,
                             int64_t count, uint64_t seed) {
  Random random(seed);
  nn::RecurrentResult state = model.lstm.forward(model.embedding(alphabet.encode(text).unsqueeze(1)));
  for (int64_t i = 0; i < count; ++i) {
    const Tensor last = state.output.select(0, state.output.size(0) - 1);
    const Tensor p = softmax(model.out(last) * 1.25);  // a little sharper than the model's own
    double left = random.uniform();
    int64_t next = 0;
    while (next + 1 < alphabet.size() && (left -= static_cast<double>(p.data<float>()[next])) > 0) ++next;
    text += alphabet.characters[static_cast<size_t>(next)];
    state = model.lstm.forward(model.embedding(alphabet.encode(text.substr(text.size() - 1)).unsqueeze(1)),
                               Tensor(), state.h, state.c);
  }
  return text;
}

/// Every text once in each epoch, in random order.
inline TopicClassifier train_topics(const Labelled& all, const Vocabulary& vocabulary, int64_t epochs,
                                    uint64_t seed, const Report& report) {
  constexpr int64_t batch = 32;
  constexpr double lr = 3e-3;
  Random random(seed);
  TopicClassifier model(vocabulary.size(), static_cast<int64_t>(all.classes.size()), random),
      gradient = cladtorch::like(model);
  cladtorch::TensorList gradients(gradient);
  cladtorch::AdamW optimizer(model, {.lr = lr, .weight_decay = 0.02});
  cladtorch::Workspace workspace;
  const auto count = static_cast<int64_t>(all.size());
  const int64_t steps = epochs * (count / batch);
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const Tensor order = cladtorch::randperm(count, random);
    for (int64_t first = 0; first + batch <= count; first += batch, ++step) {
      std::vector<size_t> chosen;
      for (int64_t i = first; i < first + batch; ++i)
        chosen.push_back(static_cast<size_t>(order.data<int32_t>()[i]));
      const Batch texts(all, chosen, vocabulary);
      const cladtorch::Workspace::Step memory(workspace);
      const cladtorch::TrainingScope training(seed, static_cast<uint64_t>(step));
      const double loss = loss_and_gradient(model, texts, &gradient);
      clip_grad_norm(gradients, 1.0);
      optimizer.set_lr(cladtorch::OneCycleLR{.max_lr = lr, .total_steps = steps}.at(step));
      optimizer.step(gradients);
      report(step, loss);
    }
  }
  return model;
}

/// The share of texts whose topic is found.
inline double accuracy(const TopicClassifier& model, const Labelled& all, const Vocabulary& vocabulary) {
  int64_t right = 0;
  constexpr size_t batch = 64;
  for (size_t first = 0; first < all.size(); first += batch) {
    std::vector<size_t> chosen;
    for (size_t i = first; i < std::min(all.size(), first + batch); ++i) chosen.push_back(i);
    const Batch texts(all, chosen, vocabulary);
    const Tensor found = argmax(model.forward(texts.words, texts.lengths), 1);
    for (int64_t i = 0; i < found.numel(); ++i)
      right += found.data<int32_t>()[i] == std::as_const(texts.labels).data<int32_t>()[i];
  }
  return static_cast<double>(right) / static_cast<double>(all.size());
}

}  // namespace text
