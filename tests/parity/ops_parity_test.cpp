// Every operation of the catalogue against values and gradients of PyTorch.
#include "tests/ops/catalogue.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using testing::Operation;
using testing::Tensors;

/// All but those that draw random numbers.
std::vector<Operation> deterministic() {
  std::vector<Operation> found = testing::catalogue();
  std::erase_if(found, [](const Operation& operation) { return operation.name == "dropout"; });
  return found;
}

class OperationParity : public ::testing::TestWithParam<Operation> {};

TEST_P(OperationParity, ValueAndGradientsAgreeWithPyTorch) {
  constexpr double tolerance = 1e-5;
  const Operation& operation = GetParam();
  const testing::Reference reference;
  const std::string prefix = operation.name + "/";
  Tensors x;
  for (const testing::Operand& operand : operation.operands) x.push_back(reference[prefix + operand.name]);
  EXPECT_LT(testing::relative_difference(operation.forward(x), reference[prefix + "y"]), tolerance);

  Tensors gradients(x.size());
  std::vector<Tensor*> pointers;
  for (Tensor& gradient : gradients) pointers.push_back(&gradient);
  operation.pullback(x, reference[prefix + "d_y"], pointers);
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string name = prefix + "d_" + operation.operands[i].name;
    ASSERT_EQ(gradients[i].defined(), reference.contains(name)) << name;
    if (!gradients[i].defined()) continue;
    EXPECT_LT(testing::relative_difference(gradients[i], reference[name]), tolerance) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperationParity, ::testing::ValuesIn(deterministic()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cladtorch
