// A run gives the same bits on any number of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/adapter.h"
#include "cladtorch/train/trainer.h"
#include "cladtorch/train/usage_error.h"
#include "comm/thread_ranks.h"
#include "io/temporary_folder.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using testing::HasSubstr;

const data::Dataset& stories() {
  static const data::Dataset dataset = data::stories_dataset(20'000, 1);
  return dataset;
}

TrainConfig small_config() {
  TrainConfig config;
  config.model = {.layers = 2, .heads = 2, .channels = 16, .context = 16, .dropout = 0.1};
  config.train.steps = 4;
  config.train.batch = 2;
  config.train.accumulate = 8;
  config.train.leaves = 8;
  config.train.eval_batches = 3;
  config.schedule.warmup = 2;
  config.optimizer.lr = 0.02;
  return config;
}

std::map<std::string, TrainConfig> configs() {
  std::map<std::string, TrainConfig> all;
  const auto add = [&](const char* name) -> TrainConfig& { return all[name] = small_config(); };
  add("gpt2");
  add("four leaves").train.leaves = 4;
  TrainConfig& llama = add("llama");
  llama.model.kind = "llama";
  llama.model.dropout = 0;
  llama.run.dtype = "bf16";
  add("muon").optimizer.kind = "muon";
  add("fp8").run.dtype = "fp8";
  add("recomputed").model.gradient_checkpointing = true;
  // What ranks share and when they send it.
  add("nothing shared").distributed.zero = 0;
  add("small buckets").distributed.bucket_mb = 0.002;
  add("one after the other").distributed.overlap = false;
  TrainConfig& gradients = add("gradients shared");
  gradients.distributed.zero = 2;
  gradients.distributed.bucket_mb = 0.002;
  gradients.train.accumulate = 16;
  TrainConfig& muon_gradients = all["gradients shared, muon"] = gradients;
  muon_gradients.optimizer.kind = "muon";
  muon_gradients.distributed.overlap = false;
  TrainConfig& frozen = add("frozen");
  frozen.train.freeze = "wte.*,wpe.*,h.0.*";
  return all;
}

/// What a run computes, as text in which each bit shows.
std::string trace(Trainer& trainer, int64_t steps) {
  std::string trace;
  const auto add = [&](double value) { trace += std::to_string(std::bit_cast<uint64_t>(value)) + " "; };
  for (int64_t i = 0; i < steps; ++i) {
    const StepRecord record = trainer.step();
    add(record.loss);
    add(record.grad_norm);
  }
  add(trainer.evaluate());
  for (const NamedTensor& named : trainer.model().parameters()) {
    trace += named.name + " ";
    const auto* bytes = static_cast<const unsigned char*>(named.tensor.data());
    uint64_t hash = 1469598103934665603u;  // FNV-1a
    for (size_t i = 0; i < named.tensor.nbytes(); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
    trace += std::to_string(hash) + " ";
  }
  return trace;
}

std::unique_ptr<Trainer> trainer_of(const TrainConfig& config, comm::Communicator& ranks) {
  return std::make_unique<Trainer>(config, stories(), make_model(config, stories().tokenizer->vocab_size()),
                                   std::nullopt, ranks);
}

TEST(Ranks, GiveTheSameBitsWhateverTheirNumber) {
  for (const auto& [name, config] : configs()) {
    const std::string alone = trace(*trainer_of(config, comm::self()), config.train.steps);
    for (const int ranks : {2, 3, 4, 5, 8}) {
      if (ranks > config.train.leaves) continue;
      comm::run_ranks(ranks, 5, [&](comm::Communicator& communicator) {
        EXPECT_EQ(trace(*trainer_of(config, communicator), config.train.steps), alone)
            << name << " on " << ranks << " ranks";
      });
    }
  }
}

/// Keeps what lies in each gradient when a contribution to it is written.
class Snapshots final : public GradientListener {
 public:
  explicit Snapshots(TensorList& gradients) : gradients_(gradients), last_(gradients.size()) {
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i].tensor.set_listener(this, i);
  }
  void begins(size_t) override {}
  void written(size_t i) noexcept override { last_[i] = bytes(i); }
  std::string bytes(size_t i) const {
    const Tensor& tensor = gradients_[i].tensor;
    return {static_cast<const char*>(tensor.data()), tensor.nbytes()};
  }
  const std::string& last(size_t i) const { return last_[i]; }

 private:
  TensorList& gradients_;
  std::vector<std::string> last_;
};

TEST(Ranks, HearOfGradientsWhenTheyAreWritten) {
  for (const auto& [name, config] : configs()) {
    std::unique_ptr<LanguageModel> model = make_model(config, stories().tokenizer->vocab_size());
    if (config.run.dtype == "bf16") model = model->to(DType::bfloat16);
    const Tensor memory = zeros({model->gradient_elements()});
    const std::unique_ptr<LanguageModel> gradient = model->gradient_in(memory);
    TensorList gradients(gradient->parameters());
    Snapshots snapshots(gradients);
    const Tensor tokens = arange(32, DType::int32).reshape({2, 16});
    for (int i = 0; i < 2; ++i) model->loss_and_gradient(tokens, tokens, *gradient);
    for (size_t i = 0; i < gradients.size(); ++i)
      EXPECT_EQ(snapshots.last(i), snapshots.bytes(i)) << name << ": " << gradients[i].name;
  }
}

TEST(Ranks, GoOnBitForBitOnAnotherNumber) {
  for (const char* name : {"gpt2", "llama", "fp8"}) {
    const TrainConfig config = configs().at(name);
    const std::string straight = [&] {
      const auto trainer = trainer_of(config, comm::self());
      trainer->step();
      trainer->step();
      return trace(*trainer, 2);
    }();
    for (const int before : {1, 2, 3, 8})
      for (const int after : {1, 3, 4}) {
        const io::TemporaryFolder folder;
        comm::run_ranks(before, 2, [&](comm::Communicator& ranks) {
          const auto trainer = trainer_of(config, ranks);
          trainer->step();
          trainer->step();
          trainer->begin_save(folder / "last");
          trainer->step();  // what is done after the save began is lost
        });
        comm::run_ranks(after, 2, [&](comm::Communicator& ranks) {
          const auto trainer = trainer_of(config, ranks);
          trainer->restore(folder / "last");
          EXPECT_EQ(trace(*trainer, 2), straight) << name << ": " << before << " ranks, then " << after;
        });
      }
  }
}

/// What lies in two files of a checkpoint.
std::string weights_and_state(const fs::path& folder) {
  return io::read_file(folder / "model.safetensors") + io::read_file(folder / "optimizer.safetensors");
}

TEST(Ranks, SaveTheBytesOfOne) {
  for (const char* name : {"gpt2", "llama", "small buckets", "gradients shared", "muon"}) {
    const TrainConfig config = configs().at(name);
    const io::TemporaryFolder folder;
    const auto save = [&](comm::Communicator& ranks, const std::string& folder_name) {
      const auto trainer = trainer_of(config, ranks);
      for (int i = 0; i < 2; ++i) {  // the masters are given back after the first
        trainer->step();
        trainer->begin_save(folder / folder_name);
        trainer->finish_saves();
      }
    };
    save(comm::self(), "alone");
    for (const int ranks : {2, 3, 8}) {
      const std::string of_ranks = std::to_string(ranks);
      comm::run_ranks(ranks, 4, [&](comm::Communicator& communicator) { save(communicator, of_ranks); });
      EXPECT_EQ(weights_and_state(folder / of_ranks), weights_and_state(folder / "alone"))
          << name << " on " << ranks << " ranks";
    }
  }
}

TEST(Ranks, AreNoMoreThanLeaves) {
  const auto error = [](int64_t batch, int64_t accumulate, int64_t leaves, int ranks) {
    TrainConfig config;
    config.train.batch = batch;
    config.train.accumulate = accumulate;
    config.train.leaves = leaves;
    try {
      resolve_leaves(config, ranks);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return "leaves: " + std::to_string(config.train.leaves);
  };
  EXPECT_EQ(error(8, 1, 0, 1), "leaves: 1");
  EXPECT_EQ(error(8, 12, 0, 1), "leaves: 1");
  EXPECT_EQ(error(8, 12, 0, 4), "leaves: 4");
  EXPECT_EQ(error(8, 12, 0, 5), "leaves: 6");
  EXPECT_EQ(error(8, 12, 12, 5), "leaves: 12");
  EXPECT_THAT(error(8, 1, 0, 4), HasSubstr("train.accumulate=4 train.batch=2 is the same batch"));
  EXPECT_THAT(error(3, 1, 0, 2), HasSubstr("train.accumulate=3 train.batch=1 is the same batch"));
  EXPECT_THAT(error(3, 1, 0, 4), HasSubstr("start at most 3 ranks"));
  EXPECT_THAT(error(8, 12, 2, 3),
              HasSubstr("this run has 2, on which its numbers depend; start at most 2 ranks"));
}

}  // namespace
}  // namespace cladtorch::train
