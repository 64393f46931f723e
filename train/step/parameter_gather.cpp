#include "train/step/parameter_gather.h"

#include <chrono>

namespace cladtorch::train {

ParameterGather::ParameterGather(comm::Communicator& ranks, const TensorList& parameters,
                                 const Shares& shares, Background& background)
    : ranks_(ranks),
      parameters_(parameters),
      shares_(shares),
      background_(background),
      completed_(shares.buckets()),
      data_(parameters.size()),
      jobs_(parameters.size()) {
  // Buckets are brought from the last to the first, which holds the end of the list.
  for (size_t bucket = 0; bucket < shares.buckets(); ++bucket) {
    const auto [first, last] = shares.pieces(bucket);
    for (size_t piece = first; piece < last; ++piece) {
      const auto& [tensor, begin, end] = parameters.pieces()[piece];
      if (end == parameters[tensor].tensor.numel()) completed_[bucket].push_back(tensor);
    }
  }
}

ParameterGather::~ParameterGather() {
  for (NamedTensor& parameter : parameters_) parameter.tensor.set_arrival(nullptr);
}

void ParameterGather::begin() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    data_[i] = static_cast<std::byte*>(parameters_[i].tensor.data());
    parameters_[i].tensor.set_arrival(this, i);
  }
  for (size_t bucket = shares_.buckets(); bucket-- > 0;) {
    const int64_t job = background_.add([this, bucket] { exchange(bucket); });
    for (const size_t tensor : completed_[bucket]) jobs_[tensor] = job;
  }
}

void ParameterGather::exchange(size_t bucket) {
  const int size = ranks_.size(), self = ranks_.rank();
  const auto bytes = [&](const Run& run) { return bytes_of(data_[run.tensor], parameters_.dtype(), run); };
  std::vector<comm::Communicator::Pending> transfers;
  for (int step = 1; step < size; ++step) {
    const int from = (self + step) % size;
    for (const Run& run : shares_.runs(bucket, from))
      transfers.push_back({ranks_.receive(bytes(run), from, 0), from});
  }
  for (int step = 1; step < size; ++step) {
    const int to = (self + step) % size;
    for (const Run& run : shares_.runs(bucket, self))
      transfers.push_back({ranks_.send(bytes(run), to, 0), to});
  }
  ranks_.wait(transfers, "the updated parameters", &background_.cancelled());
  for (const size_t tensor : completed_[bucket]) parameters_[tensor].tensor.set_arrival(nullptr);
}

void ParameterGather::wait_for(size_t tensor) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  background_.wait(jobs_[tensor]);
  waited_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace cladtorch::train
