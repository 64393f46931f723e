#include "cladtorch/nn/small_layers.h"

#include <cmath>

#include "nn/initial.h"

namespace cladtorch::nn {

Bilinear::Bilinear(int64_t in1, int64_t in2, int64_t out, Random& random, bool with_bias, DType dtype) {
  const double bound = 1 / std::sqrt(static_cast<double>(in1));
  weight = initial_uniform({out, in1, in2}, random, bound, dtype);
  if (with_bias) bias = initial_uniform({out}, random, bound, dtype);
}

Shape detail::channels_of(int64_t count, int rank) {
  if (count == 1) return {1};
  require(rank >= 2, "PReLU: expected x [N, C, ...] for ", count, " channels, got ", rank, " dimensions");
  Shape shape{count};
  for (int i = 2; i < rank; ++i) shape.push_back(1);
  return shape;
}

template <class Cell>
static void draw(Cell& cell, int64_t gates, int64_t in, int64_t hidden, Random& random, bool with_bias,
                 DType dtype) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  cell.weight_ih = initial_uniform({gates * hidden, in}, random, bound, dtype);
  cell.weight_hh = initial_uniform({gates * hidden, hidden}, random, bound, dtype);
  if (!with_bias) return;
  cell.bias_ih = initial_uniform({gates * hidden}, random, bound, dtype);
  cell.bias_hh = initial_uniform({gates * hidden}, random, bound, dtype);
}

LSTMCell::LSTMCell(int64_t in, int64_t hidden, Random& random, bool with_bias, DType dtype) {
  draw(*this, 4, in, hidden, random, with_bias, dtype);
}
GRUCell::GRUCell(int64_t in, int64_t hidden, Random& random, bool with_bias, DType dtype) {
  draw(*this, 3, in, hidden, random, with_bias, dtype);
}

}  // namespace cladtorch::nn
