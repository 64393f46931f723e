// dim3 and the short vector types with their make_ functions; sizes and alignments are CUDA's.
#pragma once

// CUDA_HOST_VECTORS(<name>, <element>, <alignment of 2>, <alignment of 4>): name1 to name4.
#define CUDA_HOST_VECTORS(name, T, align2, align4)                      \
  struct name##1 { T x; };                                              \
  struct alignas(align2) name##2 { T x, y; };                           \
  struct name##3 { T x, y, z; };                                        \
  struct alignas(align4) name##4 { T x, y, z, w; };                     \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CUDA_HOST_VECTORS(char, signed char, 2, 4)
CUDA_HOST_VECTORS(uchar, unsigned char, 2, 4)
CUDA_HOST_VECTORS(short, short, 4, 8)
CUDA_HOST_VECTORS(ushort, unsigned short, 4, 8)
CUDA_HOST_VECTORS(int, int, 8, 16)
CUDA_HOST_VECTORS(uint, unsigned int, 8, 16)
CUDA_HOST_VECTORS(long, long, 16, 16)
CUDA_HOST_VECTORS(ulong, unsigned long, 16, 16)
CUDA_HOST_VECTORS(longlong, long long, 16, 16)
CUDA_HOST_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDA_HOST_VECTORS(float, float, 8, 16)
CUDA_HOST_VECTORS(double, double, 16, 16)

#undef CUDA_HOST_VECTORS

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;

  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
