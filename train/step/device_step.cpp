// A training step on a CUDA device for which the host does not wait: its loss and norm are read a step late.
// Once memory is planned, each part of it is a graph that is launched as a whole.
#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/dry_run.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_graph.h"
#include "tensor/readback.h"
#include "tensor/switch.h"
#include "train/step/optimizer_on_device.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {
namespace {

/// The first run plans the memory, the second follows the plan, and both find out how to multiply.
constexpr int runs_before_capture = 2;

constexpr int64_t only_leaf[] = {0};

class DeviceStep : public StepEngine {
 public:
  explicit DeviceStep(StepParts& parts);

  void plan(const Tensor& tokens, const Tensor& targets) override;
  std::span<const int64_t> leaves() const override { return only_leaf; }
  void add(const MicroBatch& batch) override;
  void sum_leaves(bool, RankWord word) override { word_ = word; }
  std::span<const RankWord> words() const override { return {&word_, 1}; }
  void do_beside(std::function<void()> job) override { job(); }
  void finish_beside() override {}
  double weight() const override { return weight_ > 0 ? weight_ : 1; }
  void read_state(const std::function<void()>& read) override { read(); }
  Tensor whole_state(const TensorList& state, size_t tensor) override { return state[tensor].tensor; }
  void finish(double clip) override;
  StepOutput read() override;
  bool runs_ahead() const override { return true; }

 private:
  /// A part of a step: run as it is at first, then captured, then launched.
  struct Part {
    int runs = 0;  ///< that followed the plan of memory
    std::unique_ptr<detail::DeviceGraph> graph;
    int64_t moves = 0;            ///< of the arena when it was captured
    std::vector<Tensor> written;  ///< buffers that were marked zero and get their first contribution
  };
  void run(Part& part, detail::ThreadBody work);
  void capture(Part& part, detail::ThreadBody work);
  bool is_planned() const;

  void take_shapes(const Tensor& tokens, const Tensor& targets);
  void queue_gradient(uint64_t seed, uint64_t number);
  void queue_update();
  std::unique_ptr<detail::Readback> unused_readback();

  StepParts& parts_;
  Device device_;
  Tensor tokens_, targets_, number_;  // there
  LossSum loss_;
  OptimizerTables tables_;
  Tensor input_, output_, sums_;
  Part first_, later_, update_;  // the first micro-batch stores gradients, the later ones add
  bool is_first_ = true;
  double weight_ = 0;
  RankWord word_;
  std::deque<std::unique_ptr<detail::Readback>> unread_;
  std::vector<std::unique_ptr<detail::Readback>> unused_;
};

DeviceStep::DeviceStep(StepParts& parts)
    : parts_(parts),
      device_(parts.device()),
      number_(Tensor::empty({2}, DType::int32, device_)),
      loss_(parts.model->dtype() == DType::float64 ? DType::float64 : DType::float32, device_),
      input_(to_device(StepInput{}, device_)),
      output_(to_device(StepOutput{0, 0, 1}, device_)) {}

void DeviceStep::take_shapes(const Tensor& tokens, const Tensor& targets) {
  if (tokens_.defined() && tokens_.shape() == tokens.shape()) return;
  tokens_ = Tensor::empty(tokens.shape(), DType::int32, device_);
  targets_ = Tensor::empty(targets.shape(), DType::int32, device_);
  first_ = {};
  later_ = {};
}

void DeviceStep::plan(const Tensor& tokens, const Tensor& targets) {
  take_shapes(tokens, targets);
  const DryRun dry;
  queue_gradient(0, 0);
  parts_.gradients.mark_zero();
  loss_.total.mark_zero();
}

void DeviceStep::add(const MicroBatch& batch) {
  if (batch.weight == 0) return;
  weight_ += batch.weight;
  take_shapes(batch.tokens, batch.targets);
  tokens_.copy_from(batch.tokens);
  targets_.copy_from(batch.targets);
  number_.copy_from(from_values<int32_t>(
      {2}, {static_cast<int32_t>(batch.number), static_cast<int32_t>(batch.number >> 32)}));
  loss_.weight.fill_(batch.weight);
  run(is_first_ ? first_ : later_, [&] { queue_gradient(batch.seed, batch.number); });
  is_first_ = false;
}

void DeviceStep::queue_gradient(uint64_t seed, uint64_t number) {
  const Workspace::Step scope(parts_.workspace);
  const TrainingScope training(seed, number, number_);
  parts_.model->add_loss_and_gradient(tokens_, targets_, *parts_.gradient, loss_);
}

void DeviceStep::finish(double clip) {
  input_.copy_from(to_device(parts_.optimizer->device_input(clip, weight()), Device{}));
  const int64_t steps = parts_.optimizer->steps();
  run(update_, [&] { queue_update(); });
  parts_.optimizer->set_steps(steps + 1);
  parts_.gradients.mark_zero();
  loss_.total.mark_zero();
  is_first_ = true;
  weight_ = 0;

  std::unique_ptr<detail::Readback> readback = unused_readback();
  readback->start(output_.device_data<double>());
  unread_.push_back(std::move(readback));
}

void DeviceStep::queue_update() {
  tables_.point_to(parts_.gradients);
  if (!sums_.defined()) sums_ = Tensor::empty({tables_.piece_count}, DType::float64, device_);
  squares_on_device(tables_, sums_);
  finish_step_on_device(input_, loss_.total, sums_, output_);
  parts_.optimizer->step_on_device(parts_.gradients, input_, output_);
  if (parts_.float8) parts_.float8->finish_step();
}

bool DeviceStep::is_planned() const {
  const WorkspaceStatistics statistics = parts_.workspace.statistics(device_);
  return statistics.unplanned_allocations == 0 && statistics.heap_allocations == 0;
}

void DeviceStep::run(Part& part, detail::ThreadBody work) {
  if (part.graph && part.moves != parts_.workspace.statistics(device_).moves) part = {};
  if (!part.graph && part.runs >= runs_before_capture && detail::is_switched_on("CLADTORCH_CUDA_GRAPHS"))
    capture(part, work);
  if (!part.graph) {
    work();
    if (is_planned()) ++part.runs;
    return;
  }
  part.graph->launch();
  for (Tensor& buffer : part.written) accumulate_into(&buffer, buffer.shape(), buffer.dtype(), device_);
}

void DeviceStep::capture(Part& part, detail::ThreadBody work) {
  std::vector<Tensor> marked = {loss_.total};
  for (const NamedTensor& gradient : parts_.gradients) marked.push_back(gradient.tensor);
  std::erase_if(marked, [](const Tensor& buffer) { return !buffer.is_marked_zero(); });
  try {
    part.graph = detail::capture(device_, work);
  } catch (const Error&) {  // a model that asks for its loss cannot be captured
    for (Tensor& buffer : marked) buffer.mark_zero();
    part.runs = std::numeric_limits<int>::min();
    return;
  }
  part.moves = parts_.workspace.statistics(device_).moves;
  part.written = marked;
  std::erase_if(part.written, [](const Tensor& buffer) { return buffer.is_marked_zero(); });
}

std::unique_ptr<detail::Readback> DeviceStep::unused_readback() {
  if (unused_.empty()) return detail::make_readback(device_, sizeof(StepOutput));
  std::unique_ptr<detail::Readback> last = std::move(unused_.back());
  unused_.pop_back();
  return last;
}

StepOutput DeviceStep::read() {
  std::unique_ptr<detail::Readback> readback = std::move(unread_.front());
  unread_.pop_front();
  const StepOutput output = *static_cast<const StepOutput*>(readback->wait());
  unused_.push_back(std::move(readback));
  return output;
}

}  // namespace

std::unique_ptr<StepEngine> device_step(StepParts& parts) { return std::make_unique<DeviceStep>(parts); }

}  // namespace cladtorch::train
