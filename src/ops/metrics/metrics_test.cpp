#include "cladtorch/ops/metrics.h"

#include <gtest/gtest.h>

#include "cladtorch/tensor/factories.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

const Tensor& targets() {
  static const Tensor values = from_values<int32_t>({6}, {0, 1, 2, 2, 1, 0});
  return values;
}
const Tensor& predictions() {
  static const Tensor values = from_values<int32_t>({6}, {0, 2, 2, 2, 1, 1});
  return values;
}

TEST(Metrics, Accuracies) {
  EXPECT_NEAR(accuracy(predictions(), targets()), 4 / 6.0, 1e-12);
  EXPECT_NEAR(accuracy(one_hot(predictions(), 3), targets()), 4 / 6.0, 1e-12);
  const Tensor scores = from_values<float>({3, 3}, {1, 3, 2, 2, 2, 0, 0, 5, 1});
  const Tensor wanted = from_values<int32_t>({3}, {2, 1, 0});
  EXPECT_EQ(topk_accuracy(scores, wanted, 1), 0);
  EXPECT_NEAR(topk_accuracy(scores, wanted, 2), 2 / 3.0, 1e-12);
  EXPECT_EQ(topk_accuracy(scores, wanted, 3), 1);
}

/// Numbers of scikit-learn's precision_recall_fscore_support.
TEST(Metrics, ScoresOfClasses) {
  const Tensor confusion = confusion_matrix(predictions(), targets(), 3);
  EXPECT_EQ(confusion.select(0, 0).select(0, 1).item(), 1);
  EXPECT_EQ(confusion.select(0, 1).select(0, 2).item(), 1);
  EXPECT_EQ(confusion.select(0, 2).select(0, 2).item(), 2);
  const ClassScores macro = class_scores(confusion);
  EXPECT_NEAR(macro.precision, (1 + 0.5 + 2 / 3.0) / 3, 1e-12);
  EXPECT_NEAR(macro.recall, (0.5 + 0.5 + 1) / 3, 1e-12);
  EXPECT_NEAR(macro.f1, (2 / 3.0 + 0.5 + 0.8) / 3, 1e-12);
  EXPECT_NEAR(class_scores(predictions(), targets(), 3, Average::micro).f1, 4 / 6.0, 1e-12);
  EXPECT_EQ(class_scores(zeros({2, 2}, DType::int32)).f1, 0);
}

TEST(Metrics, ErrorsNameShapesAndClasses) {
  using testing::error_of;
  EXPECT_EQ(error_of([] { accuracy(zeros({4, 3}), targets()); }),
            "accuracy: predictions of shape [4,3] do not fit targets of shape [6], which must be integers");
  EXPECT_EQ(error_of([] { confusion_matrix(predictions(), targets(), 2); }),
            "confusion_matrix: target 1 or prediction 2 is outside [0, 2)");
  EXPECT_EQ(error_of([] { topk_accuracy(zeros({6, 3}), targets(), 4); }),
            "topk_accuracy: expected k from 1 to 3, got 4");
}

}  // namespace
}  // namespace cladtorch
