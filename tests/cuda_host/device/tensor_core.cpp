#include "cuda_host/tensor_core.h"

#include <bit>
#include <cstring>

#include "cuda_host/warp.h"
#include "device/address_spaces.h"
#include "device/small_floats.h"

namespace cuda_host {
namespace {
using namespace detail;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

struct Product {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
};

using Decode = float (*)(uint32_t bits);

float decode_tf32(uint32_t bits) { return std::bit_cast<float>(bits & ~0x1FFFu); }
float decode_bf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

// A register holds `n` elements. Four lanes of a group of eight hold a row of a and a column of b: each the n
// next to each other in the first half of k, then those in the second half.
template <int n, Decode decode_a, Decode decode_b>
void multiply(void** lanes) {
  constexpr int k = 8 * n;
  constexpr int bits = 32 / n;
  constexpr uint32_t low = n == 1 ? ~0u : (1u << bits % 32) - 1;
  float a[16][k], b[k][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto* mine = static_cast<const Product*>(lanes[lane]);
    const int group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < n; ++i) {
      const int at = n * in_group + i;
      const auto element = [&](uint32_t word) { return word >> bits * i & low; };
      a[group][at] = decode_a(element(mine->a[0]));
      a[group + 8][at] = decode_a(element(mine->a[1]));
      a[group][at + 4 * n] = decode_a(element(mine->a[2]));
      a[group + 8][at + 4 * n] = decode_a(element(mine->a[3]));
      b[at][group] = decode_b(element(mine->b[0]));
      b[at + 4 * n][group] = decode_b(element(mine->b[1]));
    }
  }
  for (int row = 0; row < 16; ++row) {
    float sums[8];
    const auto slot = [&](int column) -> float& {
      return static_cast<Product*>(lanes[row % 8 * 4 + column / 2])->d[row / 8 * 2 + column % 2];
    };
    for (int column = 0; column < 8; ++column) sums[column] = slot(column);
    for (int i = 0; i < k; ++i) {
      for (int column = 0; column < 8; ++column) sums[column] += a[row][i] * b[i][column];
    }
    for (int column = 0; column < 8; ++column) slot(column) = sums[column];
  }
}

struct MatrixLoad {
  uint32_t* registers;
  const void* row;
};

template <int matrices, bool transposed>
void load(void** lanes) {
  for (int m = 0; m < matrices; ++m) {
    uint16_t matrix[8][8];
    for (int row = 0; row < 8; ++row) {
      const void* source = static_cast<const MatrixLoad*>(lanes[8 * m + row])->row;
      std::memcpy(matrix[row], source, sizeof(matrix[row]));
    }
    for (int lane = 0; lane < 32; ++lane) {
      const int i = lane / 4, j = lane % 4 * 2;
      const uint32_t first = transposed ? matrix[j][i] : matrix[i][j];
      const uint32_t second = transposed ? matrix[j + 1][i] : matrix[i][j + 1];
      static_cast<const MatrixLoad*>(lanes[lane])->registers[m] = first | second << 16;
    }
  }
}

template <int matrices, bool transposed>
void load_matrices(uint32_t* registers, const void* row, const char* name) {
  if (lane_index() < 8u * matrices) require_shared(row, name);
  MatrixLoad mine{registers, row};
  warp_collective(all_lanes, &mine, load<matrices, transposed>, name);
}

template <int n, Decode decode_a, Decode decode_b>
void multiply_add(float* d, const uint32_t* a, const uint32_t* b, const char* name) {
  Product mine{d, a, b};
  warp_collective(all_lanes, &mine, multiply<n, decode_a, decode_b>, name);
}
}  // namespace

void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  multiply_add<2, decode_bf16, decode_bf16>(d, a, b, "mma_m16n8k16_bf16");
}
void mma_m16n8k8_tf32(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  multiply_add<1, decode_tf32, decode_tf32>(d, a, b, "mma_m16n8k8_tf32");
}
void mma_m16n8k32_e4m3(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  multiply_add<4, decode_e4m3, decode_e4m3>(d, a, b, "mma_m16n8k32_e4m3");
}
void mma_m16n8k32_e5m2_e4m3(float d[4], const uint32_t a[4], const uint32_t b[2]) {
  multiply_add<4, decode_e5m2, decode_e4m3>(d, a, b, "mma_m16n8k32_e5m2_e4m3");
}

void ldmatrix_x4(uint32_t r[4], const void* row) { load_matrices<4, false>(r, row, "ldmatrix_x4"); }
void ldmatrix_x4_trans(uint32_t r[4], const void* row) {
  load_matrices<4, true>(r, row, "ldmatrix_x4_trans");
}
void ldmatrix_x2(uint32_t r[2], const void* row) { load_matrices<2, false>(r, row, "ldmatrix_x2"); }
void ldmatrix_x2_trans(uint32_t r[2], const void* row) {
  load_matrices<2, true>(r, row, "ldmatrix_x2_trans");
}

}  // namespace cuda_host
