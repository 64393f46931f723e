// Atomic operations, and loads and stores that say how they are cached. Blocks run one after the other and
// fibers switch only where they wait, so that plain reads and writes are atomic.
#pragma once

#include <concepts>
#include <type_traits>

namespace cuda_host {

template <typename T>
concept AtomicAddend =
    std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, unsigned long long> ||
    std::same_as<T, float> || std::same_as<T, double>;
template <typename T>
concept AtomicInteger = std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, long long> ||
                        std::same_as<T, unsigned long long>;

template <typename T>
T exchange(T* address, T value) {
  const T old = *address;
  *address = value;
  return old;
}

// Integers wrap round, as the hardware's do.
template <typename T>
T wrapping_add(T a, T b) {
  if constexpr (std::same_as<T, int>) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  } else {
    return a + b;
  }
}

}  // namespace cuda_host

template <cuda_host::AtomicAddend T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, cuda_host::wrapping_add(*address, value));
}
template <cuda_host::AtomicInteger T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, *address < value ? value : *address);
}
template <cuda_host::AtomicInteger T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, value < *address ? value : *address);
}
template <cuda_host::AtomicInteger T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, *address & value);
}
template <cuda_host::AtomicInteger T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, *address | value);
}
template <cuda_host::AtomicInteger T>
T atomicXor(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, *address ^ value);
}
template <typename T>
  requires(cuda_host::AtomicInteger<T> || std::same_as<T, float>)
T atomicExch(T* address, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, value);
}
template <cuda_host::AtomicInteger T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return cuda_host::exchange(address, *address == expected ? value : *address);
}

template <typename T>
T __ldg(const T* address) {
  return *address;
}
template <typename T>
T __ldca(const T* address) {
  return *address;
}
template <typename T>
T __ldcg(const T* address) {
  return *address;
}
template <typename T>
T __ldcs(const T* address) {
  return *address;
}
template <typename T>
void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T>
void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T>
void __stwt(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T>
void __stwb(T* address, std::type_identity_t<T> value) {
  *address = value;
}
