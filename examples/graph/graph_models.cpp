// Trains models through the computation graph.
//
//     graph_models topics [FOLDER [EPOCHS]]   a classifier of texts, beside its compiled gradient: both must
//     have
//                                             the same losses to the last bit
//     graph_models formulas [STEPS]           a network in the shape of each formula that it evaluates
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cladtorch/graph/tensors.h"
#include "examples/graph/models.h"
#include "examples/text/text.h"

namespace {

using namespace graph_example;
using Clock = std::chrono::steady_clock;

double topic_loss(const Classifier& model, const Tensor& words, const Tensor& offsets, const Tensor& labels) {
  return mean_loss(model, words, offsets, labels).item();
}

/// Some texts, one behind the other.
struct Texts {
  Tensor words, offsets, labels;

  Texts(const text::Labelled& all, std::span<const size_t> chosen, const text::Vocabulary& vocabulary) {
    std::vector<int32_t> ids, starts, classes;
    for (const size_t i : chosen) {
      starts.push_back(static_cast<int32_t>(ids.size()));
      classes.push_back(all.labels[i]);
      for (const std::string& word : text::words_of(all.texts[i])) {
        const auto found = vocabulary.numbers.find(word);
        ids.push_back(found == vocabulary.numbers.end() ? 0 : found->second);
      }
      if (starts.back() == static_cast<int32_t>(ids.size())) ids.push_back(0);
    }
    const auto tensor = [](const std::vector<int32_t>& values) {
      return cladtorch::from_values<int32_t>({static_cast<int64_t>(values.size())}, values);
    };
    words = tensor(ids), offsets = tensor(starts), labels = tensor(classes);
  }
};

/// A model that is trained in one of the two ways, with what that takes.
template <class Gradient>
struct Trained {
  Classifier model, gradient;
  Gradient add_gradient;
  cladtorch::SGD optimizer;
  cladtorch::Workspace workspace;
  double seconds = 0;

  Trained(const Classifier& start, Gradient f)
      : model(copy_of(start)),
        gradient(cladtorch::like(start)),
        add_gradient(f),
        optimizer(model, {.lr = 0.2, .momentum = 0.9}) {}
  static Classifier copy_of(Classifier model) {
    cladtorch::for_each_parameter(model, [](const std::string&, Tensor& x) { x = x.clone(); });
    return model;
  }
  double step(const Texts& texts) {
    const auto start = Clock::now();
    const cladtorch::Workspace::Step memory(workspace);
    const double loss = add_gradient(model, texts, &gradient);
    optimizer.step(gradient);
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    return loss;
  }
};

void topics(const std::string& folder, int64_t epochs) {
  if (!text::fs::exists(folder))
    cladtorch::fail("there is no folder ", folder, "; install the package fortunes, or name a folder");
  const text::Labelled all = text::read_fortunes(
      folder, {"art", "computers", "definitions", "politics", "science", "songs-poems", "startrek", "zippy"});
  std::vector<size_t> training, others;
  std::vector<std::string> seen;
  for (size_t i = 0; i < all.size(); ++i) {
    (i % 10 == 9 ? others : training).push_back(i);
    if (i % 10 != 9) seen.push_back(all.texts[i]);
  }
  const text::Vocabulary vocabulary(seen);
  Random random(1);
  const Classifier start(vocabulary.size(), static_cast<int64_t>(all.classes.size()), random);

  auto derivative = clad::value_and_gradient(topic_loss, "model");
  Trained by_graph(start, [](const Classifier& model, const Texts& x, Classifier* gradient) {
    const auto loss = [](const Classifier& m, const Texts& t) {
      return mean_loss(m, t.words, t.offsets, t.labels);
    };
    return cladtorch::graph::value_and_grad(loss, model, gradient, x).item();
  });
  Trained compiled(start, [&](const Classifier& model, const Texts& x, Classifier* gradient) {
    return derivative.execute(model, x.words, x.offsets, x.labels, gradient);
  });

  constexpr size_t batch = 32;
  std::printf("%zu texts of %zu topics, %lld words\n  epoch   loss through the graph   compiled\n",
              training.size(), all.classes.size(), static_cast<long long>(vocabulary.size()));
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const Tensor places = cladtorch::randperm(static_cast<int64_t>(training.size()), random);
    double sums[2] = {};
    size_t steps = 0;
    for (size_t first = 0; first + batch <= training.size(); first += batch, ++steps) {
      std::vector<size_t> chosen;
      for (size_t i = first; i < first + batch; ++i)
        chosen.push_back(training[static_cast<size_t>(places.data<int32_t>()[i])]);
      const Texts texts(all, chosen, vocabulary);
      const double losses[] = {by_graph.step(texts), compiled.step(texts)};
      if (losses[0] != losses[1])
        cladtorch::fail("step ", steps, " of epoch ", epoch, ": the losses differ: ", losses[0], " and ",
                        losses[1]);
      for (int k : {0, 1}) sums[k] += losses[k];
    }
    std::printf("%7lld %24.15f %24.15f\n", static_cast<long long>(epoch),
                sums[0] / static_cast<double>(steps), sums[1] / static_cast<double>(steps));
  }
  const Texts unseen(all, others, vocabulary);
  std::printf("the losses of all steps are equal; accuracy on %zu texts not trained on: %.1f %%\n",
              others.size(),
              100 * accuracy(by_graph.model.forward(unseen.words, unseen.offsets), unseen.labels));
  const auto report = [](const char* name, const auto& trained) {
    std::printf("%-10s %7.3f s, %7.1f KiB at most in a step\n", name, trained.seconds,
                static_cast<double>(trained.workspace.statistics().arena_bytes) / 1024);
  };
  report("graph", by_graph);
  report("compiled", compiled);
}

void formulas(int64_t steps) {
  Random random(2);
  Evaluator model(random), gradient = cladtorch::like(model);
  cladtorch::AdamW optimizer(model, {.lr = 3e-3, .weight_decay = 0});
  cladtorch::TensorList gradients(gradient);
  double average = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    double loss = 0;
    for (int i = 0; i < 8; ++i) {
      const Formula formula = random_formula(1 + static_cast<int64_t>(random.below(8)), random);
      const auto loss_of = [](const Evaluator& m, const Formula& f) { return mean_loss(m, f); };
      loss += cladtorch::graph::value_and_grad(loss_of, model, &gradient, formula).item() / 8;
    }
    clip_grad_norm(gradients, 8.0);
    optimizer.step(gradients);
    average = step == 1 ? loss : 0.99 * average + 0.01 * loss;
    if (step % (steps / 10 + 1) == 0 || step == steps) {
      std::printf("step %5lld  loss %.4f\n", static_cast<long long>(step), average);
      std::fflush(stdout);
    }
  }
  for (const int64_t operators : {3, 8, 16, 32}) {
    int right = 0;
    Formula last{'0', nullptr, nullptr};
    for (int i = 0; i < 200; ++i) {
      last = random_formula(operators, random);
      const Tensor scores = model.forward(last);
      right += (scores.data<float>()[1] > scores.data<float>()[0]) == last.value();
    }
    std::printf("%2lld operators: %5.1f %% right, as for %s = %d\n", static_cast<long long>(operators),
                right / 2.0, operators < 9 ? last.text().c_str() : "...", last.value());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  const bool of_topics = task == "topics";
  const char* const number = argc > (of_topics ? 3 : 2) ? argv[of_topics ? 3 : 2] : of_topics ? "8" : "3000";
  const int64_t count = std::atoll(number);
  if ((!of_topics && task != "formulas") || argc > (of_topics ? 4 : 3) || count < 1) {
    std::fprintf(stderr, "usage: graph_models topics [FOLDER [EPOCHS]], or formulas [STEPS]\n");
    return 2;
  }
  try {
    if (of_topics) {
      topics(argc > 2 ? argv[2] : "/usr/share/games/fortunes", count);
    } else {
      formulas(count);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph_models: %s\n", error.what());
    return 1;
  }
  return 0;
}
