// A block's dynamic shared memory, with red zones around it that show writes outside.
#pragma once

#include <cstddef>
#include <memory>

namespace cuda_host::detail {

class SharedMemory {
 public:
  SharedMemory();

  // Before the first block of a launch.
  void resize(size_t bytes);
  void* data() { return start(); }

  // Makes all of it NaN, at the start of a block.
  void poison();
  bool wrote_before_start() const;
  bool wrote_past_end() const;

 private:
  struct Release {
    void operator()(unsigned char* memory) const;
  };

  unsigned char* start() const;

  std::unique_ptr<unsigned char, Release> memory_;
  size_t bytes_ = 0;
};

}  // namespace cuda_host::detail
