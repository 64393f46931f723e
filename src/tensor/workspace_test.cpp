#include "cladtorch/tensor/workspace.h"

#include <gtest/gtest.h>

#include "cladtorch/tensor/factories.h"

namespace cladtorch {
namespace {

/// Makes tensors with overlapping lifetimes and checks that none disturbs another.
void work(int64_t n) {
  Tensor a = full({n}, 1);
  Tensor b = full({2 * n}, 2);
  {
    const Tensor c = full({n}, 3);
    EXPECT_EQ(c.data<float>()[n - 1], 3);
  }
  const Tensor d = full({n}, 4);
  EXPECT_EQ(a.data<float>()[n - 1], 1);
  EXPECT_EQ(b.data<float>()[2 * n - 1], 2);
  a = Tensor();
  const Tensor e = full({n}, 5);
  EXPECT_EQ(b.data<float>()[0], 2);
  EXPECT_EQ(d.data<float>()[0], 4);
  EXPECT_EQ(e.data<float>()[0], 5);
}

void step(Workspace& workspace, int64_t n) {
  const Workspace::Step open(workspace);
  work(n);
}

TEST(Workspace, TheSecondStepFollowsThePlan) {
  Workspace workspace;
  step(workspace, 1000);
  EXPECT_EQ(workspace.statistics().unplanned_allocations, 5);
  for (int i = 0; i < 3; ++i) {
    step(workspace, 1000);
    EXPECT_EQ(workspace.statistics().unplanned_allocations, 0);
    EXPECT_EQ(workspace.statistics().heap_allocations, 0);
  }
  EXPECT_EQ(workspace.statistics().plans, 1);
  EXPECT_EQ(workspace.statistics().allocations, 5);
  EXPECT_EQ(workspace.statistics().steps, 4);
}

TEST(Workspace, ThePlanReusesMemoryOfDeadTensors) {
  Workspace workspace;
  step(workspace, 1024);
  const WorkspaceStatistics statistics = workspace.statistics();
  EXPECT_EQ(statistics.naive_bytes, 6u * 4096);
  EXPECT_EQ(statistics.live_bytes, 4u * 4096);
  EXPECT_EQ(statistics.planned_bytes, 4u * 4096);
  EXPECT_EQ(statistics.arena_bytes, statistics.planned_bytes);
}

TEST(Workspace, AnotherShapePlansAnew) {
  Workspace workspace;
  step(workspace, 1000);
  step(workspace, 3000);
  EXPECT_EQ(workspace.statistics().plans, 2);
  step(workspace, 3000);
  EXPECT_EQ(workspace.statistics().plans, 2);
  EXPECT_EQ(workspace.statistics().unplanned_allocations, 0);
  EXPECT_EQ(workspace.statistics().heap_allocations, 0);
}

TEST(Workspace, ShapesThatAlternateArePlannedOnceEach) {
  Workspace workspace;
  const auto planned = [&](int64_t n) {
    const Workspace::Step open(workspace);
    const Tensor shared = full({100}, 1), also_shared = full({300}, 2);
    full({50}, 3);
    work(n);
    EXPECT_EQ(shared.data<float>()[99], 1);
    EXPECT_EQ(also_shared.data<float>()[299], 2);
  };
  for (int round = 0; round < 3; ++round) {
    for (int64_t n : {1000, 3000, 10}) {
      planned(n);
      EXPECT_EQ(workspace.statistics().plans, round == 0 ? (n == 1000 ? 1 : n == 3000 ? 2 : 3) : 3);
      if (round == 0) continue;
      EXPECT_EQ(workspace.statistics().unplanned_allocations, 0);
      EXPECT_EQ(workspace.statistics().heap_allocations, 0);
      EXPECT_GE(workspace.statistics().planned_bytes, static_cast<size_t>(4 * 4 * n));
      EXPECT_LE(workspace.statistics().planned_bytes, static_cast<size_t>(4 * 4 * n + 2000));
    }
  }
}

TEST(Workspace, ThePlanUsedLongestAgoIsForgottenFirst) {
  Workspace workspace;
  for (int64_t n = 1; n <= 8; ++n) step(workspace, 100 * n);
  EXPECT_EQ(workspace.statistics().plans, 8);
  step(workspace, 100);
  EXPECT_EQ(workspace.statistics().plans, 8) << "all eight are kept";
  step(workspace, 900);
  EXPECT_EQ(workspace.statistics().plans, 9);
  step(workspace, 100);
  EXPECT_EQ(workspace.statistics().plans, 9) << "the first was used again";
  step(workspace, 200);
  EXPECT_EQ(workspace.statistics().plans, 10) << "the second was not";
}

TEST(Workspace, AStepThatStopsEarlyOrGoesOnLongerIsSafe) {
  Workspace workspace;
  for (int repetitions : {2, 1, 3, 3, 1, 2}) {
    const Workspace::Step open(workspace);
    for (int i = 0; i < repetitions; ++i) work(500);
  }
  EXPECT_EQ(workspace.statistics().plans, 2) << "a shorter step is the beginning of a longer one";
  EXPECT_EQ(workspace.statistics().unplanned_allocations, 0);
  EXPECT_EQ(workspace.statistics().heap_allocations, 0);
}

TEST(Workspace, ATensorKeptLongerThanPlannedIsNotOverwritten) {
  Workspace workspace;
  for (bool keep : {false, true, true}) {
    const Workspace::Step open(workspace);
    Tensor a = full({1000}, 1), kept;
    if (keep) kept = a;
    a = Tensor();
    const Tensor b = full({1000}, 2);
    if (keep) {
      EXPECT_EQ(kept.data<float>()[500], 1);
    }
    EXPECT_EQ(b.data<float>()[500], 2);
  }
  EXPECT_EQ(workspace.statistics().plans, 2);
}

TEST(Workspace, TensorsThatOutliveTheirStepStayValid) {
  Workspace workspace;
  std::vector<Tensor> survivors;
  for (int i = 0; i < 4; ++i) {
    const Workspace::Step open(workspace);
    const Tensor scratch = full({1000}, -1);
    survivors.push_back(full({1000}, i));
    const Tensor more = full({1000}, -2);
  }
  EXPECT_EQ(workspace.statistics().heap_allocations, 1) << "only the survivor is on the heap";
  workspace.reset();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(survivors[static_cast<size_t>(i)].data<float>()[0], i);
    EXPECT_EQ(survivors[static_cast<size_t>(i)].data<float>()[999], i);
  }
}

TEST(Workspace, AnUnexpectedSurvivorIsCopiedOutOfTheArena) {
  Workspace workspace;
  Tensor survivor;
  for (bool keep : {false, true, false}) {
    const Workspace::Step open(workspace);
    Tensor a = full({1000}, 7);
    if (keep) survivor = a;
  }
  workspace.reset();
  EXPECT_EQ(survivor.data<float>()[999], 7);
}

TEST(Workspace, StepsOfDifferentWorkspacesNest) {
  Workspace outer, inner;
  Tensor survivor;
  for (int i = 0; i < 3; ++i) {
    const Workspace::Step open_outer(outer);
    const Tensor a = full({100}, 1);
    {
      const Workspace::Step open_inner(inner);
      work(100);
    }
    const Tensor b = full({100}, 2);
    EXPECT_EQ(a.data<float>()[0], 1);
  }
  EXPECT_EQ(outer.statistics().allocations, 2);
  EXPECT_EQ(inner.statistics().unplanned_allocations, 0);
  const Workspace::Step open(outer);
  EXPECT_THROW(Workspace::Step again(outer), Error);
}

TEST(Workspace, TensorsMadeOutsideAStepUseTheHeapAsBefore) {
  Workspace workspace;
  Tensor outside = full({10}, 1);
  for (int i = 0; i < 3; ++i) {
    const Workspace::Step open(workspace);
    outside = full({10}, outside.data<float>()[0] + 1);
  }
  EXPECT_EQ(outside.data<float>()[0], 4);
}

TEST(Workspace, ADefaultTensorAndEmptyTensorsAreFine) {
  Workspace workspace;
  for (int i = 0; i < 3; ++i) {
    const Workspace::Step open(workspace);
    const Tensor a, b = zeros({0}), c = zeros({0, 3});
    EXPECT_EQ(b.numel(), 0);
  }
  EXPECT_EQ(workspace.statistics().unplanned_allocations, 0);
  EXPECT_EQ(workspace.statistics().heap_allocations, 0);
}

}  // namespace
}  // namespace cladtorch
