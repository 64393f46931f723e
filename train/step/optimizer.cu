#include "cladtorch/random.h"
#include "cuda/pointwise.cuh"
#include "cuda/reduction.cuh"
#include "train/step/optimizer_on_device.h"
#include "train/step/update_math.h"

namespace cladtorch::train {
namespace {

using cuda::BlockPerRow;
using cuda::converted;
using cuda::Grid;
using cuda::launch;
using cuda::Pack;
using cuda::read;

constexpr int threads = 256;

const OptimizerPiece* pieces_of(const OptimizerTables& tables) {
  return reinterpret_cast<const OptimizerPiece*>(tables.pieces.device_data<int32_t>());
}
const OptimizerEntry* entries_of(const OptimizerTables& tables) {
  return reinterpret_cast<const OptimizerEntry*>(tables.entries.device_data<int32_t>());
}

template <class T>
__global__ void __launch_bounds__(threads)
    squares_kernel(const OptimizerEntry* entries, const OptimizerPiece* pieces, double* sums) {
  const OptimizerPiece piece = pieces[blockIdx.x];
  const T* const g = static_cast<const T*>(entries[piece.entry].gradient) + piece.begin;
  double sum[1] = {};
  for (int64_t i = threadIdx.x; i < piece.count; i += threads) {
    const auto value = static_cast<double>(read(g[i]));
    sum[0] += value * value;
  }
  BlockPerRow::reduce<cuda::Sum>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum[0];
}

void squares(const OptimizerTables& tables, Tensor& sums) {
  detail::dispatch_real("norm", tables.dtype, [&]<class T>(T) {
    launch(sums.device(), squares_kernel<T>, Grid(tables.piece_count, threads), entries_of(tables),
           pieces_of(tables), sums.device_data<double>());
  });
}

/// One block.
template <class Loss>
__global__ void __launch_bounds__(threads)
    finish_step_kernel(const StepInput* input, const Loss* loss, const double* sums, int64_t count,
                       StepOutput* output) {
  double sum[1] = {};
  for (int64_t i = threadIdx.x; i < count; i += threads) sum[0] += sums[i];
  BlockPerRow::reduce<cuda::Sum>(sum);
  if (threadIdx.x != 0) return;
  *output = finished_step(static_cast<double>(*loss), sqrt(sum[0]), input->weight, input->clip,
                          std::isnan(output->gradient_scale));
}

void finish_step(const Tensor& input, const Tensor& loss, const Tensor& sums, Tensor& output) {
  const auto* const in = reinterpret_cast<const StepInput*>(input.device_data<double>());
  auto* const out = reinterpret_cast<StepOutput*>(output.device_data<double>());
  detail::dispatch_floating("norm", loss.dtype(), [&]<class T>(T) {
    launch(output.device(), finish_step_kernel<T>, Grid(1, threads), in, loss.device_data<T>(),
           sums.device_data<double>(), sums.numel(), out);
  });
}

/// Up or down, more likely to where x is nearer: on average the copy is x. `word` is uniform.
__device__ bfloat16 rounded_stochastically(float x, uint32_t word) {
  const uint32_t bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return cuda::narrowed(x);  // not finite
  bfloat16 y;
  y.bits = static_cast<uint16_t>((bits + (word & 0xffffu)) >> 16);
  return y;
}

/// 28 bytes an element, or 30 with the rounded copy: bound by memory.
template <int N, class T>
__global__ void __launch_bounds__(threads)
    adamw_kernel(const OptimizerEntry* entries, const OptimizerPiece* pieces, AdamWConstants constants,
                 const StepInput* input, const StepOutput* output) {
  const double scale = output->gradient_scale;
  if (std::isnan(scale)) return;
  const OptimizerPiece piece = pieces[blockIdx.x];
  const OptimizerEntry entry = entries[piece.entry];
  const auto gradient_scale = static_cast<T>(scale);
  const AdamStep<T> step{
      static_cast<T>(constants.beta1),  static_cast<T>(constants.beta2),
      static_cast<T>(input->step_size), static_cast<T>(input->second_scale),
      static_cast<T>(constants.eps),    entry.decayed != 0 ? static_cast<T>(1 - input->decay) : T(1)};
  T* const p = static_cast<T*>(entry.master) + piece.begin;
  const T* const g = static_cast<const T*>(entry.gradient) + piece.begin;
  T *const m = static_cast<T*>(entry.first) + piece.begin, *const v =
                                                               static_cast<T*>(entry.second) + piece.begin;

  const auto update = [&]<int width>(int64_t i, std::integral_constant<int, width>) {
    using Values = Pack<T, width>;
    Values values = *reinterpret_cast<const Values*>(p + i), first = *reinterpret_cast<const Values*>(m + i),
           second = *reinterpret_cast<const Values*>(v + i);
    const Values gradients = *reinterpret_cast<const Values*>(g + i);
#pragma unroll
    for (int j = 0; j < width; ++j)
      step(values.values[j], gradients.values[j] * gradient_scale, first.values[j], second.values[j]);
    *reinterpret_cast<Values*>(p + i) = values;
    *reinterpret_cast<Values*>(m + i) = first;
    *reinterpret_cast<Values*>(v + i) = second;
    if (entry.rounded == nullptr) return;
    Pack<bfloat16, width> copy;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const auto value = static_cast<float>(values.values[j]);
      if (constants.stochastic_rounding) {
        const uint32_t word =
            random_word(static_cast<uint64_t>(piece.entry), static_cast<uint64_t>(input->step),
                        static_cast<uint64_t>(piece.begin + i + j));
        copy.values[j] = rounded_stochastically(value, word);
      } else {
        copy.values[j] = converted<bfloat16>(value);
      }
    }
    *reinterpret_cast<Pack<bfloat16, width>*>(entry.rounded + piece.begin + i) = copy;
  };
  const int64_t whole = piece.count / N * N;
  for (int64_t i = int64_t{threadIdx.x} * N; i < whole; i += threads * N)
    update(i, std::integral_constant<int, N>{});
  for (int64_t i = whole + threadIdx.x; i < piece.count; i += threads)
    update(i, std::integral_constant<int, 1>{});
}

void adamw(const OptimizerTables& tables, const AdamWConstants& constants, const Tensor& input,
           const Tensor& output) {
  const auto* const in = reinterpret_cast<const StepInput*>(input.device_data<double>());
  const auto* const out = reinterpret_cast<const StepOutput*>(output.device_data<double>());
  detail::dispatch_floating("AdamW", tables.dtype, [&]<class T>(T) {
    launch(output.device(), adamw_kernel<16 / sizeof(T), T>, Grid(tables.piece_count, threads),
           entries_of(tables), pieces_of(tables), constants, in, out);
  });
}

const detail::DeviceFunctionCode squares_code(squares_on_device, squares);
const detail::DeviceFunctionCode finish_step_code(finish_step_on_device, finish_step);
const detail::DeviceFunctionCode adamw_code(adamw_on_device, adamw);

}  // namespace
}  // namespace cladtorch::train
