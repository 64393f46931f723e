// The products that the warps of a block have started by wgmma.mma_async and not yet waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cuda_host/warpgroup.h"

namespace cuda_host::detail {

// Dynamic shared memory as products see it: as it was when the threads of a warp last made it visible.
class ProductMemory {
 public:
  void reset(const unsigned char* memory, size_t bytes);
  void show() { seen_.assign(memory_, memory_ + bytes_); }

  uint32_t address(const void* pointer) const;
  // Elements [rows][16] of an operand. Fails the thread where a descriptor is wrong, or where memory is not
  // what products may see.
  std::vector<uint16_t> read(uint64_t descriptor, bool transposed, int rows) const;

 private:
  static constexpr uint32_t first_address = 1024 + 128;

  const unsigned char* memory_ = nullptr;
  size_t bytes_ = 0;
  std::vector<unsigned char> seen_;
};

class Warpgroups {
 public:
  void reset() { warps_.clear(); }
  // Before the first use in a block: most blocks have none.
  void prepare(size_t threads, const unsigned char* memory, size_t bytes);
  // Why a block cannot end here, or an empty string.
  std::string unfinished() const;

  // Of the warp that runs; `lanes` are its products.
  void multiply(unsigned warp, const WarpgroupProduct* const (&lanes)[32]);
  void fence(unsigned warp) { warps_[warp].fenced = true; }
  void commit(unsigned warp);
  void wait(unsigned warp, size_t groups);
  void show_memory(unsigned warp, unsigned lane);

  const ProductMemory& memory() const { return memory_; }

 private:
  // What the four warps share of a product: it is read when the first of them comes.
  struct Shared {
    WarpgroupProduct product{};
    std::vector<uint16_t> a, b;
  };
  struct Sums {
    float* places[32];
    int columns = 0;
    int uses = 0;  // by products that are under way
    std::vector<float> values;
  };
  struct Product {
    size_t number;
    float* sums;  // a key of `sums` below
    const uint32_t* a_places[32];
    uint32_t a[32][4];
    bool accumulate;
  };
  struct Warp {
    bool fenced = false;
    unsigned shown = 0;  // lanes that have made shared memory visible
    size_t started = 0;
    std::deque<Product> products;
    std::deque<size_t> groups;  // how many products were started when each was committed
    std::map<float*, Sums> sums;
  };
  struct Group {
    std::vector<Shared> products;
  };

  void begin_sums(Warp& warp, const WarpgroupProduct* const (&lanes)[32]);
  void finish(unsigned warp, const Product& product);
  void write(const Sums& sums);

  std::vector<Warp> warps_;
  std::vector<Group> groups_;
  ProductMemory memory_;
};

}  // namespace cuda_host::detail
