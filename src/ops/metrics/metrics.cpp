#include "cladtorch/ops/metrics.h"

#include "cladtorch/ops/along.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/recorder.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

/// Dense int32 classes of predictions or scores.
Tensor classes_of(const char* operation, const Tensor& predictions, const Tensor& targets) {
  require(predictions.defined() && targets.defined(), operation, ": a tensor is undefined");
  const bool scores = is_floating(predictions.dtype());
  require(!scores || predictions.dim() > 0, operation, ": scores have no dimension of classes");
  const Tensor classes = scores ? argmax(predictions, -1) : predictions;
  require(classes.shape() == targets.shape() && !is_floating(targets.dtype()), operation,
          ": predictions of shape ", predictions.shape(), " do not fit targets of shape ", targets.shape(),
          ", which must be integers");
  return classes.to(DType::int32).contiguous();
}
Tensor dense_targets(const Tensor& targets) { return targets.to(DType::int32).contiguous(); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double accuracy(const Tensor& predictions, const Tensor& targets) {
  const NotRecorded constant;
  const Tensor found = classes_of("accuracy", predictions, targets), wanted = dense_targets(targets);
  int64_t right = 0;
  for (int64_t i = 0; i < found.numel(); ++i) right += found.data<int32_t>()[i] == wanted.data<int32_t>()[i];
  return share(static_cast<double>(right), static_cast<double>(found.numel()));
}

double topk_accuracy(const Tensor& scores, const Tensor& targets, int64_t k) {
  const NotRecorded constant;
  require(scores.defined() && targets.defined() && scores.dim() > 0 && !is_floating(targets.dtype()) &&
              scores.shape().without(scores.dim() - 1) == targets.shape(),
          "topk_accuracy: scores of shape ", scores.shape(), " do not fit targets of shape ",
          targets.shape());
  const int64_t classes = scores.size(-1);
  require(k >= 1 && k <= classes, "topk_accuracy: expected k from 1 to ", classes, ", got ", k);
  const Tensor dense = scores.contiguous(), wanted = dense_targets(targets);
  int64_t right = 0;
  detail::dispatch_real("topk_accuracy", scores.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < wanted.numel(); ++i) {
      const T* const row = dense.data<T>() + i * classes;
      const int32_t target = wanted.data<int32_t>()[i];
      require(target >= 0 && target < classes, "topk_accuracy: target ", target, " is outside [0, ", classes,
              ")");
      const double own = static_cast<double>(static_cast<detail::Computed<T>>(row[target]));
      int64_t before = 0;
      for (int64_t c = 0; c < classes; ++c) {
        const double other = static_cast<double>(static_cast<detail::Computed<T>>(row[c]));
        before += other > own || (other == own && c < target);
      }
      right += before < k && own == own;
    }
  });
  return share(static_cast<double>(right), static_cast<double>(wanted.numel()));
}

Tensor confusion_matrix(const Tensor& predictions, const Tensor& targets, int64_t classes) {
  const Tensor found = classes_of("confusion_matrix", predictions, targets), wanted = dense_targets(targets);
  Tensor matrix = zeros({classes, classes}, DType::int32);
  for (int64_t i = 0; i < found.numel(); ++i) {
    const int32_t row = wanted.data<int32_t>()[i], column = found.data<int32_t>()[i];
    require(row >= 0 && row < classes && column >= 0 && column < classes, "confusion_matrix: target ", row,
            " or prediction ", column, " is outside [0, ", classes, ")");
    ++matrix.data<int32_t>()[row * classes + column];
  }
  return matrix;
}

ClassScores class_scores(const Tensor& confusion, Average average) {
  require(confusion.defined() && confusion.dim() == 2 && confusion.size(0) == confusion.size(1) &&
              confusion.dtype() == DType::int32,
          "class_scores: expected an int32 confusion matrix [classes,classes]");
  const int64_t classes = confusion.size(0);
  const Tensor dense = confusion.contiguous();
  const auto at = [&](int64_t i, int64_t j) {
    return static_cast<double>(dense.data<int32_t>()[i * classes + j]);
  };
  ClassScores mean;
  double right = 0, all = 0;
  for (int64_t c = 0; c < classes; ++c) {
    double targets = 0, predictions = 0;
    for (int64_t other = 0; other < classes; ++other) {
      targets += at(c, other);
      predictions += at(other, c);
    }
    const double n = static_cast<double>(classes);
    mean.precision += share(at(c, c), predictions) / n;
    mean.recall += share(at(c, c), targets) / n;
    mean.f1 += share(2 * at(c, c), targets + predictions) / n;
    right += at(c, c);
    all += targets;
  }
  if (average == Average::macro) return mean;
  const double accuracy = share(right, all);
  return {accuracy, accuracy, accuracy};
}

ClassScores class_scores(const Tensor& predictions, const Tensor& targets, int64_t classes, Average average) {
  return class_scores(confusion_matrix(predictions, targets, classes), average);
}

}  // namespace cladtorch
