// Recurrent networks: what the catalogue (tests/ops/recurrent.cpp) does not ask.
#include "cladtorch/ops/recurrent.h"

#include <gtest/gtest.h>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;
using testing::normals;
using testing::relative_difference;
using testing::same_bits;
using testing::Tensors;

TEST(Recurrent, SequencesDoWhatTheirStepsDo) {
  const Tensors x = normals({{4, 3, 20}, {20, 5}, {20}});
  const RecurrentResult y = lstm_sequence(x[0], x[1], x[2], {}, {});
  Tensor h = zeros({3, 5}, DType::float64), c = h;
  for (int64_t t = 0; t < 4; ++t) {
    const LstmStep next = lstm_cell(x[0].select(0, t), linear(h, x[1], x[2]), c);
    h = next.h;
    c = next.c;
    EXPECT_LT(relative_difference(y.output.select(0, t), h), 1e-14);
  }
  EXPECT_LT(relative_difference(y.h, h), 1e-14);
  EXPECT_LT(relative_difference(y.c, c), 1e-14);
  const RecurrentResult none = lstm_sequence(x[0].narrow(0, 0, 0), x[1], x[2], h, c);
  EXPECT_EQ(none.output.shape(), (Shape{0, 3, 5}));
  EXPECT_TRUE(same_bits(none.h, h));
  EXPECT_TRUE(same_bits(none.c, c));
}

TEST(Recurrent, BitsDoNotDependOnThreads) {
  const int before = num_threads();
  Tensors x = normals({{5, 150, 60}, {60, 20}, {60}, {150, 20}, {5, 150, 20}});
  for (Tensor& one : x) one = one.to(DType::float32);
  std::vector<Tensor> expected;
  for (const int threads : {1, 2, 3, 16}) {
    set_num_threads(threads);
    clad::pullback_state<SequenceState> state;
    const RecurrentResult y = pullbacks::gru_sequence_reverse_forw(x[0], x[1], x[2], x[3], {}, true, state);
    Tensor d_x, d_weight, d_bias, d_h;
    pullbacks::gru_sequence_pullback({}, x[1], x[2], x[3], {}, true, {x[4], {}, {}}, &d_x, &d_weight, &d_bias,
                                     &d_h, nullptr, state);
    const std::vector<Tensor> got{y.output, y.h, d_x, d_weight, d_bias, d_h};
    if (expected.empty()) expected = got;
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(same_bits(got[i], expected[i])) << threads << ' ' << i;
  }
  set_num_threads(before);
}

TEST(Recurrent, ErrorsNameWhatDoesNotFit) {
  const Tensor x = zeros({4, 3, 20}), weight = zeros({20, 5}), h = zeros({3, 5});
  const auto lengths = [](int32_t last) { return from_values<int32_t>({3}, {4, 0, last}); };
  EXPECT_EQ(error_of([&] { lstm_sequence(x, zeros({15, 5}), {}, {}, {}); }),
            "lstm_sequence: expected from_x [T, N, 4 H] and weight [4 H, H], got [4,3,20] and [15,5]");
  EXPECT_EQ(error_of([&] { lstm_sequence(x, weight, zeros({5}), {}, {}); }),
            "lstm_sequence: expected bias [20], got [5]");
  EXPECT_EQ(error_of([&] { lstm_sequence(x, weight, {}, h, zeros({3, 4})); }),
            "lstm_sequence: expected first states [3,5], got [3,4]");
  EXPECT_EQ(error_of([&] { lstm_sequence(x, weight, {}, {}, {}, lengths(5)); }),
            "lstm_sequence: length 5 of sequence 2 is not in 0..4");
  EXPECT_EQ(
      error_of([&] { gru_sequence(x.narrow(2, 0, 15), zeros({15, 5}), {}, {}, zeros({2}, DType::int32)); }),
      "gru_sequence: expected lengths [3], got [2]");
}

}  // namespace
}  // namespace cladtorch
