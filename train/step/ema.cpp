#include "cladtorch/train/ema.h"

#include <utility>

#include "cladtorch/ops/composed.h"
#include "tensor/dispatch.h"
#include "train/step/best_instructions.h"
#include "train/step/update.h"

namespace cladtorch {
namespace {

std::vector<NamedTensor> frozen(const std::vector<NamedTensor>& list) {
  std::vector<NamedTensor> found;
  for (const NamedTensor& named : list)
    if (named.tensor.is_frozen()) found.push_back(named);
  return found;
}

template <class T, class Average>
[[gnu::always_inline]] inline void average_loop(Average* __restrict__ average, const T* __restrict__ values,
                                                int64_t count, Average weight) {
  for (int64_t i = 0; i < count; ++i) average[i] += weight * (static_cast<Average>(values[i]) - average[i]);
}

}  // namespace

WeightAverage::WeightAverage(std::vector<NamedTensor> averages, std::vector<NamedTensor> values)
    : averages_(averages),
      values_(values),
      frozen_averages_(frozen(averages)),
      frozen_values_(frozen(values)) {}

void WeightAverage::update(double decay) {
  for (size_t i = 0; i < frozen_values_.size(); ++i)
    frozen_averages_[i].tensor.copy_from(frozen_values_[i].tensor);
  if (averages_[0].tensor.is_cuda()) {
    for (size_t i = 0; i < averages_.size(); ++i) {
      Tensor& average = averages_[i].tensor;
      average.copy_from(lerp(average, values_[i].tensor.to(average.dtype()), 1 - decay));
    }
    return;
  }
  // Once, here, and not from several threads.
  for (TensorList* list : {&averages_, &values_})
    for (NamedTensor& named : *list) named.tensor.data();
  detail::dispatch_real("AveragedModel", values_.dtype(), [&]<class T>(T) {
    using Average = detail::Computed<T>;
    const auto weight = static_cast<Average>(1 - decay);
    train::for_each_piece(values_, values_.all_pieces(), [&](size_t tensor, int64_t begin, int64_t end) {
      Average* const average = train::elements<Average>(averages_[tensor].tensor) + begin;
      const T* const values = train::elements<T>(values_[tensor].tensor) + begin;
      train::with_best_instructions(
          [&]() __attribute__((always_inline)) { average_loop(average, values, end - begin, weight); });
    });
  });
}

}  // namespace cladtorch
