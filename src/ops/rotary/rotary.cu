// Rotary embedding: 4 bytes an element of bfloat16; the table of a position is read from the cache by all
// heads but the first.
#include "cuda/pointwise.cuh"
#include "cuda/rows.cuh"
#include "ops/rotary/rotary_math.h"
#include "ops/rotary/rotary_on_device.h"

namespace cladtorch::cuda {
namespace {

struct Angles {
  float per_position[detail::most_pairs_on_device];
  float magnitude;
};

/// The angles are rounded to float as on the CPU, so that only sine and cosine may differ.
__global__ void __launch_bounds__(pointwise_threads)
    table_kernel(int64_t elements, int half, int64_t first, const Angles angles, float* table) {
  const int64_t at = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (at >= elements) return;
  const int64_t row = quotient(at, half);
  const int pair = static_cast<int>(at - row * half);
  float sine = 0, cosine = 0;
  sincosf(static_cast<float>(first + row) * angles.per_position[pair], &sine, &cosine);
  table[row * 2 * half + pair] = angles.magnitude * cosine;
  table[row * 2 * half + half + pair] = angles.magnitude * sine;
}

void make_table(const RotaryFrequencies& frequencies, int64_t first, Tensor& table) {
  Angles angles{};
  const int64_t half = frequencies.pairs(), elements = table.size(0) * half;
  for (int64_t i = 0; i < half; ++i) angles.per_position[i] = frequencies[i];
  angles.magnitude = frequencies.magnitude();
  launch(table.device(), table_kernel, Grid(ceil_div(elements, pointwise_threads), pointwise_threads),
         elements, static_cast<int>(half), first, angles, table.device_data<float>());
}

/// x and y are [rows, heads, 2, half], and row r has position r % length.
template <class T, class Out>
struct Rotation {
  int64_t rows, heads, half, length;
  const T* x;
  const float* table;
  bool back;
  Out* y;
  bool add;
};

/// N pairs in each thread.
template <int N, class T, class Out>
__global__ void __launch_bounds__(pointwise_threads) rotate_kernel(const Rotation<T, Out> rotation) {
  using C = Computed<T>;
  const int64_t thread = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x, half = rotation.half;
  const int64_t head = quotient(thread, half / N), row = quotient(head, rotation.heads);
  if (row >= rotation.rows) return;
  const int64_t pair = (thread - head * (half / N)) * N, at = head * 2 * half + pair;
  const float* const angles =
      rotation.table + (row - quotient(row, rotation.length) * rotation.length) * 2 * half + pair;
  const Pack<T, N> first = load<N>(rotation.x + at), second = load<N>(rotation.x + at + half);
  const Pack<float, N> cosine = load<N>(angles), sine = load<N>(angles + half);
  Pack<Out, N> first_out{}, second_out{};
  if (rotation.add) {
    first_out = load<N>(rotation.y + at);
    second_out = load<N>(rotation.y + at + half);
  }
#pragma unroll
  for (int i = 0; i < N; ++i) {
    C a = read(first.values[i]), b = read(second.values[i]);
    const C s = sine.values[i];
    detail::rotate_pair<C>(a, b, cosine.values[i], rotation.back ? -s : s);
    first_out.values[i] = converted<Out>(read(first_out.values[i]) + a);
    second_out.values[i] = converted<Out>(read(second_out.values[i]) + b);
  }
  store<N>(rotation.y + at, first_out);
  store<N>(rotation.y + at + half, second_out);
}

template <int N, class T, class Out>
void launch_rotation(Device device, const Rotation<T, Out>& rotation) {
  const int64_t threads = rotation.rows * rotation.heads * (rotation.half / N);
  launch(device, rotate_kernel<N, T, Out>, Grid(ceil_div(threads, pointwise_threads), pointwise_threads),
         rotation);
}

void rotate(const Tensor& x, const Tensor& table, bool back, const GradientTarget& y) {
  const int64_t half = table.size(1) / 2, heads = x.size(2) / table.size(1);
  detail::dispatch_real("rotary_embedding", x.dtype(), [&]<class T>(T) {
    detail::write_to<T>(y, [&]<class Out>(Out* to, bool add) {
      const Rotation<T, Out> rotation{x.size(0) * x.size(1),
                                      heads,
                                      half,
                                      table.size(0),
                                      x.device_data<T>(),
                                      table.device_data<float>(),
                                      back,
                                      to,
                                      add};
      if (rows_aligned<T>(half, rotation.x, rotation.table, to)) {
        launch_rotation<16 / sizeof(T)>(x.device(), rotation);
      } else {
        launch_rotation<1>(x.device(), rotation);
      }
    });
  });
}

const detail::DeviceFunctionCode table_code(detail::rotary_table_on_device, make_table);
const detail::DeviceFunctionCode rotate_code(detail::rotate_on_device, rotate);

}  // namespace
}  // namespace cladtorch::cuda
