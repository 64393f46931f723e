// A correlation as a product of matrices: weights [out channels, in channels x taps] times elements of the
// source [in channels x taps, results]. The operand from the source is not made: a tile is told where in a
// window of the source each step of the depth begins. A task computes some rows of results of one image for
// some out channels, going through the in channels in parts whose window stays in the cache. Where several
// tasks need the same windows, they are loaded before all tasks.
//
// A tile's vectors are out channels where these fill them: then no lane computes what lies between two rows
// of results, and the sums are turned around when they are complete. Results at a border of the image have
// tiles of their own, which leave out the taps that all of them have in the padding. Else the vectors are
// results.
#include "ops/convolution/correlation.h"

#include <numeric>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "ops/convolution/borders.h"
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

constexpr int64_t most_results = 512;       // of a task, for each channel
constexpr int64_t most_sums = 1 << 16;      // of a task
constexpr int64_t most_elements = 1 << 16;  // of a window
constexpr int64_t most_depth = 640;         // of a tile
constexpr int64_t enough_sums = 12;         // vectors, to hide the latency of a multiply-add
constexpr int64_t least_work = 1 << 17;     // multiply-adds for which a thread is asked

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
        borders_(high_, wide_),
        taps_(high_.taps * wide_.taps),
        channels_(x.in_channels * deep_.taps) {
    const int64_t lanes = kernel_.lanes, results = window_.results(window_.rows);
    const auto share = [&](int64_t count, int64_t of) {
      return static_cast<double>(count) / static_cast<double>(of);
    };
    const double of_results = share(window_.rows * window_.width, rounded_up(results, lanes)),
                 of_channels = share(x.out_channels, rounded_up(x.out_channels, lanes));
    by_channels_ = of_channels >= of_results;
    if (by_channels_) {
      choose_vectors_of_channels();
    } else {
      panel_ = EvenSplit(divided_up(results, lanes), kernel_.vectors).size * lanes;
      tile_rows_ = EvenSplit(x.out_channels, kernel_.most_rows[panel_ / lanes]).size;
      tile_channels_ = tile_rows_;
      sums_row_ = rounded_up(results, panel_);
    }
    in_place_ = by_channels_ && reads_in_place();
    tiles_ = divided_up(x.out_channels, tile_channels_);
    choose_tasks(results);
    if (by_channels_) sums_row_ = block_tiles_ * tile_channels_;
    // The operand that several tiles read one after the other stays in the first-level cache. In the source
    // channels may compete for the same places of the cache.
    const int64_t depth = !by_channels_ ? most_depth : in_place_ ? 96 : most_depth / kernel_.vectors;
    const int64_t most = std::min(depth / std::max<int64_t>(taps_, 1), most_elements / window_.channel());
    part_ = EvenSplit(channels_, std::max<int64_t>(1, most)).size;
    row_blocks_ = divided_up(high_.out, window_.rows);
    // Strided windows cost more to load than they do to store and to read again.
    shared_ = !in_place_ && block_tiles_ < tiles_ && deep_.out == 1 && window_.width == wide_.out &&
              (row_blocks_ == 1 || high_.stride > 1);
    pitch_ = in_place_ ? wide_.in : window_.pitch;
  }

  void run() const {
    static thread_local Scratch memory;
    const int64_t count = x_.batch * x_.groups * row_blocks_ * channels_;
    const int64_t all_offsets = Borders::count * 2 * offsets_size();
    C* const weights = memory.get<C>(x_.groups * tiles_ * tile_size() + all_offsets +
                                     (shared_ ? count * window_.channel() + slack() : 0));
    auto* const offsets = reinterpret_cast<int32_t*>(weights + x_.groups * tiles_ * tile_size());
    C* const windows = shared_ ? weights + x_.groups * tiles_ * tile_size() + all_offsets : nullptr;
    pack_weights(weights);
    if (shared_)
      parallel_for(count, most_elements / (8 * window_.channel()) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) load_shared(i, windows + i * window_.channel());
      });
    write_offsets(offsets);

    const int64_t column_blocks = divided_up(wide_.out, window_.width),
                  image_blocks = divided_up(x_.batch, images_);
    const int64_t work =
        images_ * window_.results(window_.rows) * block_tiles_ * tile_channels_ * channels_ * taps_;
    parallel_for(
        tasks(), least_work / std::max<int64_t>(work, 1) + 1, [&] { own_memory(); },
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
            task.row = next(row_blocks_) * window_.rows;
            task.slice = next(deep_.out);
            task.group = next(x_.groups);
            task.image = next(image_blocks) * images_;
            task.images = std::min(images_, x_.batch - task.image);
            task.tile = rest * block_tiles_;
            task.rows = std::min(window_.rows, high_.out - task.row);
            task.columns = std::min(window_.width, wide_.out - task.column);
            task.end_tile = std::min(tiles_, task.tile + block_tiles_);
            compute(task, weights, offsets, windows);
          }
        });
  }

 private:
  struct Task {
    int64_t image = 0, images = 0, group = 0, slice = 0;  // of the result
    int64_t row = 0, rows = 0, column = 0, columns = 0;
    int64_t tile = 0, end_tile = 0;  // of out channels
  };

  /// Whether a tile finds what it reads in the source itself: neighbouring results read neighbouring
  /// elements, and none lies outside.
  bool reads_in_place() const {
    const auto inside = [](const Axis& axis) {
      return axis.stride == 1 && axis.lowest() >= 0 && axis.lowest() + axis.out - 1 + axis.reach() <= axis.in;
    };
    return std::is_same_v<T, C> && deep_.taps == 1 && inside(high_) && inside(wide_) && deep_.first >= 0 &&
           (deep_.out - 1) * deep_.stride + deep_.first < deep_.in && taps_ > 0 &&
           most_depth * deep_.in * high_.in * wide_.in < INT32_MAX;
  }

  /// Enough sums in registers, and tiles that are all as wide.
  void choose_vectors_of_channels() {
    const int64_t lanes = kernel_.lanes, vectors = divided_up(x_.out_channels, lanes),
                  results = window_.width * window_.rows * x_.batch;
    double most = 0;
    for (int64_t v = 1; v <= std::min(vectors, kernel_.vectors); ++v) {
      const EvenSplit split(vectors, v);
      const int64_t even = split.size, rows = EvenSplit(results, kernel_.most_gathered_rows[even]).size;
      const double filled = static_cast<double>(std::min(rows * even, enough_sums) * vectors) /
                            static_cast<double>(split.count * even);
      if (filled < most) continue;
      most = filled;
      panel_ = even * lanes;
      tile_rows_ = rows;
    }
    tile_channels_ = panel_;
  }

  /// The results of several images, so that weights are read for as many as the sums of a task may be, but
  /// for no more than leave each thread some tasks: more where each still has many results, and fewer where
  /// tiles read the source itself, for which there is nothing to load. No sum depends on it.
  void choose_tasks(int64_t results) {
    images_ = std::clamp<int64_t>(most_results / results, 1, x_.batch);
    block_tiles_ =
        EvenSplit(tiles_, std::max<int64_t>(1, most_sums / (images_ * results * tile_channels_))).size;
    while (block_tiles_ > 1 && tasks() < 2 * num_threads()) block_tiles_ = divided_up(block_tiles_, 2);
    const auto too_few = [&] {
      if (in_place_) return tasks() < 2 * num_threads();
      return tasks() < (images_ * results < most_results ? 4 : 8) * num_threads();
    };
    while (images_ > 1 && too_few()) images_ = divided_up(images_, 2);
  }
  int64_t tasks() const {
    return divided_up(x_.batch, images_) * x_.groups * deep_.out * divided_up(high_.out, window_.rows) *
           divided_up(wide_.out, window_.width) * divided_up(tiles_, block_tiles_);
  }

  /// Of all taps of a window's channels.
  int64_t offsets_size() const { return part_ * taps_; }
  /// For each region where the steps of a tile's depth begin in a window, or in the source, and after these
  /// where they begin in the weights.
  void write_offsets(int32_t* to) const {
    for (const Borders::Region& region : borders_.regions) {
      int32_t *source = to, *weight = to + offsets_size();
      for (int64_t c = 0; c < part_; ++c) {
        for (int64_t row = region.first_row; row < region.end_row; ++row) {
          for (int64_t column = region.first_column; column < region.end_column; ++column) {
            *source++ =
                static_cast<int32_t>(in_place_ ? c * high_.in * wide_.in * deep_.in +
                                                     high_.offset(row) * wide_.in + wide_.offset(column)
                                               : c * window_.channel() + window_.tap_offset(row, column));
            *weight++ = static_cast<int32_t>((c * taps_ + row * wide_.taps + column) * tile_channels_);
          }
        }
      }
      to += 2 * offsets_size();
    }
  }

  /// The results of a task, ordered by their regions, and where tiles find what they read and add.
  struct Places {
    int64_t source[most_results], sums[most_results];
    int64_t begin[Borders::count + 1] = {};  ///< the first of each region
  };
  void find_places(const Task& task, int64_t image_step, Places& to) const {
    const auto each_result = [&](const auto& visit) {
      for (int64_t n = 0, i = 0; n < task.images; ++n)
        for (int64_t row = 0; row < task.rows; ++row)
          for (int64_t column = 0; column < task.columns; ++column, ++i)
            visit(borders_.region_of(task.row + row, task.column + column),
                  n * image_step + row * pitch_ + column, i);
    };
    each_result([&](int region, int64_t, int64_t) { ++to.begin[region + 1]; });
    std::partial_sum(to.begin, std::end(to.begin), to.begin);
    int64_t next[Borders::count];
    std::copy_n(to.begin, Borders::count, next);
    each_result([&](int region, int64_t source, int64_t result) {
      const int64_t j = next[region]++;
      to.source[j] = source;
      to.sums[j] = result * sums_row_;
    });
  }

  int64_t tile_size() const { return channels_ * taps_ * tile_channels_; }
  /// Of one image.
  int64_t sums_size() const {
    return (by_channels_ ? window_.rows * window_.width : block_tiles_ * tile_channels_) * sums_row_;
  }
  /// Memory for sums, for a window, and for sums that were turned around.
  C* own_memory() const {
    return thread_scratch<C>(images_ * (sums_size() + (shared_ ? 0 : part_ * window_.channel())) + slack() +
                             (by_channels_ && !is_stored_straight() ? sums_size() : 0));
  }
  /// Elements that a tile's last vector reads further.
  int64_t slack() const { return kernel_.vectors * kernel_.lanes; }
  int64_t out_channels(int64_t tile) const {
    return std::min(tile_channels_, x_.out_channels - tile * tile_channels_);
  }

  /// Tiles of out channels, in which those of one in channel and tap are adjacent.
  void pack_weights(C* to) const {
    const int64_t kernel = deep_.taps * taps_;
    const bool adjacent = kernel_is_adjacent();
    if (adjacent && x_.weight_in < x_.weight_out) {
      parallel_for(x_.groups * tiles_, least_work / (tile_size() + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) pack_tile(i / tiles_, i % tiles_, to + i * tile_size());
      });
      return;
    }
    // Memory is read in its order: the weights of an in channel go to all tiles.
    parallel_for(x_.groups * x_.in_channels, least_work / (x_.out_channels * kernel + 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t group = i / x_.in_channels, c = i % x_.in_channels;
                     const T* from = x_.weight + group * x_.weight_group + c * x_.weight_in;
                     C* at = to + group * tiles_ * tile_size() + c * kernel * tile_channels_;
                     for (int64_t tile = 0; tile < tiles_; ++tile) {
                       if (adjacent) {
                         pack_lines(out_channels(tile), kernel, from, x_.weight_out, int64_t{1},
                                    tile_channels_, at);
                       } else {
                         pack_taps(out_channels(tile), from, at);
                       }
                       from += tile_channels_ * x_.weight_out;
                       at += tile_size();
                     }
                   }
                 });
  }
  void pack_tile(int64_t group, int64_t tile, C* to) const {
    const T* const from = x_.weight + group * x_.weight_group + tile * tile_channels_ * x_.weight_out;
    // Whole vectors are moved: of a channel's whole weight where that is adjacent too, else of one kernel.
    const int64_t kernel = deep_.taps * taps_;
    const bool whole = x_.weight_in == kernel;
    for (int64_t c = 0; c < (whole ? 1 : x_.in_channels); ++c)
      pack_lines(out_channels(tile), whole ? x_.in_channels * kernel : kernel, from + c * x_.weight_in,
                 x_.weight_out, int64_t{1}, tile_channels_, to + c * kernel * tile_channels_);
  }
  /// Whether the taps are all elements of the kernel, in their order.
  bool kernel_is_adjacent() const {
    return wide_.weight_step == 1 && high_.weight_step == wide_.taps && deep_.weight_step == taps_ &&
           deep_.weight_first + high_.weight_first + wide_.weight_first == 0;
  }
  /// Of some out channels and one in channel.
  void pack_taps(int64_t rows, const T* from, C* to) const {
    for (int64_t deep = 0; deep < deep_.taps; ++deep) {
      for (int64_t row = 0; row < high_.taps; ++row) {
        for (int64_t column = 0; column < wide_.taps; ++column, to += tile_channels_) {
          const T* const tap = from + deep_.weight_at(deep) + high_.weight_at(row) + wide_.weight_at(column);
          for (int64_t i = 0; i < rows; ++i) to[i] = static_cast<C>(tap[i * x_.weight_out]);
        }
      }
    }
  }

  /// The window of an image, a group, some rows and a channel, which `index` counts.
  void load_shared(int64_t index, C* to) const {
    const int64_t block = index / channels_, image = block / row_blocks_,
                  row = block % row_blocks_ * window_.rows;
    const Task task{.image = image / x_.groups, .group = image % x_.groups};
    window_.load(image_of(task, 0, index % channels_), row, std::min(window_.rows, high_.out - row), 0,
                 wide_.out, to);
  }

  /// `shared` has all windows, or is null.
  void compute(const Task& task, const C* weights, const int32_t* offsets, const C* shared) const {
    C* const sums = own_memory();
    C* const own = sums + images_ * sums_size();
    const int64_t window_size = (shared_ ? x_.groups * row_blocks_ * channels_ : part_) * window_.channel();
    if (shared_)
      shared += ((task.image * x_.groups + task.group) * row_blocks_ + task.row / window_.rows) * channels_ *
                window_.channel();
    Places places;
    if (by_channels_)
      find_places(task, in_place_ ? x_.groups * x_.in_channels * deep_.in * high_.in * wide_.in : window_size,
                  places);
    if (channels_ * taps_ == 0) std::fill_n(sums, images_ * sums_size(), C(0));
    for (int64_t first = 0; first < channels_ && taps_ > 0; first += part_) {
      const int64_t count = std::min(part_, channels_ - first);
      const C* const windows = shared_ ? shared + first * window_.channel() : own;
      for (int64_t n = 0; n < task.images && !in_place_ && !shared_; ++n)
        for (int64_t c = 0; c < count; ++c)
          window_.load(image_of(task, n, first + c), task.row, task.rows, task.column, task.columns,
                       own + n * window_size + c * window_.channel());
      simd::GemmTile<C> tile{.depth = count * taps_, .c_row = sums_row_, .add = first > 0};
      for (int64_t i = task.tile; i < task.end_tile; ++i) {
        const C* const packed =
            weights + (task.group * tiles_ + i) * tile_size() + first * taps_ * tile_channels_;
        if (by_channels_) {
          tile.columns = out_channels(i);
          tile.a = in_place_ ? in_source(task, first) : windows;
          tile.far = in_place_;
          tile.b = packed;
          tile.b_depth = tile_channels_;
          multiply_channels(places, count, offsets, tile, sums + (i - task.tile) * tile_channels_);
          continue;
        }
        tile.rows = out_channels(i);
        tile.a = packed;
        tile.a_row = 1;
        tile.a_depth = tile_rows_;
        tile.b_offsets = offsets;
        for (int64_t n = 0; n < task.images; ++n)
          multiply_results(task, windows + n * window_size, tile,
                           sums + n * sums_size() + (i - task.tile) * tile_rows_ * sums_row_);
      }
    }
    for (int64_t n = 0; n < task.images; ++n) {
      if (by_channels_) {
        turn(task, n, sums + n * task.rows * task.columns * sums_row_,
             own + (shared_ ? 0 : images_ * window_size));
      } else {
        write(task, n, sums + n * sums_size());
      }
    }
  }
  void multiply_results(const Task& task, const C* window, simd::GemmTile<C>& tile, C* sums) const {
    const int64_t results = (task.rows - 1) * window_.pitch + task.columns;
    for (int64_t j = 0; j < results; j += panel_) {
      tile.columns = std::min(panel_, results - j);
      tile.b = window + j;
      tile.c = sums + j;
      kernel_.run(tile);
    }
  }
  void multiply_channels(const Places& places, int64_t channels, const int32_t* offsets,
                         simd::GemmTile<C>& tile, C* sums) const {
    tile.c = sums;
    for (int region = 0; region < Borders::count; ++region, offsets += 2 * offsets_size()) {
      tile.depth = channels * borders_.regions[region].taps();
      tile.a_offsets = offsets;
      tile.b_offsets = region == 0 ? nullptr : offsets + offsets_size();  // of all, one after the other
      const int64_t begin = places.begin[region], end = places.begin[region + 1];
      const int64_t rows = EvenSplit(end - begin, tile_rows_).size;
      for (int64_t j = begin; j < end; j += tile.rows) {
        tile.rows = std::min(rows, end - j);
        tile.a_places = places.source + j;
        tile.c_places = places.sums + j;
        kernel_.run(tile);
      }
    }
  }

  /// Of an in channel and a tap of depth in the n-th image of a task; null if that is outside of the source.
  const T* image_of(const Task& task, int64_t n, int64_t channel) const {
    const int64_t slice = task.slice * deep_.stride + deep_.first + channel % deep_.taps * deep_.step;
    if (slice < 0 || slice >= deep_.in) return nullptr;
    const int64_t c = ((task.image + n) * x_.groups + task.group) * x_.in_channels + channel / deep_.taps;
    return x_.source + (c * deep_.in + slice) * high_.in * wide_.in;
  }
  /// What the first result of a task reads of an in channel and the lowest tap.
  const C* in_source(const Task& task, int64_t channel) const {
    if constexpr (std::is_same_v<T, C>) {
      return image_of(task, 0, channel) + (task.row + high_.lowest()) * wide_.in + task.column +
             wide_.lowest();
    } else {
      return nullptr;
    }
  }
  /// The first result of an out channel in a row of a task's n-th image.
  Out* result_at(const Task& task, int64_t n, int64_t channel, int64_t row) const {
    const int64_t c = ((task.image + n) * x_.groups + task.group) * x_.out_channels + channel,
                  slice = deep_.place_first + task.slice * deep_.place_step,
                  line = high_.place_first + (task.row + row) * high_.place_step;
    return x_.result + ((c * deep_.places + slice) * high_.places + line) * wide_.places + wide_.place_first +
           task.column * wide_.place_step;
  }

  void write(const Task& task, int64_t n, const C* sums) const {
    const int64_t end = std::min(task.end_tile * tile_channels_, x_.out_channels);
    for (int64_t o = task.tile * tile_channels_; o < end; ++o, sums += sums_row_)
      for (int64_t row = 0; row < task.rows; ++row)
        write_line(sums + row * window_.pitch, task.columns, bias_of(task, o), result_at(task, n, o, row));
  }
  C bias_of(const Task& task, int64_t channel) const {
    return x_.bias ? static_cast<C>(x_.bias[task.group * x_.out_channels + channel]) : C(0);
  }
  void write_line(const C* sums, int64_t n, C bias, Out* to) const {
    with_step(wide_.place_step, [&](auto step) {
      if (x_.add) {
        for (int64_t i = 0; i < n; ++i)
          to[i * step] = static_cast<Out>(static_cast<C>(to[i * step]) + sums[i] + bias);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i * step] = static_cast<Out>(sums[i] + bias);
      }
    });
  }

  /// Whether sums are results as they are. Vectors of 16 channels, each with a page of its own or several,
  /// compete for the same 8 lines of the cache: it is faster to write one channel after the other.
  bool is_stored_straight() const {
    return std::is_same_v<C, Out> && !x_.add && !x_.bias && wide_.place_step == 1 &&
           (kernel_.lanes <= 8 ||
            deep_.places * high_.places * wide_.places * static_cast<int64_t>(sizeof(Out)) < 4096);
  }
  /// Sums [row, column, out channel] to the results.
  void turn(const Task& task, int64_t image, const C* sums, C* turned) const {
    const int64_t channel = task.tile * tile_channels_,
                  channels = std::min(task.end_tile * tile_channels_, x_.out_channels) - channel;
    // Rows that are whole and adjacent are one.
    const bool whole = task.columns == wide_.places && high_.place_step == 1 && wide_.place_step == 1;
    const int64_t lines = whole ? 1 : task.rows, n = whole ? task.rows * task.columns : task.columns;
    for (int64_t row = 0; row < lines; ++row, sums += n * sums_row_) {
      if constexpr (std::is_same_v<C, Out>) {
        if (is_stored_straight()) {
          pack_lines(n, channels, sums, sums_row_, int64_t{1}, deep_.places * high_.places * wide_.places,
                     result_at(task, image, channel, row));
          continue;
        }
      }
      pack_lines(n, channels, sums, sums_row_, int64_t{1}, n, turned);
      for (int64_t o = 0; o < channels; ++o)
        write_line(turned + o * n, n, bias_of(task, channel + o), result_at(task, image, channel + o, row));
    }
  }

  const X& x_;
  const Axis &deep_, &high_, &wide_;
  const simd::GemmKernel<C>& kernel_ = kernel_of<C>();
  Window window_;
  Borders borders_;
  int64_t taps_;      // of one in channel and one tap of depth
  int64_t channels_;  // in channels x taps of depth
  bool by_channels_;  // a tile's vectors are out channels, and its rows results
  int64_t panel_, tile_rows_;
  int64_t tile_channels_, tiles_;  // out channels that are packed together
  int64_t images_, block_tiles_;   // of a task
  int64_t part_;                   // of the channels, of one window
  int64_t row_blocks_;             // tasks for the rows of an image
  int64_t sums_row_;
  bool in_place_, shared_;  // what tiles read: the source itself, or windows that were loaded before
  int64_t pitch_;           // from a row of results to the next, in what tiles read
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
