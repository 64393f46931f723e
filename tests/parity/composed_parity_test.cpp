// Operations that are made of others, which the plugin differentiates here as in a user's program, against
// values and gradients of PyTorch.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/ops/ops.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

struct Operands {
  Tensor a, b, c;
};
constexpr std::pair<const char*, Tensor Operands::*> places[] = {
    {"a", &Operands::a}, {"b", &Operands::b}, {"c", &Operands::c}};

/// Checks f, whose value is y, and its gradient: `gradient` is of the sum of y d_y.
template <class Value, class Gradient>
void check(const std::string& name, Value value, Gradient gradient) {
  const testing::Reference reference;
  const std::string prefix = "composed_" + name + "/";
  Operands x, d;
  for (const auto& [key, place] : places)
    if (reference.contains(prefix + key)) x.*place = reference[prefix + key];
  EXPECT_LT(testing::relative_difference(value(x), reference[prefix + "y"]), 1e-5);
  gradient.execute(x, reference[prefix + "d_y"], &d);
  for (const auto& [key, place] : places) {
    if (!(x.*place).defined()) continue;
    ASSERT_TRUE((d.*place).defined()) << key;
    EXPECT_LT(testing::relative_difference(d.*place, reference[prefix + "d_" + key]), 1e-5) << key;
  }
}

#define CHECK_COMPOSED(name, call)                             \
  Tensor value_of_##name(const Operands& x) { return call; }   \
  double sum_of_##name(const Operands& x, const Tensor& d_y) { \
    return sum(mul(value_of_##name(x), d_y)).item();           \
  }                                                            \
  TEST(ComposedParity, name) { check(#name, value_of_##name, clad::gradient(sum_of_##name, "x")); }

CHECK_COMPOSED(stack, stack({x.a, x.b, x.a}, 1))
CHECK_COMPOSED(lerp, lerp(x.a, x.b, 0.3))
CHECK_COMPOSED(outer, outer(x.a.select(0, 0), x.b.select(0, 0)))
CHECK_COMPOSED(glu, glu(x.a, 0))
CHECK_COMPOSED(var, var(x.a, 1))
CHECK_COMPOSED(std, ::cladtorch::std(x.a, 0, true))
CHECK_COMPOSED(norm, norm(x.a, 1))
CHECK_COMPOSED(logsumexp, logsumexp(x.a, 0))
CHECK_COMPOSED(cosine_similarity, cosine_similarity(x.a, x.b))
CHECK_COMPOSED(l1_loss, l1_loss(x.a, x.b))
CHECK_COMPOSED(huber_loss, huber_loss(x.a, x.b, Reduction::sum, 0.3))
CHECK_COMPOSED(smooth_l1_loss, smooth_l1_loss(x.a, x.b, Reduction::none, 0.4))
CHECK_COMPOSED(binary_cross_entropy, binary_cross_entropy(x.a, x.b))
CHECK_COMPOSED(saturated, binary_cross_entropy(x.a, round(x.b), Reduction::none))
CHECK_COMPOSED(binary_cross_entropy_with_logits, binary_cross_entropy_with_logits(x.a, x.b))
CHECK_COMPOSED(kl_div, kl_div(x.a, x.b, Reduction::sum))
CHECK_COMPOSED(triplet_margin_loss, triplet_margin_loss(x.a, x.b, x.c))

}  // namespace
}  // namespace cladtorch
