#include "ops/arithmetic/arithmetic_functions.h"
#include "ops/common/pointwise_on_device.cuh"

namespace cladtorch::cuda {
namespace {

const ZipCode<detail::Add> sum;
const ZipCode<detail::Subtract> difference;
const ZipCode<detail::Multiply> product;
const ZipCode<detail::Divide> quotient;
const ZipCode<detail::NegativeProduct> negative_product;
const ZipCode<detail::DivideBySquare> divided_by_square;
const MapCode<detail::Negate> negated;
const MapCode<detail::Scale> scaled;
const MapCode<detail::AddScalar> raised;

}  // namespace
}  // namespace cladtorch::cuda
