// Every operation of the catalogue: its gradients against differences, float and bfloat16, constants.
#include "tests/ops/catalogue.h"

#include <set>

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tests/support/bfloat16_check.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

using testing::bound;
using testing::Bound;
using testing::Operation;
using testing::relative_difference;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(Catalogue, HasEveryFunctionOfElements) {
  std::set<std::string> found;
  for (const Operation& operation : testing::catalogue())
    EXPECT_TRUE(found.insert(operation.name).second) << operation.name << " is there twice";
#define CLADTORCH_EXPECT(F) EXPECT_TRUE(found.contains(functions::F::name)) << #F;
  CLADTORCH_FUNCTIONS(CLADTORCH_EXPECT)
#undef CLADTORCH_EXPECT
#define CLADTORCH_EXPECT(F) EXPECT_TRUE(found.contains(std::string("pairwise_") + functions::F::name)) << #F;
  CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_EXPECT)
#undef CLADTORCH_EXPECT
}

class Catalogue : public ::testing::TestWithParam<Operation> {
 protected:
  const Operation& operation_ = GetParam();

  Tensors to(const Tensors& x, DType dtype) const {
    Tensors result;
    for (const Tensor& one : x) result.push_back(one.dtype() == DType::int32 ? one : one.to(dtype));
    return result;
  }
  /// Those of a cotangent that depends on the elements, into `d`.
  Tensor run(const Bound& f, const Gradients& d) const {
    const Tensor y = f.forward(f.x);
    f.pullback(f.x, testing::normals({y.shape()}, 9)[0].to(y.dtype()), d);
    return y;
  }
};

class Tangent : public Catalogue {};
class Rounding : public Catalogue {};

TEST_P(Catalogue, GradientsMatchDifferences) {
  for (const auto& shapes : operation_.cases) {
    int64_t largest = 0;
    for (const Shape& shape : shapes) largest = std::max(largest, shape.numel());
    if (largest > 2000) continue;  // for the loops of bfloat16 and of many threads
    const Bound f = bound(operation_, operation_.draw(shapes));
    EXPECT_TRUE(testing::gradients_match(f.forward, f.pullback, f.x)) << shapes[0];
  }
}

/// Those of other operations are in tests/integration/pushforward_test.cpp.
TEST_P(Tangent, AndItsGradientMatchDifferences) {
  const Tensors x = operation_.draw(operation_.cases[0]);
  Tensors all = x;
  for (const Tensor& one : x) all.push_back(testing::normals({one.shape()}, 8)[0]);
  constexpr double h = 6e-6;
  const auto at = [&](double step) {
    Tensors moved;
    for (size_t i = 0; i < x.size(); ++i) moved.push_back(testing::moved(x[i], step, all[x.size() + i]));
    return operation_.forward(moved);
  };
  EXPECT_LT(relative_difference(operation_.tangent(all), scale(sub(at(h), at(-h)), 0.5 / h)), 1e-8);
  EXPECT_TRUE(testing::gradients_match(operation_.tangent, operation_.tangent_pullback, all));
}

TEST_P(Catalogue, FloatAgreesWithDouble) {
  for (const auto& shapes : operation_.cases) {
    const Tensors narrow = to(operation_.draw(shapes), DType::float32);
    const Bound f = bound(operation_, narrow), g = bound(operation_, to(narrow, DType::float64));
    const Tensor y = g.forward(g.x), d_y = testing::normals({y.shape()}, 6)[0].to(DType::float32);
    EXPECT_LT(relative_difference(f.forward(f.x), y), 5e-6) << shapes[0];
    Tensors d(f.x.size()), wide(f.x.size());
    Gradients to_d, to_wide;
    for (size_t i = 0; i < d.size(); ++i) {
      to_d.push_back(&d[i]);
      to_wide.push_back(&wide[i]);
    }
    f.pullback(f.x, d_y, to_d);
    g.pullback(g.x, d_y.to(DType::float64), to_wide);
    for (size_t i = 0; i < d.size(); ++i) EXPECT_LT(relative_difference(d[i], wide[i]), 1e-5) << shapes[0];
  }
}

TEST_P(Rounding, OfBfloat16IsDoneOnce) {
  for (const auto& shapes : operation_.cases) {
    const Bound f = bound(operation_, operation_.draw(shapes));
    EXPECT_TRUE(testing::bfloat16_matches_float(f.forward, f.pullback, f.x, operation_.rounding))
        << shapes[0];
  }
}

class Frozen : public Catalogue {
 protected:
  Bound in(DType dtype) const { return bound(operation_, to(operation_.draw(operation_.cases[0]), dtype)); }
};

TEST_P(Frozen, ArgumentsLeaveTheGradientsOfTheOthersAsTheyAre) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Bound f = in(dtype);
    const auto gradients = [&](Tensor* y) {
      Tensors buffers;
      Gradients d;
      for (const Tensor& one : f.x) buffers.push_back(gradient_buffer_like(one));
      for (Tensor& buffer : buffers) d.push_back(&buffer);
      *y = run(f, d);
      return buffers;
    };
    Tensor expected_y;
    const Tensors expected = gradients(&expected_y);
    EXPECT_FALSE(expected_y.is_frozen());
    for (unsigned frozen = 1; frozen < 1u << f.x.size(); ++frozen) {
      for (size_t i = 0; i < f.x.size(); ++i) f.x[i].set_frozen(frozen >> i & 1);
      Tensor y;
      const Tensors got = gradients(&y);
      EXPECT_TRUE(same_bits(y, expected_y));
      EXPECT_EQ(y.is_frozen(), frozen + 1 == 1u << f.x.size()) << frozen;
      for (size_t i = 0; i < f.x.size(); ++i) {
        EXPECT_EQ(got[i].is_gradient_sink(), f.x[i].is_frozen());
        if (!f.x[i].is_frozen()) EXPECT_TRUE(same_bits(got[i], expected[i])) << frozen;
      }
    }
  }
}

TEST_P(Frozen, ArgumentsEndTheBackwardPass) {
  Bound f = in(DType::float32);
  Tensors local(f.x.size());
  Gradients d;
  for (Tensor& one : local) d.push_back(&one);
  for (Tensor& one : f.x) one.set_frozen(true);
  run(f, d);
  for (const Tensor& one : local) EXPECT_FALSE(one.defined());
}

TEST_P(Frozen, ArgumentsWithAGradientOfOlderDateAreAnError) {
  Bound f = in(DType::float32);
  Tensors buffers;
  Gradients d;
  for (const Tensor& one : f.x) buffers.push_back(gradient_buffer_like(one));
  for (Tensor& buffer : buffers) d.push_back(&buffer);
  f.x.back().set_frozen(true);
  EXPECT_THROW(run(f, d), Error);
}

std::vector<Operation> those(bool (*property)(const Operation& operation)) {
  std::vector<Operation> found = testing::catalogue();
  std::erase_if(found, [&](const Operation& operation) { return !property(operation); });
  return found;
}

const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(All, Catalogue, ::testing::ValuesIn(testing::catalogue()), name_of);
INSTANTIATE_TEST_SUITE_P(All, Tangent,
                         ::testing::ValuesIn(those([](const Operation& f) { return f.tangent != nullptr; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Rounding,
                         ::testing::ValuesIn(those([](const Operation& f) { return f.rounds_once; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Frozen,
                         ::testing::ValuesIn(those([](const Operation& f) { return f.freezes; })), name_of);

}  // namespace
}  // namespace cladtorch
