#include "tests/ops/catalogue.h"

namespace cladtorch::testing {

Tensors Operation::draw(const std::vector<Shape>& shapes, uint64_t seed) const {
  Tensors x;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    Random random(seed, i);
    if (operand.classes > 0) {
      x.push_back(Tensor::empty(shapes[i], DType::int32));
      const bool ignores = std::string(operand.name) == "targets";
      for (int64_t k = 0; k < x[i].numel(); ++k)
        x[i].data<int32_t>()[k] =
            ignores && k == 0 ? -100
                              : static_cast<int32_t>(random.below(static_cast<uint64_t>(operand.classes)));
    } else {
      x.push_back(Tensor::empty(shapes[i], DType::float64));
      for (int64_t k = 0; k < x[i].numel(); ++k) {
        const bool normal = operand.low == operand.high;
        x[i].data<double>()[k] =
            normal ? random.normal() : operand.low + (operand.high - operand.low) * random.uniform();
      }
    }
  }
  return x;
}

const std::vector<Operation>& catalogue() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> list = operations_of_tensors();
    for (const auto& part : {functions_of_one(), functions_of_two(), operations_on_images(),
                             operations_on_shapes(), recurrent_operations(), operations_with_indices()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

Bound bound(const Operation& operation, const Tensors& x) {
  std::vector<size_t> places;  // of those with derivatives
  Bound result;
  for (size_t i = 0; i < x.size(); ++i) {
    if (operation.operands[i].classes > 0) continue;
    places.push_back(i);
    result.x.push_back(x[i]);
  }
  const auto whole = [x, places](const Tensors& some) {
    Tensors all = x;
    for (size_t k = 0; k < places.size(); ++k) all[places[k]] = some[k];
    for (Tensor& one : all) one = one.to(some[0].device());
    return all;
  };
  result.forward = [whole, f = operation.forward](const Tensors& some) { return f(whole(some)); };
  result.pullback = [whole, places, f = operation.pullback](const Tensors& some, Tensor d_y,
                                                            const std::vector<Tensor*>& d) {
    const Tensors all = whole(some);
    std::vector<Tensor*> pointers(all.size(), nullptr);
    for (size_t k = 0; k < places.size(); ++k) pointers[places[k]] = d[k];
    f(all, std::move(d_y), pointers);
  };
  return result;
}

}  // namespace cladtorch::testing
