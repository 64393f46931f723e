// The library's fusion rules of small expressions: what they save, and that the gradient stays what it was,
// also where they find that they do not apply when the program runs.
#include "tests/integration/fusion_rules.h"

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/fusion.h"
#include "tests/support/gradcheck.h"

namespace {

using cladtorch::DType;
using cladtorch::Tensor;
using cladtorch::testing::Tensors;

struct Gradient {
  Tensors parts = Tensors(3);
  int64_t operations = 0;
};
Gradient gradient_of(const fusion_rules::Case& f, const Tensors& x) {
  Gradient g;
  const int64_t before = cladtorch::op_count();
  f.gradient(x[0], x[1], x[2], &g.parts[0], &g.parts[1], &g.parts[2]);
  g.operations = cladtorch::op_count() - before;
  return g;
}

TEST(FusionRules, SaveOperationsAndKeepTheGradient) {
  for (size_t i = 0; i < std::size(fusion_rules::cases); ++i) {
    const fusion_rules::Case &with = fusion_rules::cases[i], &without = fusion_rules::without_rules(i);
    SCOPED_TRACE(with.name);
    const Tensors x = cladtorch::testing::normals({{3, 4, 7}, {3, 4, 7}, {7}});
    const Gradient fused = gradient_of(with, x), plain = gradient_of(without, x);
    EXPECT_EQ(plain.operations - fused.operations, with.saved);
    for (size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(fused.parts[k].defined(), plain.parts[k].defined()) << k;
      if (!plain.parts[k].defined()) continue;
      EXPECT_LT(cladtorch::testing::relative_difference(fused.parts[k], plain.parts[k]), 1e-13) << k;
    }
  }
}

TEST(FusionRules, HaveTheGradientOfDifferences) {
  for (const fusion_rules::Case& f : fusion_rules::cases) {
    SCOPED_TRACE(f.name);
    const Tensors x = cladtorch::testing::normals({{2, 3, 5}, {2, 3, 5}, {5}});
    const Tensors v = cladtorch::testing::normals({{2, 3, 5}, {2, 3, 5}, {5}}, 2);
    const Gradient g = gradient_of(f, x);
    const auto value = [&](double h) {
      Tensors at;
      for (size_t k = 0; k < 3; ++k) at.push_back(cladtorch::testing::moved(x[k], h, v[k]));
      return f.function(at[0], at[1], at[2]);
    };
    double slope = 0;
    for (size_t k = 0; k < 3; ++k)
      if (g.parts[k].defined()) slope += cladtorch::testing::dot(g.parts[k], v[k]);
    EXPECT_NEAR(slope, (value(1e-5) - value(-1e-5)) / 2e-5, 1e-6 * (1 + std::abs(slope)));
  }
}

}  // namespace
