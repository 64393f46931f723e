#include "ops/common/pointwise_on_device.cuh"
#include "ops/gelu_tanh/gelu_tanh_function.h"

namespace cladtorch::cuda {
namespace {

const MapCode<detail::GeluTanh> value;
const Map2Code<detail::GeluTanhPullback> pullback;

}  // namespace
}  // namespace cladtorch::cuda
