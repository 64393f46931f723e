// A correlation as a product of matrices: weights [out channels, in channels x taps] times elements of the
// source [in channels x taps, results]. The right operand is not made: for each of its rows a tile is told
// where in a window of the source it begins (GemmTile::b_offsets). A task computes some rows of results of
// one image for some out channels, going through the in channels in parts whose window stays in the cache.
#include "ops/convolution/correlation.h"

#include <numeric>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "ops/convolution/window.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

Axis result_axis(const ConvolvedDimension& x, int64_t weight_step) {
  return {.in = x.in,
          .out = x.out,
          .stride = x.stride,
          .taps = x.kernel,
          .first = -x.padding,
          .step = x.dilation,
          .weight_first = 0,
          .weight_step = weight_step,
          .places = x.out,
          .place_first = 0,
          .place_step = 1};
}

Axis operand_axis(const ConvolvedDimension& x, int64_t weight_step, int64_t phase) {
  const int64_t period = x.stride / std::gcd(x.stride, x.dilation);
  int64_t tap = 0;
  while (tap < period && (phase + x.padding - tap * x.dilation) % x.stride != 0) ++tap;
  const bool any = tap < std::min(period, x.kernel);
  return {.in = x.out,
          .out = (x.in - phase + x.stride - 1) / x.stride,
          .stride = 1,
          .taps = any ? (x.kernel - tap + period - 1) / period : 0,
          .first = any ? (phase + x.padding - tap * x.dilation) / x.stride : 0,
          .step = -period * x.dilation / x.stride,
          .weight_first = tap * weight_step,
          .weight_step = period * weight_step,
          .places = x.in,
          .place_first = phase,
          .place_step = x.stride};
}

namespace {

constexpr int64_t most_results = 256;       // of a task, for each channel
constexpr int64_t most_out_channels = 128;  // of a task
constexpr int64_t most_depth = 640;         // of the product, in one part
constexpr int64_t most_elements = 1 << 16;  // of a window
constexpr int64_t least_work = 1 << 17;     // multiply-adds for which a thread is asked

template <class C>
const simd::GemmKernel<C>& kernel_of() {
  if constexpr (std::is_same_v<C, double>) {
    return simd::kernels().gemm_double;
  } else {
    return simd::kernels().gemm_float;
  }
}

template <class T, class Out>
class Product {
  using C = Computed<T>;
  using X = Correlation<T, Out>;

 public:
  explicit Product(const X& x)
      : x_(x),
        deep_(x.axes[0]),
        high_(x.axes[1]),
        wide_(x.axes[2]),
        window_(high_, wide_, most_results),
        taps_(high_.taps * wide_.taps),
        channels_(x.in_channels * deep_.taps) {
    const int64_t lanes = kernel_.lanes;
    panel_ = EvenSplit(divided_up(window_.results(window_.rows), lanes), kernel_.vectors).size * lanes;
    tile_rows_ = EvenSplit(x.out_channels, kernel_.most_rows[panel_ / lanes]).size;
    tiles_ = divided_up(x.out_channels, tile_rows_);
    block_tiles_ = EvenSplit(tiles_, std::max<int64_t>(1, most_out_channels / tile_rows_)).size;
    const int64_t most =
        std::min(most_depth / std::max<int64_t>(taps_, 1), most_elements / window_.channel());
    part_ = EvenSplit(channels_, std::max<int64_t>(1, most)).size;
    sums_row_ = rounded_up(window_.results(window_.rows), panel_);
  }

  void run() const {
    static thread_local Scratch memory;
    C* const weights = memory.get<C>(x_.groups * tiles_ * tile_size() + part_ * taps_);
    auto* const offsets = reinterpret_cast<int32_t*>(weights + x_.groups * tiles_ * tile_size());
    pack_weights(weights);
    for (int64_t c = 0, k = 0; c < part_; ++c)
      for (int64_t row = 0; row < high_.taps; ++row)
        for (int64_t column = 0; column < wide_.taps; ++column)
          offsets[k++] = static_cast<int32_t>(c * window_.channel() + window_.tap_offset(row, column));

    const int64_t row_blocks = divided_up(high_.out, window_.rows),
                  column_blocks = divided_up(wide_.out, window_.width),
                  channel_blocks = divided_up(tiles_, block_tiles_);
    const int64_t images = x_.batch * x_.groups * deep_.out;
    const int64_t work = window_.results(window_.rows) * block_tiles_ * tile_rows_ * channels_ * taps_;
    parallel_for(
        channel_blocks * images * row_blocks * column_blocks, least_work / std::max<int64_t>(work, 1) + 1,
        [&] { own_memory(); },
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            int64_t rest = i;
            const auto next = [&rest](int64_t count) {
              const int64_t index = rest % count;
              rest /= count;
              return index;
            };
            Task task;
            task.column = next(column_blocks) * window_.width;
            task.row = next(row_blocks) * window_.rows;
            task.slice = next(deep_.out);
            task.group = next(x_.groups);
            task.image = next(x_.batch);
            task.tile = rest * block_tiles_;
            task.rows = std::min(window_.rows, high_.out - task.row);
            task.columns = std::min(window_.width, wide_.out - task.column);
            task.end_tile = std::min(tiles_, task.tile + block_tiles_);
            compute(task, weights, offsets);
          }
        });
  }

 private:
  struct Task {
    int64_t image, group, slice;  // of the result
    int64_t row, rows, column, columns;
    int64_t tile, end_tile;  // of out channels
  };

  int64_t tile_size() const { return channels_ * taps_ * tile_rows_; }
  C* own_memory() const {
    const int64_t slack = panel_ + 16;  // a tile's last vector reads further
    return thread_scratch<C>(block_tiles_ * tile_rows_ * sums_row_ + part_ * window_.channel() + slack);
  }
  int64_t out_channels(int64_t tile) const {
    return std::min(tile_rows_, x_.out_channels - tile * tile_rows_);
  }

  /// Tiles of out channels, in which those of one in channel and tap are adjacent.
  void pack_weights(C* to) const {
    parallel_for(x_.groups * tiles_, least_work / (tile_size() + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack_tile(i / tiles_, i % tiles_, to + i * tile_size());
    });
  }
  void pack_tile(int64_t group, int64_t tile, C* to) const {
    const int64_t rows = out_channels(tile);
    const T* const from = x_.weight + group * x_.weight_group + tile * tile_rows_ * x_.weight_out;
    for (int64_t c = 0; c < x_.in_channels; ++c) {
      for (int64_t deep = 0; deep < deep_.taps; ++deep) {
        for (int64_t row = 0; row < high_.taps; ++row) {
          for (int64_t column = 0; column < wide_.taps; ++column, to += tile_rows_) {
            const T* const at = from + c * x_.weight_in + deep_.weight_first + deep * deep_.weight_step +
                                high_.weight_first + row * high_.weight_step + wide_.weight_first +
                                column * wide_.weight_step;
            for (int64_t i = 0; i < rows; ++i) to[i] = static_cast<C>(at[i * x_.weight_out]);
          }
        }
      }
    }
  }

  void compute(const Task& task, const C* weights, const int32_t* offsets) const {
    C* const sums = own_memory();
    C* const window = sums + block_tiles_ * tile_rows_ * sums_row_;
    const int64_t results = window_.results(task.rows);
    if (channels_ * taps_ == 0) std::fill_n(sums, (task.end_tile - task.tile) * tile_rows_ * sums_row_, C(0));
    for (int64_t first = 0; first < channels_ && taps_ > 0; first += part_) {
      const int64_t count = std::min(part_, channels_ - first);
      for (int64_t c = 0; c < count; ++c)
        window_.load(image_of(task, first + c), task.row, task.rows, task.column, task.columns,
                     window + c * window_.channel());
      simd::GemmTile<C> tile{.depth = count * taps_,
                             .a_row = 1,
                             .a_depth = tile_rows_,
                             .b_offsets = offsets,
                             .c_row = sums_row_,
                             .add = first > 0};
      for (int64_t i = task.tile; i < task.end_tile; ++i) {
        tile.rows = out_channels(i);
        tile.a = weights + (task.group * tiles_ + i) * tile_size() + first * taps_ * tile_rows_;
        for (int64_t j = 0; j < results; j += panel_) {
          tile.columns = std::min(panel_, results - j);
          tile.b = window + j;
          tile.c = sums + (i - task.tile) * tile_rows_ * sums_row_ + j;
          kernel_.run(tile);
        }
      }
    }
    write(task, sums);
  }

  /// Of an in channel and a tap of depth; null if that is outside of the source.
  const T* image_of(const Task& task, int64_t channel) const {
    const int64_t slice = task.slice * deep_.stride + deep_.first + channel % deep_.taps * deep_.step;
    if (slice < 0 || slice >= deep_.in) return nullptr;
    const int64_t c = (task.image * x_.groups + task.group) * x_.in_channels + channel / deep_.taps;
    return x_.source + (c * deep_.in + slice) * high_.in * wide_.in;
  }

  void write(const Task& task, const C* sums) const {
    const int64_t slice = deep_.place_first + task.slice * deep_.place_step;
    const int64_t end = std::min(task.end_tile * tile_rows_, x_.out_channels);
    for (int64_t o = task.tile * tile_rows_; o < end; ++o, sums += sums_row_) {
      const int64_t channel = task.group * x_.out_channels + o;
      const C bias = x_.bias ? static_cast<C>(x_.bias[channel]) : C(0);
      for (int64_t row = 0; row < task.rows; ++row) {
        const int64_t line =
            ((task.image * x_.groups * x_.out_channels + channel) * deep_.places + slice) * high_.places +
            high_.place_first + (task.row + row) * high_.place_step;
        write_line(sums + row * window_.pitch, bias, task.columns,
                   x_.result + line * wide_.places + wide_.place_first + task.column * wide_.place_step);
      }
    }
  }
  void write_line(const C* sums, C bias, int64_t n, Out* to) const {
    const auto put = [&](auto step) {
      if (x_.add) {
        for (int64_t i = 0; i < n; ++i)
          to[i * step] = static_cast<Out>(static_cast<C>(to[i * step]) + sums[i] + bias);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i * step] = static_cast<Out>(sums[i] + bias);
      }
    };
    if (wide_.place_step == 1) {
      put(std::integral_constant<int64_t, 1>());
    } else {
      put(wide_.place_step);
    }
  }

  const X& x_;
  const Axis &deep_, &high_, &wide_;
  const simd::GemmKernel<C>& kernel_ = kernel_of<C>();
  Window window_;
  int64_t taps_;      // of one in channel and one tap of depth
  int64_t channels_;  // in channels x taps of depth
  int64_t panel_, tile_rows_, tiles_;
  int64_t block_tiles_;  // of a task
  int64_t part_;         // of the channels, of one window
  int64_t sums_row_;
};

}  // namespace

template <class T, class Out>
void Correlation<T, Out>::run() const {
  if (batch * groups * out_channels * axes[0].out * axes[1].out * axes[2].out > 0)
    Product<T, Out>(*this).run();
}

template struct Correlation<float, float>;
template struct Correlation<double, double>;
template struct Correlation<bfloat16, float>;
template struct Correlation<bfloat16, bfloat16>;

}  // namespace cladtorch::detail
