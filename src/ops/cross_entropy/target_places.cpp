// Targets as zeros and ones, for cross_entropy with options.
#include "cladtorch/ops/losses.h"
#include "tensor/indices.h"

namespace cladtorch::detail {
namespace {

/// Calls f(row, target) for each target that counts.
template <class F>
void for_each_target(const char* operation, const Tensor& targets, int64_t classes, int64_t ignore_index,
                     F f) {
  require(targets.defined() && !is_floating(targets.dtype()), operation,
          ": expected targets that are integers");
  const Tensor dense = targets.to(DType::int32).contiguous();
  const int32_t* const data = dense.data<int32_t>();
  for (int64_t row = 0; row < dense.numel(); ++row) {
    if (data[row] == ignore_index) continue;
    require(data[row] >= 0 && data[row] < classes, operation, ": target ", data[row], " is outside [0, ",
            classes, ")");
    f(row, data[row]);
  }
}

}  // namespace

Tensor targets_one_hot(const char* operation, const Tensor& targets, int64_t classes, int64_t ignore_index,
                       DType dtype) {
  Shape shape = targets.shape();
  shape.push_back(classes);
  Tensor places = zeros(shape, dtype);
  const auto put = [&]<class T>(T* data) {
    for_each_target(operation, targets, classes, ignore_index,
                    [&](int64_t row, int32_t target) { data[row * classes + target] = 1; });
  };
  if (dtype == DType::float64) {
    put(places.data<double>());
  } else {
    put(places.data<float>());
  }
  return places;
}

Tensor targets_counted(const Tensor& targets, int64_t ignore_index, DType dtype) {
  Tensor counted = zeros(targets.shape(), DType::float32);
  for_each_target("cross_entropy", targets, INT32_MAX, ignore_index,
                  [&](int64_t row, int32_t) { counted.data<float>()[row] = 1; });
  return counted.to(dtype);
}

Tensor named_classes(const Tensor& targets, const Shape& scores, DType dtype) {
  require(targets.defined() && targets.shape() == scores && scores.rank() > 0,
          "multilabel_margin_loss: expected scores and targets of one shape [..., C], got ", scores, " and ",
          targets.defined() ? targets.shape() : Shape());
  const Tensor dense = as_int32("multilabel_margin_loss", "targets", targets).contiguous();
  const int64_t classes = scores.back();
  Tensor named = zeros(scores, DType::float32);
  for (int64_t row = 0; row < dense.numel(); row += classes) {
    const int32_t* const of_row = dense.data<int32_t>() + row;
    for (int64_t i = 0; i < classes && of_row[i] != -1; ++i) {
      require(of_row[i] >= 0 && of_row[i] < classes, "multilabel_margin_loss: target ", of_row[i],
              " is outside [0, ", classes, ")");
      named.data<float>()[row + of_row[i]] = 1;
    }
  }
  return named.to(dtype);
}

}  // namespace cladtorch::detail
