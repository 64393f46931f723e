#include "cladtorch/ops/embedding_bag.h"

#include <algorithm>
#include <vector>

#include "ops/common/one_device.h"
#include "tensor/indices.h"

namespace cladtorch::detail {
namespace {

/// Where each bag begins, and where the last one ends.
std::vector<int64_t> bounds(const Tensor& offsets, int64_t count) {
  require(offsets.defined() && offsets.dim() == 1, "embedding_bag: expected offsets [bags], got ",
          offsets.shape());
  require_cpu("embedding_bag", offsets);
  const Tensor dense = as_int32("embedding_bag", "offsets", offsets).contiguous();
  std::vector<int64_t> result(dense.data<int32_t>(), dense.data<int32_t>() + dense.numel());
  require(result.empty() ? count == 0 : result[0] == 0, "embedding_bag: the first offset must be 0");
  result.push_back(count);
  require(std::is_sorted(result.begin(), result.end()), "embedding_bag: expected ascending offsets up to ",
          count, ", got ", offsets);
  return result;
}

}  // namespace

Tensor bag_of_each(const Tensor& offsets, int64_t count) {
  const std::vector<int64_t> begins = bounds(offsets, count);
  Tensor bags = Tensor::empty({count}, DType::int32);
  for (size_t bag = 0; bag + 1 < begins.size(); ++bag)
    std::fill(bags.data<int32_t>() + begins[bag], bags.data<int32_t>() + begins[bag + 1],
              static_cast<int32_t>(bag));
  return bags;
}

Tensor padded_bags(const Tensor& indices, const Tensor& offsets) {
  const std::vector<int64_t> begins = bounds(offsets, indices.numel());
  const Tensor dense = as_int32("embedding_bag", "indices", indices).contiguous();
  int64_t longest = 1;
  for (size_t bag = 0; bag + 1 < begins.size(); ++bag)
    longest = std::max(longest, begins[bag + 1] - begins[bag]);
  Tensor padded = Tensor::empty({offsets.size(0), longest}, DType::int32);
  int32_t* row = padded.data<int32_t>();
  for (size_t bag = 0; bag + 1 < begins.size(); ++bag, row += longest) {
    const int32_t *const begin = dense.data<int32_t>() + begins[bag], *const end = dense.data<int32_t>() +
                                                                                   begins[bag + 1];
    std::fill(std::copy(begin, end, row), row + longest, begin == end ? 0 : *begin);
  }
  return padded;
}

Tensor filled_bags(const Tensor& offsets, int64_t count) {
  const std::vector<int64_t> begins = bounds(offsets, count);
  Tensor filled = Tensor::empty({offsets.size(0), 1}, DType::boolean);
  for (size_t bag = 0; bag + 1 < begins.size(); ++bag)
    filled.data<bool>()[bag] = begins[bag + 1] > begins[bag];
  return filled;
}

Tensor bag_shares(const Tensor& offsets, int64_t count, DType dtype) {
  const std::vector<int64_t> begins = bounds(offsets, count);
  Tensor shares = Tensor::empty({offsets.size(0), 1}, DType::float64);
  for (size_t bag = 0; bag + 1 < begins.size(); ++bag)
    shares.data<double>()[bag] = 1 / static_cast<double>(std::max<int64_t>(1, begins[bag + 1] - begins[bag]));
  return shares.to(dtype);
}

}  // namespace cladtorch::detail
