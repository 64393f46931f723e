#include "train/step/shared_state.h"

#include <algorithm>
#include <array>

#include "cladtorch/error.h"
#include "tensor/allocation.h"

namespace cladtorch::train {
namespace {

constexpr const char* what_is_asked = "the state of the optimizer";
constexpr int64_t no_list = -1;

using Request = std::array<int64_t, 2>;  // a list and a tensor in it

}  // namespace

SharedState::SharedState(comm::Communicator& ranks, Optimizer& optimizer, const Shares& shares,
                         const std::atomic<bool>& cancelled)
    : ranks_(ranks),
      optimizer_(optimizer),
      shares_(shares),
      cancelled_(cancelled),
      masters_(optimizer.masters()),
      has_masters_(optimizer.parameters().dtype() == DType::bfloat16),
      own_(masters_.size()) {
  if (!has_masters_) return;
  for (const Run& run : shares.runs(ranks.rank())) own_[run.tensor].push_back(run);
  for (size_t i = 0; i < masters_.size(); ++i) release(i);
}

std::vector<const TensorList*> SharedState::lists() const {
  std::vector<const TensorList*> lists = {&masters_};
  for (const OptimizerState& part : optimizer_.state()) lists.push_back(part.tensors);
  return lists;
}

void SharedState::read(const std::function<void()>& read) {
  if (!ranks_.is_first()) return serve();
  if (has_masters_)
    for (size_t i = 0; i < masters_.size(); ++i) masters_[i].tensor.set_arrival(this, i);
  read();
  for (NamedTensor& master : masters_)
    if (has_masters_) master.tensor.set_arrival(nullptr);
  if (read_) release(*read_);
  read_.reset();
  ask(no_list, 0);
}

void SharedState::wait_for(size_t master) {
  if (read_) {
    release(*read_);
    masters_[*read_].tensor.set_arrival(this, *read_);
  }
  read_ = master;
  masters_[master].tensor.set_arrival(nullptr);
  ask(0, static_cast<int64_t>(master));
  shares_.collect(ranks_, masters_[master].tensor, masters_[master].tensor, master, what_is_asked,
                  &cancelled_);
}

Tensor SharedState::whole(const TensorList& state, size_t tensor) {
  const std::vector<const TensorList*> all = lists();
  const auto list = std::ranges::find(all, &state);
  require(list != all.end(), "checkpoint: this is not the optimizer's state");
  ask(list - all.begin(), static_cast<int64_t>(tensor));
  const Tensor& values = state[tensor].tensor;
  Tensor whole = Tensor::empty(values.shape(), values.dtype());
  shares_.collect(ranks_, values, whole, tensor, what_is_asked, &cancelled_);
  return whole;
}

void SharedState::ask(int64_t list, int64_t tensor) {
  const Request request = {list, tensor};
  std::vector<comm::Communicator::Pending> transfers;
  for (int rank = 1; rank < ranks_.size(); ++rank)
    transfers.push_back({ranks_.send(std::as_bytes(std::span(request)), rank, 0), rank});
  ranks_.wait(transfers, what_is_asked, &cancelled_);
}

void SharedState::serve() {
  const std::vector<const TensorList*> all = lists();
  while (true) {
    Request request;
    std::vector<comm::Communicator::Pending> transfers;
    transfers.push_back({ranks_.receive(std::as_writable_bytes(std::span(request)), 0, 0), 0});
    ranks_.wait(transfers, what_is_asked, &cancelled_);
    const auto [list, tensor] = request;
    if (list == no_list) return;
    const auto i = static_cast<size_t>(tensor);
    shares_.collect(ranks_, (*all[static_cast<size_t>(list)])[i].tensor, {}, i, what_is_asked, &cancelled_);
  }
}

void SharedState::release(size_t master) {
  Tensor& values = masters_[master].tensor;
  auto* const data = static_cast<std::byte*>(values.data());
  int64_t begin = 0;
  const auto give_back = [&](int64_t end) {
    const std::span<std::byte> bytes = bytes_of(data, values.dtype(), {master, begin, end});
    detail::release_pages(bytes.data(), bytes.size());
  };
  for (const Run& run : own_[master]) {
    give_back(run.begin);
    begin = run.end;
  }
  give_back(values.numel());
}

}  // namespace cladtorch::train
