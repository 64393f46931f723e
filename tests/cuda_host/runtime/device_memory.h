// The memory of the devices: one reservation of addresses, of which the live
// allocations can be read and written only while a kernel or a copy runs. An
// allocation ends at a guard page, and so does what lies before its start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace cuda_host::detail {

class DeviceMemory {
 public:
  struct Allocation {
    char* start = nullptr;
    size_t bytes = 0;  // as asked for
    size_t rounded = 0;
    char* pages = nullptr;  // what is mapped
    size_t page_bytes = 0;
    int device = 0;
  };

  DeviceMemory();

  // All bytes 0xFF; null if `device` has not as much left.
  void* allocate(size_t bytes, int device);
  bool free(void* pointer);
  void free_all(int device);

  // The live allocation that holds these bytes, null if none does.
  const Allocation* find(const void* pointer, size_t bytes) const;

  // Whether an address is the devices', live or not.
  bool owns(const void* pointer) const;

  // An allocation that was written between its end and the next multiple of 256, which no page guards; null
  // if there is none. It is whole again afterwards.
  const Allocation* find_overwritten() const;

  // What an address that cannot be touched is, for messages.
  std::string describe(const void* address) const;

  size_t capacity() const { return capacity_; }
  size_t used(int device) const;
  // At any time so far.
  size_t most_used(int device) const;
  const std::map<uintptr_t, Allocation>& live() const { return live_; }

  // While one lives, live allocations can be touched.
  class Access {
   public:
    explicit Access(DeviceMemory& memory);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    DeviceMemory& memory_;
  };

 private:
  char* find_place(size_t bytes, size_t alignment);
  void release(const Allocation& allocation);

  size_t capacity_;
  char* reservation_ = nullptr;
  size_t reserved_ = 0;
  char* cursor_ = nullptr;
  std::map<uintptr_t, Allocation> live_;  // by start
  std::map<int, size_t> most_used_;       // by device
  int open_ = 0;
};

}  // namespace cuda_host::detail
