#include "cladtorch/io/stored_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "io/stored_types.h"

namespace cladtorch::io {

size_t stored_bits(StoredType type) { return stored_types[static_cast<size_t>(type)].bits; }
const char* stored_name(StoredType type) { return stored_types[static_cast<size_t>(type)].name; }

int64_t element_count(const StoredTensor& tensor) {
  int64_t count = 1;
  for (const int64_t dimension : tensor.shape) count *= dimension;
  return count;
}

size_t stored_bytes(const std::string& name, StoredType type, std::span<const int64_t> shape) {
  // The product without the zeros bounds every stride too.
  constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;
  int64_t elements = 1;
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) throw Error(fmt::format("{} has a dimension of {}", in_quotes(name), dimension));
    if (dimension == 0) {
      empty = true;
    } else if (elements > most / dimension) {
      throw Error(fmt::format("the shape [{}] of {} overflows", fmt::join(shape, ","), in_quotes(name)));
    } else {
      elements *= dimension;
    }
  }
  const size_t bits = empty ? 0 : static_cast<size_t>(elements) * stored_bits(type);
  if (bits % 8 != 0) {
    throw Error(fmt::format("{} is {} [{}], which ends within a byte", in_quotes(name), stored_name(type),
                            fmt::join(shape, ",")));
  }
  return bits / 8;
}

}  // namespace cladtorch::io
