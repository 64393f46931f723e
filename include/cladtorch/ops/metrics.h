// What a classifier gets right. Predictions are classes, int32 [...], or scores [..., C], of which the
// largest is the prediction; targets are int32 [...]. Nothing here has a derivative. Throws Error for shapes
// that do not fit, and for classes that do not exist.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The share of targets that are predicted.
CLAD_NONDIFFERENTIABLE double accuracy(const Tensor& predictions, const Tensor& targets);
/// The share of targets that are among the k largest of scores [..., C]. Of equal scores the first ones
/// count.
CLAD_NONDIFFERENTIABLE double topk_accuracy(const Tensor& scores, const Tensor& targets, int64_t k);

/// How often a target of class i is predicted as j: int32 [classes, classes].
CLAD_NONDIFFERENTIABLE Tensor confusion_matrix(const Tensor& predictions, const Tensor& targets,
                                               int64_t classes);

/// How numbers of classes become one: their mean over all classes, or one number from the sums of all, which
/// is the accuracy.
enum class Average { macro, micro };

struct ClassScores {
  double precision = 0;  ///< the share of predictions of a class that are right
  double recall = 0;     ///< the share of targets of a class that are found
  double f1 = 0;         ///< 2 precision recall / (precision + recall)
};
/// Those of a confusion matrix. A class without predictions has a precision of 0, one without targets a
/// recall of 0, as in scikit-learn.
CLAD_NONDIFFERENTIABLE ClassScores class_scores(const Tensor& confusion, Average average = Average::macro);
CLAD_NONDIFFERENTIABLE ClassScores class_scores(const Tensor& predictions, const Tensor& targets,
                                                int64_t classes, Average average = Average::macro);

}  // namespace cladtorch
