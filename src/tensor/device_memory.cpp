#include "tensor/device_memory.h"

#include <charconv>
#include <cstring>

#include "cladtorch/error.h"
#include "cladtorch/tensor/dry_run.h"

namespace cladtorch::detail {
namespace {

constinit DeviceMemory* cuda_memory = nullptr;

DeviceMemory& memory_of(Device device) {
  require(device.type == DeviceType::cuda && cuda_memory != nullptr, "device ", device,
          " is not available in this build; use cpu, or build with CLADTORCH_CUDA=ON");
  const int count = cuda_memory->device_count();
  require(count > 0, "device ", device, " is not available: no CUDA device was found; use cpu");
  require(device.index >= 0 && device.index < count, "device ", device, " is not available: there ",
          count == 1 ? "is" : "are", " only ", count, "; the first is cuda:0");
  return *cuda_memory;
}

std::byte* bytes(void* data) { return static_cast<std::byte*>(data); }
const std::byte* bytes(const void* data) { return static_cast<const std::byte*>(data); }

}  // namespace

void register_cuda_memory(DeviceMemory* memory) { cuda_memory = memory; }

bool built_with_cuda() { return cuda_memory != nullptr; }

std::byte* allocate_on(Device device, size_t bytes) {
  DeviceMemory& memory = memory_of(device);
  require(!DryRun::active(), "allocate: a dry run takes no memory of ", device,
          "; make the tensor before it, or in a workspace's step");
  return memory.allocate(device, bytes);
}

void free_on(Device device, std::byte* data) noexcept {
  if (data != nullptr) cuda_memory->free(device, data);
}

void upload(Device device, void* to, const void* from, size_t size) {
  if (!DryRun::active() && size > 0) memory_of(device).upload(device, bytes(to), from, size);
}

void download(Device device, void* to, const void* from, size_t size) {
  if (size == 0) return;
  if (DryRun::active()) {
    std::memset(to, 0, size);
  } else {
    memory_of(device).download(device, to, bytes(from), size);
  }
}

void copy_on(Device device, void* to, const void* from, size_t size) {
  if (!DryRun::active() && size > 0) memory_of(device).copy(device, bytes(to), bytes(from), size);
}

void clear_on(Device device, void* to, size_t size) {
  if (!DryRun::active() && size > 0) memory_of(device).clear(device, bytes(to), size);
}

std::unique_ptr<Readback> make_readback(Device device, size_t size) {
  return memory_of(device).make_readback(device, size);
}

std::unique_ptr<DeviceGraph> capture(Device device, ThreadBody work) {
  return memory_of(device).capture(device, work);
}

}  // namespace cladtorch::detail

namespace cladtorch {

Device device_from_string(std::string_view name) {
  if (name == "cpu") return {};
  std::string_view rest = name;
  constexpr std::string_view cuda = "cuda";
  if (rest.starts_with(cuda)) {
    rest.remove_prefix(cuda.size());
    if (rest.empty()) return {DeviceType::cuda};
    int8_t index = 0;
    const char *const begin = rest.data() + 1, *const end = rest.data() + rest.size();
    const auto [parsed, error] = std::from_chars(begin, end, index);
    if (rest[0] == ':' && error == std::errc{} && parsed == end && index >= 0 && *begin != '-')
      return {DeviceType::cuda, index};
  }
  fail("unknown device '", name, "'; expected cpu, cuda or cuda:N");
}

int cuda_device_count() { return detail::cuda_memory != nullptr ? detail::cuda_memory->device_count() : 0; }

void require_available(Device device) {
  if (device.type != DeviceType::cpu) detail::memory_of(device);
}

std::string device_name(Device device) {
  return device.type == DeviceType::cpu ? "cpu" : detail::memory_of(device).name(device);
}

DeviceCapacity device_capacity(Device device) { return detail::memory_of(device).capacity(device); }

size_t most_device_memory(Device device) { return detail::memory_of(device).most_reserved(device); }

void synchronize(Device device) {
  if (device.type != DeviceType::cpu) detail::memory_of(device).synchronize(device);
}

}  // namespace cladtorch
