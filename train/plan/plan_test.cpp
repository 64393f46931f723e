// Plans against what the objects of a run hold, and the formulas against cases that are known.
#include "cladtorch/train/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "cladtorch/nn/layers.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/train/presets.h"
#include "cladtorch/train/usage_error.h"
#include "comm/thread_ranks.h"
#include "train/plan/activations.h"
#include "train/plan/formulas.h"
#include "train/step/leaf_sums.h"
#include "train/step/make_optimizer.h"
#include "train/step/training_step.h"

namespace cladtorch::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GPT2Config small_gpt2() {
  return {.vocab_size = 3000, .n_positions = 32, .n_layer = 3, .n_head = 4, .n_embd = 192};
}

TrainConfig small_config(int64_t leaves, int64_t zero, const std::string& optimizer = "adamw") {
  TrainConfig config;
  config.model.context = 8;
  config.train.batch = 1;
  config.train.accumulate = config.train.leaves = leaves;
  config.distributed.zero = zero;
  config.optimizer.kind = optimizer;
  return config;
}

PlanMachine some_machine() {
  return {.name = "some",
          .peak_flops = 1e12,
          .peak_share = 0.5,
          .memory_bandwidth = 1e11,
          .memory = 1e9,
          .per_node = 1,
          .link = 1e10,
          .network = 1e9,
          .latency = 1e-5,
          .jitter = 0.01};
}

/// The most that a rank's objects hold after two updates.
struct Held {
  size_t sums = 0, optimizer = 0, gradients = 0;
};

Held held_by_ranks(const TrainConfig& config, int ranks) {
  Held most;
  std::mutex mutex;
  comm::run_ranks(ranks, 3, [&](comm::Communicator& communicator) {
    const auto model = as_language_model(GPT2(small_gpt2()));
    const Tensor memory = zeros({model->gradient_elements()});
    const auto gradient = model->gradient_in(memory);
    TensorList gradients(gradient->parameters());
    const bool early = config.distributed.zero == 2;
    const Shares shares(gradients, ranks, elements_of_bucket(config.distributed.bucket_mb));
    Background background(ranks > 1);
    LeafSums sums(communicator, LeafPlan(config.train.leaves, ranks, early), gradients, memory, shares,
                  /*overlap=*/true, background);
    const auto optimizer =
        make_optimizer(config.optimizer, TensorList(model->parameters()), TensorList(model->parameters()));
    if (config.distributed.zero > 0 && optimizer->can_share())
      optimizer->set_share(shares.pieces(communicator.rank()));
    const Tensor tokens = zeros({1, config.model.context}, DType::int32);
    for (int step = 0; step < 2; ++step) {
      gradients.mark_zero();
      for (size_t i = 0; i < sums.mine().size(); ++i) {
        sums.begin(/*ends_leaf=*/true);
        model->loss_and_gradient(tokens, tokens, *gradient);
        sums.end_leaf();
      }
      sums.finish(/*whole=*/false);
    }
    const std::lock_guard lock(mutex);
    most.sums = std::max(most.sums, sums.bytes());
    most.optimizer = std::max(most.optimizer, optimizer->bytes());
    most.gradients = memory.nbytes();
  });
  return most;
}

struct Ranks {
  int ranks;
  int64_t leaves, zero;
};

TEST(Plan, MemoryIsWhatTheObjectsOfRanksHold) {
  const GPT2 model{small_gpt2()};
  for (const auto& [ranks, leaves, zero] : {Ranks{1, 1, 0},
                                            {1, 8, 1},
                                            {2, 2, 0},
                                            {2, 8, 1},
                                            {3, 7, 1},
                                            {4, 4, 1},
                                            {2, 8, 2},
                                            {3, 7, 2},
                                            {4, 16, 2}}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << leaves << " leaves, zero " << zero);
    TrainConfig config = small_config(leaves, zero);
    config.distributed.bucket_mb = 1;  // several
    const Held held = held_by_ranks(config, ranks);
    const PlanMemory planned = make_plan(*as_language_model(model), config, ranks, some_machine())
                                   .stages[static_cast<size_t>(zero)]
                                   .memory;
    EXPECT_EQ(planned.optimizer, static_cast<double>(held.optimizer));
    // The rank with the largest share need not be the one that receives the most.
    const double slack = 1e-9 + (ranks == 1 ? 0 : 0.02 * static_cast<double>(held.sums));
    EXPECT_NEAR(planned.sums + planned.exchange, static_cast<double>(held.sums), slack);
    if (zero < 2) EXPECT_EQ(planned.gradients, static_cast<double>(held.gradients));
  }
}

TEST(Plan, OptimizersShareTheirStateWhereTheyCan) {
  const nn::SkipInitialization only_sizes;
  const auto model = preset_model("gpt2", 8, "test");
  const auto numbers = static_cast<double>(model->parameter_count());
  const auto optimizer_bytes = [&](const char* kind, size_t zero) {
    return make_plan(*model, small_config(4, 1, kind), 4, some_machine()).stages[zero].memory.optimizer;
  };
  EXPECT_EQ(optimizer_bytes("adamw", 0), 8 * numbers);
  EXPECT_NEAR(optimizer_bytes("adamw", 1) / (8 * numbers / 4), 1.1, 0.1);
  EXPECT_EQ(optimizer_bytes("sgd", 0), 4 * numbers);
  EXPECT_EQ(optimizer_bytes("muon", 1), optimizer_bytes("muon", 0));
}

TEST(Plan, TheFirstRankPutsTheLargestTensorTogetherWhenItSaves) {
  const auto model = as_language_model(GPT2(small_gpt2()));
  const auto memory = [&](const char* optimizer, size_t zero) {
    return make_plan(*model, small_config(4, 1, optimizer), 4, some_machine()).stages[zero].memory;
  };
  const double largest = 4 * 3000 * 192;  // the embedding
  EXPECT_EQ(memory("adamw", 0).saving, 0);
  EXPECT_EQ(memory("adamw", 1).saving, largest);
  EXPECT_EQ(memory("muon", 1).saving, 0);
  // Its gradient, which is whole until it is sent, took at least as much before.
  EXPECT_EQ(memory("adamw", 2).saving, 0);
}

TEST(Plan, WaitingSumsAreThoseOfABinaryCounter) {
  for (int64_t leaves = 1; leaves <= 64; ++leaves)
    EXPECT_EQ(waiting_sums({0, leaves}, {0, leaves}),
              static_cast<int64_t>(std::log2(static_cast<double>(leaves))));
  EXPECT_EQ(waiting_sums({0, 64}, {32, 48}), 4);
  EXPECT_EQ(sums_between_rounds(LeafPlan(16, 4, true)), 2);
  EXPECT_EQ(sums_between_rounds(LeafPlan(4, 4, true)), 0);
}

/// What the plan of a step's memory has.
double planned_activations(std::unique_ptr<LanguageModel> model, DType dtype, int64_t batch, int64_t length) {
  Workspace workspace;
  const MakeOptimizer make = [](TensorList parameters, TensorList masters) {
    return make_optimizer({}, std::move(parameters), std::move(masters));
  };
  const bool recomputes = model->gradient_checkpointing();
  TrainingStep step(std::move(model), {.dtype = dtype}, make, workspace);
  return static_cast<double>(step.plan_activations({batch, length}, recomputes));
}

TEST(Plan, ActivationsAreThoseOfTheStepsPlan) {
  struct Shape {
    int64_t batch, length, vocabulary, layers, channels, inner;
  };
  for (const Shape& shape : {Shape{2, 128, 500, 2, 128, 0},
                             {2, 64, 500, 6, 128, 0},
                             {1, 128, 20000, 3, 96, 0},
                             {3, 128, 50257, 2, 64, 0},
                             {2, 128, 500, 2, 256, 0}})
    for (const DType dtype : {DType::float32, DType::bfloat16})
      for (const bool recompute : {false, true})
        for (const bool is_llama : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << (is_llama ? "llama" : "gpt2") << " V" << shape.vocabulary << " L" << shape.layers
                       << " C" << shape.channels << " " << dtype << (recompute ? " recomputes" : ""));
          std::unique_ptr<LanguageModel> model;
          if (is_llama)
            model = as_language_model(Llama({.vocab_size = shape.vocabulary,
                                             .hidden_size = shape.channels,
                                             .intermediate_size = shape.channels * 11 / 4,
                                             .num_hidden_layers = shape.layers,
                                             .num_attention_heads = 4,
                                             .num_key_value_heads = 2,
                                             .max_position_embeddings = shape.length}));
          else
            model = as_language_model(GPT2({.vocab_size = shape.vocabulary,
                                            .n_positions = shape.length,
                                            .n_layer = shape.layers,
                                            .n_head = 4,
                                            .n_embd = shape.channels}));
          model->set_gradient_checkpointing(recompute);
          const double formula = activation_bytes(*model, dtype, shape.batch * shape.length);
          const double planned = planned_activations(std::move(model), dtype, shape.batch, shape.length);
          EXPECT_NEAR(formula / planned, 1, 0.05);
        }
}

TEST(Plan, StateOfBfloat16ModelsTakesTheirBytesPerParameter) {
  const nn::SkipInitialization only_sizes;
  struct Row {
    const char* model;
    int ranks;
    double zero0, zero1;  // GB of 18 B and of 6 + 12/P B for each parameter
  };
  for (const auto& [name, ranks, zero0, zero1] :
       {Row{"gpt2", 8, 2.24, 0.93}, {"gpt2-xl", 8, 28.0, 11.7}, {"llama-3.1-8b", 64, 144.5, 49.7}}) {
    TrainConfig config;
    config.model.context = 1024;
    config.train.accumulate = ranks;
    config.run.dtype = "bf16";
    const Plan plan = make_plan(*preset_model(name, 1024, "test"), config, ranks,
                                published_machine("h100", DType::bfloat16));
    const auto state = [&](size_t zero) {
      const PlanMemory& memory = plan.stages[zero].memory;
      return (memory.weights + memory.gradients + memory.sums + memory.optimizer) / 1e9;
    };
    EXPECT_NEAR(state(0) / zero0, 1, 0.01) << name;
    EXPECT_NEAR(state(1) / zero1, 1, 0.03) << name;
    EXPECT_LT(state(2), state(1)) << name;
  }
}

TEST(Plan, OneRankWaitsForNobody) {
  const auto model = as_language_model(GPT2(small_gpt2()));
  const Plan plan = make_plan(*model, small_config(1, 1), 1, some_machine());
  for (const StagePlan& stage : plan.stages) {
    EXPECT_DOUBLE_EQ(stage.efficiency, 1);
    EXPECT_EQ(stage.time.exchange + stage.time.gathering + stage.time.jitter + stage.sent, 0);
    EXPECT_EQ(stage.memory.sums + stage.memory.exchange, 0);
  }
}

TEST(Plan, ARankSendsWhatTheDesignSays) {
  const nn::SkipInitialization only_sizes;
  const auto model = preset_model("gpt2", 8, "test");
  const double bytes = 4 * static_cast<double>(model->parameter_count());
  const auto sent = [&](int64_t leaves, int ranks, size_t zero) {
    return make_plan(*model, small_config(leaves, 1), ranks, some_machine()).stages[zero].sent / bytes;
  };
  // The gradient and the weights once each, the gradient twice, and each of four leaves; shares are uneven.
  EXPECT_NEAR(sent(8, 2, 1), 2 * (1 - 1 / 2.), 0.1);
  EXPECT_NEAR(sent(2, 2, 0), 2 * (1 - 1 / 2.), 0.1);
  EXPECT_NEAR(sent(8, 2, 2), 5 * (1 - 1 / 2.), 0.25);
  EXPECT_NEAR(sent(6, 3, 1), 2 * (1 - 1 / 3.), 0.15);
  EXPECT_NEAR(sent(8, 3, 1), 3 * (1 - 1 / 3.), 0.2);  // leaves 2 to 4 are two nodes of the tree
}

TEST(Plan, TimesFollowTheNetworkAndTheJitter) {
  const auto model = as_language_model(GPT2(small_gpt2()));
  PlanMachine machine = some_machine();
  machine.jitter = 0;
  const auto stage = [&] { return make_plan(*model, small_config(4, 1), 4, machine).stages[1]; };
  const StagePlan fast = stage();
  machine.network /= 100;
  const StagePlan slow = stage();
  EXPECT_GT(slow.time.exchange, 50 * fast.time.exchange);
  EXPECT_THAT(slow.limit, HasSubstr("network"));
  machine.jitter = 0.02;
  EXPECT_DOUBLE_EQ(stage().time.jitter, 0.02 * slow.time.compute * std::sqrt(2 * std::log(4.0)));
  machine.memory = 1e6;
  EXPECT_THAT(stage().limit, HasSubstr("memory"));
}

TEST(Plan, TrafficIsTheDesignsFormula) {
  const double bytes = 33e6;
  for (const int ranks : {2, 8, 64, 1024}) {
    const std::vector<double> parts(static_cast<size_t>(ranks), bytes / ranks);
    const std::vector<int64_t> once(static_cast<size_t>(ranks), 1);
    const Traffic traffic = exchange_traffic(parts, once)[0];
    EXPECT_NEAR(traffic.sent, bytes * (1 - 1.0 / ranks), 1);
    EXPECT_NEAR(traffic.received, traffic.sent, 1);
    const PlanNetwork network{.per_node = 1, .link = 1, .network = 1e9, .latency = 1e-5, .posting = 0};
    EXPECT_NEAR(traffic_seconds(network, ranks, traffic), 1e-5 + traffic.sent / 1e9, 1e-9);
  }
  // Half of what one of four ranks sends stays in its node; a slow network decides alone.
  const Traffic traffic{.sent = 3e9, .received = 3e9, .messages = 3};
  const PlanNetwork network{.per_node = 2, .link = 1e11, .network = 1e9, .latency = 0, .posting = 0};
  EXPECT_DOUBLE_EQ(traffic_seconds(network, 4, traffic), 2);
  EXPECT_EQ(exposed_seconds(1, 0.5, 2), 0.5);
  EXPECT_EQ(exposed_seconds(3, 0.5, 2), 1.5);
}

TEST(Plan, BadInputIsNamedWithTheWayOut) {
  const auto message = [](const auto& action) {
    try {
      action();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message([] { published_machine("h1000", DType::float32); }),
              HasSubstr("--device is 'h1000', expected a100, b200, h100 or h200 (did you mean 'h100'?)"));
  EXPECT_THAT(message([] { preset_model("gpt3", 8, "plan: --model"); }),
              HasSubstr("plan: --model is 'gpt3'"));
  EXPECT_THAT(message([] {
                const auto model = as_language_model(GPT2(small_gpt2()));
                make_plan(*model, small_config(2, 1), 4, some_machine());
              }),
              HasSubstr("4 ranks need 4 micro-batches per update"));
}

TEST(Plan, ScalesFromOneRank) {
  EXPECT_THAT(numbers_of_ranks(1), ElementsAre(1));
  EXPECT_THAT(numbers_of_ranks(6), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(numbers_of_ranks(1024), ElementsAre(1, 4, 16, 64, 256, 1024));
  const auto model = as_language_model(GPT2(small_gpt2()));
  TrainConfig config = small_config(8, 1);
  config.train.leaves = 0;  // each number of ranks has as many as it needs
  const std::vector<Plan> plans = make_plans(*model, config, 8, some_machine());
  ASSERT_EQ(plans.size(), 4u);
  const double alone = plans.front().stages[0].tokens_per_second;
  for (const Plan& plan : plans) {
    EXPECT_EQ(plan.config.train.leaves, plan.ranks);
    EXPECT_EQ(plan.tokens_per_update, 64);
    for (const StagePlan& stage : plan.stages)
      EXPECT_NEAR(stage.efficiency, stage.tokens_per_second / (plan.ranks * alone), 1e-9);
  }
  const std::string text = to_text(scaling_table(plans, 1e9));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 1 + 3 * 3);  // on one rank the stages are the same
  const auto json = scaling_json(plans, 1e9);
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[3]["stages"][2]["efficiency"], plans[3].stages[2].efficiency);
}

TEST(Plan, IsATableAndAnObject) {
  const auto model = as_language_model(GPT2(small_gpt2()));
  const Plan plan = make_plan(*model, small_config(8, 1), 8, some_machine());
  const std::string text = plan_text(plan, 1e9);
  for (const char* part : {"--zero 2", "gradients", "efficiency", "1.0B tokens take", "is limited by"})
    EXPECT_THAT(text, HasSubstr(part));
  const auto json = plan_json(plan, 1e9);
  ASSERT_EQ(json["stages"].size(), 3u);
  EXPECT_EQ(json["stages"][1]["memory"]["optimizer"], plan.stages[1].memory.optimizer);
  EXPECT_EQ(json["stages"][2]["run_seconds"], 1e9 / plan.stages[2].tokens_per_second);
}

}  // namespace
}  // namespace cladtorch::train
