// The tangent of einsum, which is linear in each operand.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/ops/products.h"
#include "cladtorch/ops/pushforward/arithmetic.h"

namespace cladtorch::tangents {
/// The sum of einsum with each operand in turn replaced by its tangent; undefined if there is none.
Tensor of_einsum(const std::string& equation, const std::vector<Tensor>& operands,
                 const std::vector<Tensor>& d_operands);
}  // namespace cladtorch::tangents

namespace clad::custom_derivatives::cladtorch::tangents {
void of_einsum_pullback(const std::string& equation, const std::vector<Tensor>& operands,
                        const std::vector<Tensor>& d_operands, Tensor d_y, std::vector<Tensor>* d_of_operands,
                        std::vector<Tensor>* d_of_tangents);
}  // namespace clad::custom_derivatives::cladtorch::tangents

namespace clad::custom_derivatives::cladtorch {
inline Tangent einsum_pushforward(const std::string& equation, const std::vector<Tensor>& operands,
                                  const std::vector<Tensor>& d_operands) {
  return {ops::einsum(equation, operands), ops::tangents::of_einsum(equation, operands, d_operands)};
}
}  // namespace clad::custom_derivatives::cladtorch
