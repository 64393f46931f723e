// The times of a plan against SimGrid's SMPI, which lets the messages of an update (exchange.cpp) share the
// links of a simulated network.
//
// CLADTORCH_SMPI_RANKS=1024 in the environment adds simulations of 256 and 1,024 ranks, or of 256 alone.
// Their time grows faster than the number of messages, which is the square of the ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cladtorch/nn/layers.h"
#include "cladtorch/train/plan.h"
#include "cladtorch/train/presets.h"
#include "train/step/shares.h"

namespace cladtorch::train {
namespace {

#if defined(CLADTORCH_SMPIRUN)

/// As the formulas have it: no factors of a calibrated cluster.
constexpr const char* neutral =
    " --cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:0"
    " --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 --cfg=network/weight-S:0"
    " --cfg=smpi/simulate-computation:no --log=root.thres:critical";
/// 0.5 us to send a message. Messages of many ranks then begin at as many moments, and the simulation
/// computes the rates of all of them anew at each; there it is left out, since a plan hides it behind the
/// wire.
constexpr const char* posting = " --cfg=smpi/ois:0:5e-7:0";
constexpr int most_posting = 64;

struct Case {
  const char* model;
  int ranks;
  int64_t leaves;
  int zero;
  int64_t per_node = 1;
  /// Parameters are gathered in so many messages at once that few ranks can be simulated.
  bool gathers() const { return ranks <= 8; }
};

struct Times {
  double exchange, gather;
};

TrainConfig config_of(const Case& one) {
  TrainConfig config;
  config.model.context = 64;
  config.train.batch = 1;
  config.train.accumulate = config.train.leaves = one.leaves;
  config.distributed.overlap = false;  // the exchange is seen whole
  return config;
}

PlanMachine machine_of(const Case& one) {
  return {.name = "simulated",
          .peak_flops = 1e12,
          .peak_share = 1,
          .memory_bandwidth = 1e30,  // additions take no time in the simulation
          .per_node = one.per_node,
          .link = 8e9,
          .network = 1.25e9,
          .latency = 20e-6};
}

/// Ranks on hosts of their own, with links each way; those of a node have another link to each other.
void write_platform(const Case& one, const PlanMachine& machine, const std::filesystem::path& folder) {
  std::ofstream hosts(folder / "hosts"), platform(folder / "platform.xml");
  for (int rank = 0; rank < one.ranks; ++rank) hosts << "h" << rank << "\n";
  platform << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
              "<platform version=\"4.1\">\n";
  const double half = machine.latency / 2;  // a message passes two links
  if (one.per_node == 1) {
    platform << "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-" << one.ranks - 1
             << "\" speed=\"1Gf\" bw=\"" << machine.network << "Bps\" lat=\"" << half
             << "s\" sharing_policy=\"SPLITDUPLEX\"/>\n</platform>\n";
    return;
  }
  platform << "<zone id=\"all\" routing=\"Full\">\n";
  for (int rank = 0; rank < one.ranks; ++rank) platform << "<host id=\"h" << rank << "\" speed=\"1Gf\"/>\n";
  const auto link = [&](const char* kind, int rank, double bandwidth) {
    platform << "<link id=\"" << kind << rank << "\" bandwidth=\"" << bandwidth << "Bps\" latency=\"" << half
             << "s\"/>\n";
  };
  for (int rank = 0; rank < one.ranks; ++rank) {
    for (const char* kind : {"near_out", "near_in"}) link(kind, rank, machine.link);
    for (const char* kind : {"far_out", "far_in"}) link(kind, rank, machine.network);
  }
  for (int from = 0; from < one.ranks; ++from)
    for (int to = 0; to < one.ranks; ++to) {
      if (from == to) continue;
      const char* kind = from / one.per_node == to / one.per_node ? "near" : "far";
      platform << "<route src=\"h" << from << "\" dst=\"h" << to << "\" symmetrical=\"NO\"><link_ctn id=\""
               << kind << "_out" << from << "\"/><link_ctn id=\"" << kind << "_in" << to << "\"/></route>\n";
    }
  platform << "</zone>\n</platform>\n";
}

void write_parts(const Case& one, const TensorList& parameters, const Shares& shares,
                 const std::filesystem::path& path) {
  std::ofstream file(path);
  file << shares.buckets() << "\n";
  for (size_t bucket = 0; bucket < shares.buckets(); ++bucket)
    for (int rank = 0; rank < one.ranks; ++rank) {
      int64_t elements = 0;
      const auto [first, last] = shares.pieces(bucket, rank);
      for (size_t i = first; i < last; ++i)
        elements += parameters.pieces()[i].end - parameters.pieces()[i].begin;
      file << elements * 4 << "\n";
    }
  for (size_t bucket = 0; bucket < shares.buckets(); ++bucket)
    for (int rank = 0; rank < one.ranks; ++rank) {
      const std::vector<Run> runs = one.gathers() ? shares.runs(bucket, rank) : std::vector<Run>{};
      file << runs.size();
      for (const Run& run : runs) file << " " << (run.end - run.begin) * 4;
      file << "\n";
    }
}

Times simulated(const Case& one, const LanguageModel& model, const TrainConfig& config) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cladtorch_smpi_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const TensorList parameters(model.parameters());
  const Shares shares(parameters, one.ranks, elements_of_bucket(config.distributed.bucket_mb));
  write_platform(one, machine_of(one), folder);
  write_parts(one, parameters, shares, folder / "parts");
  const std::string command = "cd " + folder.string() + " && " CLADTORCH_SMPIRUN " -np " +
                              std::to_string(one.ranks) + " -platform platform.xml -hostfile hosts" +
                              neutral + (one.ranks <= most_posting ? posting : "") +
                              " " CLADTORCH_SMPI_EXCHANGE " " + std::to_string(one.leaves) + " " +
                              (one.zero == 2 ? "1" : "0") + " parts 2>errors";
  std::FILE* output = ::popen(command.c_str(), "r");
  Times times{};
  const int found = std::fscanf(output, "%lf %lf", &times.exchange, &times.gather);
  EXPECT_EQ(::pclose(output), 0) << command;
  EXPECT_EQ(found, 2) << command;
  std::filesystem::remove_all(folder);
  return times;
}

void expect_agreement(const Case& one, double tolerance) {
  SCOPED_TRACE(testing::Message() << one.model << ", " << one.ranks << " ranks, " << one.leaves
                                  << " leaves, zero " << one.zero);
  const nn::SkipInitialization only_sizes;
  const auto model = preset_model(one.model, 64, "test");
  const TrainConfig config = config_of(one);
  const PlanTime planned =
      make_plan(*model, config, one.ranks, machine_of(one)).stages[static_cast<size_t>(one.zero)].time;
  const Times seen = simulated(one, *model, config);
  std::cout << one.model << " on " << one.ranks << " ranks: exchange " << planned.exchange << " s planned, "
            << seen.exchange << " s simulated; gathering " << planned.gathering << ", " << seen.gather
            << "\n";
  EXPECT_NEAR(planned.exchange / seen.exchange, 1, tolerance);
  if (one.gathers()) EXPECT_NEAR(planned.gathering / seen.gather, 1, tolerance);
}

TEST(Smpi, ExchangeTakesAsLongAsPlanned) {
  for (const Case& one : {Case{"gpt2", 2, 2, 1},
                          {"gpt2", 8, 8, 1},
                          {"gpt2", 8, 32, 2},
                          {"gpt2", 16, 16, 1},
                          {"gpt2", 64, 64, 1}})
    expect_agreement(one, 0.01);
}

TEST(Smpi, ExchangeOfRanksThatSendSeveralSumsTakesAsLongAsPlanned) {
  for (const Case& one : {Case{"gpt2", 3, 16, 1}, {"gpt2", 5, 24, 1}}) expect_agreement(one, 0.05);
}

TEST(Smpi, ExchangeBetweenNodesTakesAsLongAsPlanned) {
  for (const Case& one : {Case{"gpt2", 8, 8, 1, 4}, {"gpt2-medium", 16, 16, 1, 8}})
    expect_agreement(one, 0.05);
}

TEST(Smpi, ExchangeOfManyRanksTakesAsLongAsPlanned) {
  const char* const most = std::getenv("CLADTORCH_SMPI_RANKS");
  if (most == nullptr)
    GTEST_SKIP() << "CLADTORCH_SMPI_RANKS=256 in the environment simulates 256 ranks, for a minute";
  for (const int ranks : {256, 1024})
    if (ranks <= std::atoi(most)) expect_agreement({"gpt2", ranks, ranks, 1}, 0.03);
}

#else

TEST(Smpi, ExchangeTakesAsLongAsPlanned) {
  GTEST_SKIP() << "there is no smpirun; install SimGrid (libsimgrid-dev) and configure again";
}

#endif

}  // namespace
}  // namespace cladtorch::train
