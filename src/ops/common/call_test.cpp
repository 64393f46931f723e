#include "ops/common/call.h"

#include <gtest/gtest.h>

#include "cladtorch/ops/ops.h"
#include "tests/support/gradcheck.h"

namespace cladtorch::detail {
namespace {

using testing::error_of;

Tensor frozen(Tensor x) {
  x.set_frozen(true);
  return x;
}

TEST(Call, RefusesOperandsThatDoNotFit) {
  const Tensor a = zeros({2}), wide = zeros({2}, DType::float64), none;
  EXPECT_EQ(error_of([&] { Call("op", {{"a", a}, {"b", none}}); }), "op: b is undefined");
  EXPECT_EQ(error_of([&] { Call("op", {{"index", none, Operand::independent}, {"a", a}}); }),
            "op: index is undefined");
  EXPECT_EQ(error_of([&] { Call("op", {{"a", a}, {"b", wide}}); }),
            "op: dtypes differ: a is float32, b is float64; convert with to()");
  EXPECT_EQ(error_of([&] { Call("op", {{"a", a}, {"bias", wide, Operand::optional}}); }),
            "op: dtypes differ: a is float32, bias is float64; convert with to()");
  const Call call("op", {{"index", wide, Operand::independent}, {"a", a}, {"bias", none, Operand::optional}});
  EXPECT_EQ(call.empty({3}).dtype(), DType::float32);
}

TEST(Call, IsCountedOnlyIfItIsNotRefused) {
  const auto counted = [](auto f) {
    const int64_t before = op_count();
    f();
    return op_count() - before;
  };
  const Tensor a = zeros({2});
  EXPECT_EQ(counted([&] { add(a, a); }), 1);
  EXPECT_EQ(counted([&] { error_of([&] { add(a, zeros({3})); }); }), 0);
  EXPECT_EQ(counted([&] { error_of([&] { add(a, Tensor()); }); }), 0);
  EXPECT_EQ(counted([&] { error_of([&] { eq(a, zeros({3})); }); }), 0);
}

TEST(Call, HasAConstantResultIfAllThatDecideAreConstants) {
  const Tensor a = zeros({2}), constant = frozen(zeros({2})), none;
  const auto is_constant = [](std::initializer_list<Operand> operands) {
    const Call call("op", operands);
    const Tensor y = call.result({2}), other = call.finish(call.empty({2}));
    EXPECT_EQ(y.is_frozen(), other.is_frozen());
    return y.is_frozen();
  };
  EXPECT_TRUE(is_constant({{"a", constant}, {"b", constant}}));
  EXPECT_FALSE(is_constant({{"a", a}, {"b", constant}}));
  EXPECT_FALSE(is_constant({{"a", constant}, {"b", a}}));
  EXPECT_TRUE(is_constant({{"a", constant}, {"bias", none, Operand::optional}}));
  EXPECT_TRUE(is_constant({{"index", a, Operand::independent}, {"a", constant}}));
  EXPECT_FALSE(is_constant({{"a", constant, Operand::independent}}));
}

TEST(Call, ComputesSumsOfBfloat16InFloat) {
  const Tensor x = zeros({2}, DType::bfloat16);
  const Call call("op", {{"x", x}});
  EXPECT_EQ(call.sums({}).dtype(), DType::float32);
  EXPECT_EQ(call.empty({}).dtype(), DType::bfloat16);
  EXPECT_EQ(call.result({}, DType::int32).dtype(), DType::int32);
}

}  // namespace
}  // namespace cladtorch::detail
