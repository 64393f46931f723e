// Models with masks, indices and sorting, whose backward pass the compiler writes: gradients against
// differences.
#include <clad/Differentiator/Differentiator.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/nn/embedding_bag.h"
#include "cladtorch/nn/nn.h"
#include "cladtorch/testing/gradcheck.h"

namespace {

using namespace cladtorch;

/// Bags of tokens; each row keeps the two experts that it scores highest, and unknown ones are hidden.
struct Mixture {
  nn::EmbeddingBag bags;
  nn::Linear gate;
  std::vector<nn::Linear> experts;
  nn::Linear out;

  explicit Mixture(Random& random)
      : bags(9, 6, random, BagMode::mean, 1), gate(6, 4, random, true, 1), out(6, 5, random, true, 0.5) {
    gate.bias.copy_from(randn({4}, random));  // so that no scores of an empty bag are equal
    for (int i = 0; i < 4; ++i) experts.emplace_back(6, 6, random, true, 0.5);
  }

  Tensor forward(const Tensor& ids, const Tensor& offsets, const Tensor& hidden) const {
    const Tensor x = bags(ids, offsets);
    const ValuesAndIndices chosen = topk(masked_fill(gate(x), hidden, -INFINITY), 2);
    std::vector<Tensor> all;
    for (const nn::Linear& expert : experts) all.push_back(cladtorch::tanh(expert(x)));
    const Tensor index = chosen.indices.unsqueeze(2).expand({x.size(0), 2, 6});
    const Tensor picked = gather(stack(all, 1), 1, index);
    const Tensor y = sum(softmax(chosen.values).unsqueeze(2) * picked, 1);
    return out(where(y > 0.1, y, y * 0.1));
  }
  CLADTORCH_PARAMETERS(bags, gate, experts, out)
};

double loss(const Mixture& net, const Tensor& ids, const Tensor& offsets, const Tensor& hidden,
            const Tensor& labels) {
  const Tensor log_p = log_softmax(net.forward(ids, offsets, hidden));
  const Tensor scores = -gather(log_p, 1, labels.unsqueeze(1)).squeeze(1);
  return mean(topk(scores, 3).values).item();  // of the hardest rows
}

/// Every other operation with indices once.
struct Table {
  Tensor weight;
  CLADTORCH_PARAMETERS(weight)
};

double of_table(const Table& table, const Tensor& index) {
  const Tensor x = table.weight;
  const Tensor rows = index_select(x, 0, index), sums = scatter_add(x, 0, index.unsqueeze(1), rows);
  const Tensor put = scatter(sums, 1, index.unsqueeze(1), x.narrow(1, 0, 2) * 2);
  const Tensor ordered = sort(put, 1, true).values, best = cummax(ordered, 0).values;
  const Tensor kept = masked_select(best, logical_and(best > -1, isfinite(best)));
  const Tensor middle = median(x, 1).values * kthvalue(x, 2, 1).values;
  double total = mean(kept * kept).item() + sum(cumprod(x, 1)).item() + prod(x, 0).select(0, 0).item();
  if (all(middle < 1e9).item() != 0) total += sum(middle).item();
  return total + sum(take_along_dim(x, argsort(x, 1), 1) * x).item() +
         sum(where(x > 0, scatter(x, 1, index.unsqueeze(1), 0.5), x * x)).item();
}

double of_number(const Tensor& x, double fill) {
  return sum(masked_fill(x, x < 0, fill) * x).item() + sum(where(x < 0, fill * fill, x)).item();
}

class IndexingModels : public ::testing::Test {
 protected:
  Random random_{3};
};

TEST_F(IndexingModels, AMixtureOfExperts) {
  const Mixture net(random_);
  const Tensor ids = randint(0, 9, {17}, random_, DType::int64);
  const Tensor offsets = from_values<int64_t>({5}, {0, 4, 4, 9, 13});
  const Tensor hidden = from_values<bool>({4}, {false, false, true, false});
  const Tensor labels = from_values<int64_t>({5}, {4, 0, 2, 2, 1});
  auto step = clad::gradient(loss, "net");
  EXPECT_TRUE(gradcheck(
      net, [&](const Mixture& n) { return loss(n, ids, offsets, hidden, labels); },
      [&](const Mixture& n, Mixture* d) { step.execute(n, ids, offsets, hidden, labels, d); }));
}

TEST_F(IndexingModels, EveryOperation) {
  const Table table{randn({4, 4}, random_, DType::float64)};
  auto step = clad::gradient(of_table, "table");
  for (const DType dtype : {DType::int32, DType::int64}) {
    const Tensor index = from_values<int32_t>({4}, {1, 3, 1, 0}).to(dtype);
    EXPECT_TRUE(gradcheck(
        table, [&](const Table& t) { return of_table(t, index); },
        [&](const Table& t, Table* d) { step.execute(t, index, d); }));
  }
}

TEST_F(IndexingModels, TheNumberThatFills) {
  const Tensor x = randn({20}, random_, DType::float64);
  double d = 0;
  clad::gradient(of_number, "fill").execute(x, 0.7, &d);
  constexpr double h = 1e-5;
  EXPECT_NEAR(d, (of_number(x, 0.7 + h) - of_number(x, 0.7 - h)) / (2 * h), 1e-8);
  EXPECT_NE(d, 0);
}

TEST_F(IndexingModels, ThrowForAnIndexThatIsOutOfRange) {
  const Table table{randn({4, 4}, random_)};
  Table gradient = like(table);
  auto step = clad::gradient(of_table, "table");
  EXPECT_THROW(step.execute(table, full({4}, 4, DType::int32), &gradient), Error);
}

}  // namespace
