#include "cladtorch/comm/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cladtorch/error.h"
#include "comm/thread_ranks.h"

namespace cladtorch::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Communicator, GathersFromAllRanks) {
  for (int size = 1; size <= 5; ++size)
    run_ranks(size, 7, [&](Communicator& ranks) {
      EXPECT_EQ(ranks.size(), size);
      const std::vector<int> mine(static_cast<size_t>(ranks.rank()), ranks.rank());  // of different lengths
      std::vector<int> expected;
      for (int rank = 0; rank < size; ++rank)
        expected.insert(expected.end(), static_cast<size_t>(rank), rank);
      EXPECT_EQ(ranks.all_gather(std::span<const int>(mine), "numbers"), expected);
      EXPECT_EQ(ranks.share("rank " + std::to_string(ranks.rank()), "text"), "rank 0");
      ranks.barrier("barrier");
    });
}

TEST(Communicator, KeepsTheOrderOfMessages) {
  run_ranks(2, 3, [](Communicator& ranks) {
    std::vector<int> values(50);
    std::vector<Communicator::Pending> transfers;
    for (int i = 0; i < 50; ++i) {
      int& value = values[static_cast<size_t>(i)];
      if (ranks.is_first()) {
        value = i;
        transfers.push_back({ranks.send(std::as_bytes(std::span(&value, 1)), 1, 5), 1});
      } else {
        transfers.push_back({ranks.receive(std::as_writable_bytes(std::span(&value, 1)), 0, 5), 0});
      }
    }
    ranks.wait(transfers, "messages");
    for (int i = 0; i < 50; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i);
  });
}

TEST(Communicator, NamesTheRankThatIsLate) {
  const auto late = [](Communicator& ranks) {
    ranks.set_timeout(std::chrono::seconds(1));
    if (ranks.rank() != 2) ranks.barrier("the start of step 3");
  };
  try {
    run_ranks(3, 1, late);
    FAIL() << "nobody waited";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the start of step 3: no answer for 1 s from rank 2 on this machine"));
  }
}

/// The error of world() with such an environment, or "" if there is none.
std::string error_of_world(const std::vector<std::pair<const char*, const char*>>& variables) {
  std::string error;
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  try {
    world();
  } catch (const Error& thrown) {
    error = thrown.what();
  }
  for (const auto& [name, value] : variables) ::unsetenv(name);
  return error;
}

TEST(Communicator, RefusesLaunchersWithoutMpi) {
  EXPECT_THAT(error_of_world({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "here"}}),
              HasSubstr("torchrun started 4 processes without MPI, and each would train a model of its own: "
                        "use 'mpirun -np 4', or unset WORLD_SIZE"));
  EXPECT_EQ(error_of_world({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "here"}}), "");
  // A batch script has the number of its job's tasks, a step that srun started has its own.
  EXPECT_EQ(error_of_world({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "");
  EXPECT_EQ(error_of_world({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "");
  if (::isatty(STDIN_FILENO)) GTEST_SKIP() << "standard input is a terminal, as in a shell that srun started";
  EXPECT_THAT(error_of_world({{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}),
              HasSubstr("srun started 4 processes without MPI"));
}

TEST(Communicator, OfOneRankIsTheIdentity) {
  EXPECT_EQ(self().size(), 1);
  EXPECT_THAT(self().all_gather(std::span<const int>(std::vector{4, 5}), "numbers"), ElementsAre(4, 5));
  EXPECT_EQ(self().share("alone", "text"), "alone");
}

}  // namespace
}  // namespace cladtorch::comm
