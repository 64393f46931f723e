#include "ops/common/pointwise_on_device.cuh"
#include "ops/gelu_erf/gelu_erf_function.h"

namespace cladtorch::cuda {
namespace {

const MapCode<detail::GeluErf> value;
const Map2Code<detail::GeluErfPullback> pullback;

}  // namespace
}  // namespace cladtorch::cuda
