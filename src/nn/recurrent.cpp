#include "cladtorch/nn/recurrent.h"

#include <cmath>

#include "nn/initial.h"

namespace cladtorch::nn {

RecurrentWeights::RecurrentWeights(int64_t in, int64_t hidden, int64_t gates, Random& random,
                                   const RecurrentOptions& options) {
  require(in > 0 && hidden > 0, "nn::Recurrent: expected extents above 0, got ", in, " and ", hidden);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight_ih = initial_uniform({gates * hidden, in}, random, bound, options.dtype);
  weight_hh = initial_uniform({gates * hidden, hidden}, random, bound, options.dtype);
  if (!options.with_bias) return;
  bias_ih = initial_uniform({gates * hidden}, random, bound, options.dtype);
  bias_hh = initial_uniform({gates * hidden}, random, bound, options.dtype);
}

}  // namespace cladtorch::nn
