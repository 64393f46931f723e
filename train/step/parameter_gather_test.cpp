#include "train/step/parameter_gather.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "comm/thread_ranks.h"

namespace cladtorch::train {
namespace {

TensorList some_parameters(DType dtype) {
  std::vector<NamedTensor> tensors;
  for (const int64_t numbers : {700'000, 3, 1'500'000, 40})
    tensors.push_back({std::to_string(numbers), zeros({numbers}, dtype)});
  return TensorList(std::move(tensors));
}

TEST(ParameterGather, MakesReadersWaitForWhatOthersUpdate) {
  constexpr int ranks = 3, updates = 3;
  for (const bool threaded : {true, false})
    for (const DType dtype : {DType::float32, DType::bfloat16})
      comm::run_ranks(ranks, 6, [&](comm::Communicator& communicator) {
        TensorList parameters = some_parameters(dtype);
        const Shares shares(parameters, ranks, 600'000);
        Background background(threaded);
        ParameterGather gather(communicator, parameters, shares, background);
        const auto fill = [&](int rank, int update, const auto& use) {
          for (const auto& run : shares.runs(rank))
            use(parameters[run.tensor].tensor.slice(0, run.begin, run.end), 10.0 * update + rank + 1);
        };
        for (int update = 0; update < updates; ++update) {
          fill(communicator.rank(), update, [](Tensor part, double value) { part.fill_(value); });
          std::this_thread::sleep_for(communicator.rank() * std::chrono::milliseconds(20));
          gather.begin();
          for (int rank = 0; rank < ranks; ++rank)
            fill(rank, update, [](const Tensor& part, double value) {
              const Tensor read = part.to(DType::float32);
              const std::span<const float> values(read.data<float>(), static_cast<size_t>(read.numel()));
              EXPECT_TRUE(
                  std::ranges::all_of(values, [&](float v) { return v == static_cast<float>(value); }));
            });
          background.wait();
        }
        background.stop();
      });
}

}  // namespace
}  // namespace cladtorch::train
