#include "ops/activation/activation_math.h"
#include "ops/common/pointwise_on_device.cuh"

namespace cladtorch::cuda {
namespace {

template <class Math>
struct Code {
  MapCode<detail::ValueOf<Math>> value;
  Map2Code<detail::PullbackOf<Math>> pullback;
};

const Code<detail::Relu> relu;
const Code<detail::Tanh> tanh;
const Code<detail::Sigmoid> sigmoid;
const Code<detail::Exp> exp;
const Code<detail::Log> log;
const Code<detail::Sqrt> sqrt;
const Code<detail::Rsqrt> rsqrt;
const Code<detail::Erf> erf;

}  // namespace
}  // namespace cladtorch::cuda
