#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <ranges>
#include <vector>

#include "cladtorch/ops/dropout.h"
#include "train/step/leaf_sums.h"
#include "train/step/parameter_gather.h"
#include "train/step/shared_state.h"
#include "train/step/shares.h"
#include "train/step/step_engine.h"

namespace cladtorch::train {
namespace {

class HostStep : public StepEngine {
 public:
  HostStep(StepParts& parts, const Sharing& sharing)
      : parts_(parts),
        ranks_(sharing.ranks),
        shares_update_(ranks_.size() > 1 && sharing.zero > 0 && parts.optimizer->can_share()),
        leaves_(sharing.leaves, ranks_.size(), sharing.zero == 2),
        shares_(parts.gradients, ranks_.size(), sharing.bucket_elements),
        background_(ranks_.size() == 1 || sharing.overlap),
        sums_(ranks_, leaves_, parts.gradients, parts.gradient_memory, shares_, sharing.overlap, background_),
        words_(static_cast<size_t>(ranks_.size())) {
    if (!shares_update_) return;
    parts.optimizer->set_share(shares_.pieces(ranks_.rank()));
    gather_.emplace(ranks_, parts.optimizer->parameters(), shares_, background_);
    state_.emplace(ranks_, *parts.optimizer, shares_, background_.cancelled());
  }
  ~HostStep() override { background_.stop(); }

  void plan(const Tensor& tokens, const Tensor& targets) override {
    sums_.begin_plan();
    gradient_of({.tokens = tokens, .targets = targets});
    parts_.gradients.mark_zero();
    if (parts_.float8) parts_.float8->forget_step();
  }
  std::span<const int64_t> leaves() const override { return sums_.mine(); }
  void add(const MicroBatch& batch) override {
    weights_.push_back(batch.weight);
    double loss = 0;
    if (batch.weight > 0) {
      sums_.begin(batch.ends_leaf);
      // Several leaves are added after the operations have summed squares.
      if (batch.ends_leaf && leaves_.all().count() == 1) parts_.gradients.prepare_norm();
      loss = gradient_of(batch);
    }
    losses_.push_back(loss);
    if (batch.ends_leaf) sums_.end_leaf();
  }
  void sum_leaves(bool whole, RankWord word) override {
    sums_.finish(whole || (ranks_.size() > 1 && !shares_update_));
    if (ranks_.size() == 1) {
      words_ = {word};
      totals_ = {sum(weights_), sum(losses_), parts_.gradients.norm()};
    } else {
      word.waited = sums_.waited();
      if (gather_) {  // this rank was not slow when it waited for parameters of others
        const double late = gather_->take_waited();
        word.seconds = std::max(0.0, word.seconds - late);
        word.waited += late;
      }
      tell(word);
    }
    losses_.clear();
    weights_.clear();
  }
  std::span<const RankWord> words() const override { return words_; }
  double weight() const override { return totals_.weight > 0 ? totals_.weight : 1; }
  void do_beside(std::function<void()> job) override { background_.add(std::move(job)); }
  void finish_beside() override { background_.wait(); }
  void finish(double clip) override {
    background_.wait();
    const StepOutput output = finished_step(totals_.loss, totals_.norm, weight(), clip, stopped_);
    stopped_ = std::isnan(output.gradient_scale);
    if (!stopped_) {
      parts_.optimizer->step(parts_.gradients, output.gradient_scale);
      if (parts_.float8) parts_.float8->finish_step();
      if (gather_) gather_->begin();
    } else {
      parts_.gradients.mark_zero();
    }
    done_.push_back(output);
  }
  void read_state(const std::function<void()>& read) override {
    if (state_)
      state_->read(read);
    else if (ranks_.is_first())
      read();
  }
  Tensor whole_state(const TensorList& state, size_t tensor) override {
    return state_ ? state_->whole(state, tensor) : state[tensor].tensor;
  }
  StepOutput read() override {
    const StepOutput output = done_.front();
    done_.pop_front();
    return output;
  }
  bool runs_ahead() const override { return false; }

 private:
  static double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  double gradient_of(const MicroBatch& batch) {
    const Workspace::Step scope(parts_.workspace);
    const TrainingScope training(batch.seed, batch.number);
    return parts_.model->loss_and_gradient(batch.tokens, batch.targets, *parts_.gradient, batch.weight);
  }

  /// All ranks learn in one message what each knows of the step: its word, the weights and losses of its
  /// micro-batches, the squares of its share of the gradient, and the largest values in layers of 8 bits.
  /// What is added has an order that does not depend on the ranks.
  void tell(const RankWord& word) {
    const int64_t per_leaf = static_cast<int64_t>(weights_.size() / sums_.mine().size());
    std::vector<double> largest = largest_of_step();
    std::vector<size_t> sizes;
    for (int rank = 0; rank < ranks_.size(); ++rank)
      sizes.push_back(sizeof(RankWord) +
                      sizeof(double) * (2 * leaves_.of_rank(rank).size() * static_cast<size_t>(per_leaf) +
                                        shares_.pieces(rank).size() + largest.size()));
    const std::span<const double> squares = parts_.gradients.squares(shares_.pieces(ranks_.rank()));
    std::vector<double> mine = {word.seconds, word.waited, word.wants_stop, word.steps};
    for (const std::span<const double> part :
         {std::span<const double>(weights_), std::span<const double>(losses_), squares,
          std::span<const double>(largest)})
      mine.insert(mine.end(), part.begin(), part.end());
    std::vector<double> all(std::accumulate(sizes.begin(), sizes.end(), size_t{0}) / sizeof(double));
    ranks_.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes,
                      "the loss of the step");

    const auto batches = static_cast<size_t>(leaves_.all().count() * per_leaf);
    std::vector<double> weights(batches), losses(batches), pieces(parts_.gradients.pieces().size());
    const double* next = all.data();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      words_[static_cast<size_t>(rank)] = {next[0], next[1], next[2], next[3]};
      next += 4;
      for (std::vector<double>* values : {&weights, &losses})
        for (const int64_t leaf : leaves_.of_rank(rank)) {
          std::copy_n(next, per_leaf, values->begin() + leaf * per_leaf);
          next += per_leaf;
        }
      for (const size_t piece : shares_.pieces(rank)) pieces[piece] = *next++;
      for (double& value : largest) value = std::max(value, *next++);
    }
    set_largest_of_step(largest);
    totals_ = {sum(weights), sum(losses), std::sqrt(sum(pieces))};
  }

  std::vector<double> largest_of_step() const {
    if (!parts_.float8) return {};
    const Tensor largest = parts_.float8->amax_of_step().contiguous();
    return {largest.data<float>(), largest.data<float>() + largest.numel()};
  }
  void set_largest_of_step(std::span<const double> largest) {
    if (!parts_.float8) return;
    Tensor step = parts_.float8->amax_of_step();
    Tensor all = Tensor::empty(step.shape(), DType::float32);
    std::ranges::copy(largest | std::views::transform([](double v) { return static_cast<float>(v); }),
                      all.data<float>());
    step.copy_from(all);
  }

  struct Totals {
    double weight, loss, norm;  ///< of all micro-batches of the step
  };

  StepParts& parts_;
  comm::Communicator& ranks_;
  bool shares_update_;  // each rank updates its share
  LeafPlan leaves_;
  Shares shares_;  // of the parameters, by rank
  Background background_;
  LeafSums sums_;
  // Where each rank updates its share.
  std::optional<ParameterGather> gather_;
  std::optional<SharedState> state_;
  std::vector<double> weights_, losses_;  // of this rank's micro-batches; losses times their weight
  Totals totals_{};
  std::vector<RankWord> words_;
  bool stopped_ = false;
  std::deque<StepOutput> done_;
};

}  // namespace

std::unique_ptr<StepEngine> host_step(StepParts& parts, const Sharing& sharing) {
  return std::make_unique<HostStep>(parts, sharing);
}

}  // namespace cladtorch::train
