// The gradient of a convolution's weight as products of matrices: left [left channels, places] times right
// [places, taps x right channels]. The right operand lies with its channels innermost, so that the taps of
// one row of the kernel are adjacent and a tile reads them where they are; it is told where each place
// begins. Small images are taken together. Where a group has few channels, a dot product for each weight is
// faster.
#include "cladtorch/tensor/parallel.h"
#include "ops/common/scratch.h"
#include "ops/convolution/correlation.h"
#include "ops/convolution/window.h"
#include "simd/kernels.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t most_elements = 6 << 14;  // of both operands in a part of an image, or in some images
constexpr int64_t enough_places = 512;      // for which images are taken together
constexpr int64_t most_dotted = 2048;       // of one where weights are dot products
constexpr int64_t most_near = 1 << 13;      // of some columns of the right operand
constexpr int64_t most_left = 128;          // channels of a task
constexpr int64_t most_weights = 640;       // of a task, for each left channel
constexpr int64_t most_dots = 4;            // left x right channels that are multiplied one by one
constexpr int64_t tasks_wanted = 16;        // slices of the batch make up for few channels
constexpr int64_t least_work = 1 << 17;

template <class C>
C dot(int64_t n, const C* a, const C* b) {
  if constexpr (std::is_same_v<C, float>) {
    return simd::kernels().dot(n, a, b);
  } else {
    C sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }
}

/// `rows` rows of `width` elements, `step` apart, to rows that are `pitch` apart with zeros between them.
template <class T>
void load_rows(const T* from, int64_t step, int64_t rows, int64_t width, int64_t pitch, Computed<T>* to) {
  using C = Computed<T>;
  for (int64_t row = 0; row < rows; ++row, from += step, to += pitch) {
    for (int64_t i = 0; i < width; ++i) to[i] = static_cast<C>(from[i]);
    if (row + 1 < rows) std::fill(to + width, to + pitch, C(0));
  }
}

template <class T, class Out>
class Product {
  using C = Computed<T>;
  using X = WeightCorrelation<T, Out>;

 public:
  explicit Product(const X& x)
      : x_(x),
        deep_(x.dimensions[0]),
        high_(x.dimensions[1]),
        wide_(x.dimensions[2]),
        high_axis_(result_axis(high_, 0)),
        wide_axis_(result_axis(wide_, 0)),
        by_dots_(x.left_channels * x.right_channels <= most_dots),
        taps_(high_.kernel * wide_.kernel) {
    // A pointwise one has its sums in a shape for which its right operand is turned around less often.
    const int64_t more = taps_ == 1 ? 2 : 1;
    left_ = EvenSplit(x.left_channels, more * most_left).size;
    right_ = EvenSplit(x.right_channels, std::max<int64_t>(1, most_weights / (more * taps_))).size;
    left_blocks_ = divided_up(x.left_channels, left_);
    right_blocks_ = divided_up(x.right_channels, right_);
    const int64_t images = std::max<int64_t>(1, x.batch * deep_.out);
    parts_ = x.groups * left_blocks_ * right_blocks_ * deep_.kernel;
    slice_ =
        EvenSplit(images, std::clamp<int64_t>(divided_up(images * parts_, tasks_wanted), 1, images)).size;
    slices_ = divided_up(x.batch * deep_.out, slice_);  // 0 of an empty batch

    // As in a Window: a line of zeros may end one row and begin the next.
    const int64_t most_places = std::clamp<int64_t>(most_elements / (left_ + right_), 256, 2048);
    width_ = EvenSplit(wide_.out, most_places).size;
    const int64_t length = (width_ - 1) * wide_.stride + wide_axis_.reach();
    shared_ = width_ < wide_.out
                  ? 0
                  : std::max<int64_t>(0, std::min(wide_.padding, length - wide_.padding - wide_.in));
    pitch_ = std::max(divided_up(length - shared_, wide_.stride), width_);
    rows_ = EvenSplit(high_.out, std::max<int64_t>(1, most_places / pitch_)).size;
    lines_ = divided_up((rows_ - 1) * high_.stride + high_axis_.reach(), high_.stride);
    phase_ = lines_ * pitch_ * wide_.stride + shared_;
    group_ = wide_.dilation == 1 ? wide_.kernel : 1;  // taps whose elements are adjacent
    const bool whole = !by_dots_ && rows_ == high_.out && width_ == wide_.out && deep_.in == 1 &&
                       deep_.out == 1 && deep_.kernel == 1;
    images_ = whole ? EvenSplit(slice_, std::max<int64_t>(1, enough_places / (rows_ * width_))).size : 1;
    in_place_ = std::is_same_v<T, C> && images_ == 1 && width_ == wide_.out;
  }

  void run() const {
    static thread_local Scratch memory;
    C* const sums =
        slices_ == 1 ? nullptr : memory.get<C>(std::max<int64_t>(1, slices_) * parts_ * part_size());
    parallel_for(
        slices_ * parts_, least_work / (slice_ * left_ * right_ * taps_ * high_.out * wide_.out + 1) + 1,
        [&] { own_memory(); },
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            C* const to = sums ? sums + i * part_size() : own_memory() + own_size();
            compute(i % parts_, i / parts_ * slice_, to);
            if (!sums) write(i, to);
          }
        });
    if (!sums && slices_ > 0) return;
    parallel_for(parts_, least_work / (slices_ * part_size() + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        C* const first = sums + part * part_size();
        if (slices_ == 0) std::fill_n(first, part_size(), C(0));
        for (int64_t s = 1; s < slices_; ++s) {
          const C* const from = first + s * parts_ * part_size();
          for (int64_t i = 0; i < part_size(); ++i) first[i] += from[i];
        }
        write(part, first);
      }
    });
  }

 private:
  /// What one task computes for one slice of the batch: sums [left, high taps, wide taps, right].
  struct Part {
    int64_t group, left, left_count, right, right_count, deep_tap;
  };
  Part part_of(int64_t index) const {
    Part part;
    part.deep_tap = index % deep_.kernel;
    index /= deep_.kernel;
    part.right = index % right_blocks_ * right_;
    index /= right_blocks_;
    part.left = index % left_blocks_ * left_;
    part.group = index / left_blocks_;
    part.right_count = std::min(right_, x_.right_channels - part.right);
    part.left_count = std::min(left_, x_.left_channels - part.left);
    return part;
  }
  int64_t part_size() const { return left_ * right_ * taps_; }
  /// Of one image's right operand.
  int64_t right_size() const { return high_.stride * phase_ * rounded_up(right_, adjacent(right_)); }
  int64_t panel(int64_t columns) const {
    const simd::GemmKernel<C>& kernel = kernel_of<C>();
    return EvenSplit(divided_up(columns, kernel.lanes), kernel.vectors).size * kernel.lanes;
  }
  /// How many of some right channels lie beside one another: those that a tile reads, where it reads one tap.
  int64_t adjacent(int64_t channels) const { return group_ == 1 ? panel(channels) : channels; }
  int64_t places() const { return images_ * rows_ * width_; }

  /// Operands, and the sums of a part.
  C* own_memory() const { return thread_scratch<C>(own_size() + part_size()); }
  int64_t own_size() const {
    if (by_dots_) {
      const Window window(high_axis_, wide_axis_, most_dotted);
      return rounded_up(window.results(window.rows) * left_ + window.channel() * right_, 16);
    }
    const int64_t slack = kernel_of<C>().vectors * kernel_of<C>().lanes;
    return rounded_up(
        places() + (in_place_ ? 0 : rounded_up(left_ * places(), 16)) + images_ * right_size() + slack, 16);
  }

  void compute(int64_t index, int64_t first_image, C* sums) const {
    const Part part = part_of(index);
    std::fill_n(sums, part_size(), C(0));
    const int64_t end = std::min(x_.batch * deep_.out, first_image + slice_);
    for (int64_t image = first_image; image < end; image += images_) {
      const int64_t slice = image % deep_.out,
                    source = slice * deep_.stride - deep_.padding + part.deep_tap * deep_.dilation;
      if (source < 0 || source >= deep_.in) continue;
      const int64_t n = image / deep_.out;
      const T* const left =
          x_.left + (((n * x_.groups + part.group) * x_.left_channels + part.left) * deep_.out + slice) *
                        high_.out * wide_.out;
      const T* const right =
          x_.right + (((n * x_.groups + part.group) * x_.right_channels + part.right) * deep_.in + source) *
                         high_.in * wide_.in;
      if (by_dots_) {
        add_dots(part, left, right, sums);
      } else {
        add_images(part, left, right, std::min(images_, end - image), sums);
      }
    }
  }

  void add_dots(const Part& part, const T* left, const T* right, C* sums) const {
    const Window window(high_axis_, wide_axis_, most_dotted);
    C* const lefts = own_memory();
    C* const rights = lefts + window.results(window.rows) * left_;
    for (int64_t row = 0; row < high_.out; row += window.rows) {
      const int64_t rows = std::min(window.rows, high_.out - row);
      for (int64_t column = 0; column < wide_.out; column += window.width) {
        const int64_t columns = std::min(window.width, wide_.out - column);
        for (int64_t c = 0; c < part.right_count; ++c)
          window.load(right + c * deep_.in * high_.in * wide_.in, row, rows, column, columns,
                      rights + c * window.channel());
        for (int64_t l = 0; l < part.left_count; ++l) {
          load_rows(left + l * deep_.out * high_.out * wide_.out + row * wide_.out + column, wide_.out, rows,
                    columns, window.pitch, lefts);
          C* to = sums + l * taps_ * right_;
          for (int64_t r = 0; r < high_.kernel; ++r)
            for (int64_t t = 0; t < wide_.kernel; ++t, to += right_)
              for (int64_t c = 0; c < part.right_count; ++c)
                to[c] += dot((rows - 1) * window.pitch + columns, lefts,
                             rights + c * window.channel() + window.tap_offset(r, t));
        }
      }
    }
  }

  void add_images(const Part& part, const T* left, const T* right, int64_t images, C* sums) const {
    C* const own = own_memory();
    auto* const offsets = reinterpret_cast<int32_t*>(own);
    C* const lefts = own + places();
    C* const rights = lefts + (in_place_ ? 0 : rounded_up(left_ * places(), 16));
    const int64_t left_size = deep_.out * high_.out * wide_.out, right_step = deep_.in * high_.in * wide_.in,
                  n = adjacent(part.right_count);
    for (int64_t row = 0; row < high_.out; row += rows_) {
      const int64_t rows = std::min(rows_, high_.out - row);
      for (int64_t column = 0; column < wide_.out; column += width_) {
        const int64_t columns = std::min(width_, wide_.out - column), depth = images * rows * columns;
        for (int64_t k = 0, p = 0; k < images; ++k) {
          const T* const from =
              left + k * x_.groups * x_.left_channels * left_size + row * wide_.out + column;
          // Whole rows are one.
          const bool whole = columns == wide_.out;
          for (int64_t l = 0; l < part.left_count && !in_place_; ++l)
            load_rows(from + l * left_size, wide_.out, whole ? 1 : rows, whole ? rows * columns : columns,
                      columns, lefts + l * depth + k * rows * columns);
          for (int64_t c = 0; c < part.right_count; c += n)
            load_right(std::min(n, part.right_count - c), n,
                       right + (k * x_.groups * x_.right_channels + c) * right_step, row, rows, column,
                       columns, rights + k * right_size() + c * high_.stride * phase_);
          for (int64_t y = 0; y < rows; ++y)
            for (int64_t x = 0; x < columns; ++x)
              offsets[p++] = static_cast<int32_t>(k * right_size() + (y * pitch_ + x) * wide_.stride * n);
        }
        if constexpr (std::is_same_v<T, C>) {
          if (in_place_) {
            multiply(part, depth, offsets, left + row * wide_.out, left_size, rights, sums);
            continue;
          }
        }
        multiply(part, depth, offsets, lefts, depth, rights, sums);
      }
    }
  }

  /// Element (line, m, channel) of the operand, with lines divided by their remainder by the stride.
  void load_right(int64_t channels, int64_t n, const T* right, int64_t row, int64_t rows, int64_t column,
                  int64_t columns, C* to) const {
    const int64_t top = row * high_.stride - high_.padding, low = column * wide_.stride - wide_.padding;
    const int64_t length = (columns - 1) * wide_.stride + wide_axis_.reach();
    const int64_t lines = (rows - 1) * high_.stride + high_axis_.reach();
    const int64_t step = deep_.in * high_.in * wide_.in;
    if (taps_ == 1 && high_.stride * wide_.stride == 1 && high_.padding == 0 && low == 0 &&
        length == wide_.in) {
      // Lines that are whole and adjacent are one.
      pack_lines(channels, lines * length, right + top * wide_.in, step, int64_t{1}, n, to);
      return;
    }
    for (int64_t r = 0; r < lines; ++r) {
      C* const line = to + (r % high_.stride * phase_ + r / high_.stride * pitch_ * wide_.stride) * n;
      const int64_t y = top + r;
      const bool inside = y >= 0 && y < high_.in;
      const int64_t begin = inside ? std::clamp<int64_t>(-low, 0, length) : length;
      const int64_t end = inside ? std::clamp<int64_t>(wide_.in - low, begin, length) : length;
      std::fill_n(line, begin * n, C(0));
      if (end > begin)
        pack_lines(channels, end - begin, right + y * wide_.in + low + begin, step, int64_t{1}, n,
                   line + begin * n);
      std::fill_n(line + end * n, (std::max(length, pitch_ * wide_.stride) - end) * n, C(0));
    }
  }

  /// `lefts` [left channels, depth] has rows that are `left_row` apart.
  void multiply(const Part& part, int64_t depth, const int32_t* offsets, const C* lefts, int64_t left_row,
                const C* rights, C* sums) const {
    const simd::GemmKernel<C>& kernel = kernel_of<C>();
    const int64_t n = part.right_count, size = adjacent(n), columns = group_ * n, width = panel(columns);
    const int64_t tile_rows = EvenSplit(part.left_count, kernel.most_rows[width / kernel.lanes]).size;
    simd::GemmTile<C> tile{.depth = depth,
                           .a_row = left_row,
                           .a_depth = 1,
                           .b_offsets = offsets,
                           .c_row = taps_ * n,
                           .add = true};
    // Tiles of the same columns follow one another where these stay in the first-level cache.
    const int64_t block = group_ == 1 && depth * width <= most_near ? part.left_count : tile_rows;
    for (int64_t first = 0; first < part.left_count; first += block) {
      for (int64_t r = 0; r < high_.kernel; ++r) {
        const int64_t line = r * high_.dilation;
        const C* const from =
            rights + (line % high_.stride * phase_ + line / high_.stride * pitch_ * wide_.stride) * size;
        for (int64_t t = 0; t < wide_.kernel; t += group_) {
          for (int64_t j = 0; j < columns; j += width) {
            tile.columns = std::min(width, columns - j);
            tile.b = from + t * wide_.dilation * size + j * (group_ == 1 ? high_.stride * phase_ : 1);
            const int64_t end = std::min(first + block, part.left_count);
            for (int64_t l = first; l < end; l += tile_rows) {
              tile.rows = std::min(tile_rows, end - l);
              tile.a = lefts + l * left_row;
              tile.c = sums + l * tile.c_row + (r * wide_.kernel + t) * n + j;
              kernel.run(tile);
            }
          }
        }
      }
    }
  }

  /// A part's sums to its weights.
  void write(int64_t index, const C* sums) const {
    const Part part = part_of(index);
    const int64_t kernel = deep_.kernel * taps_;
    // Dots leave their sums as far apart as the largest part has them.
    const int64_t n = by_dots_ ? right_ : part.right_count;
    for (int64_t l = 0; l < part.left_count; ++l, sums += taps_ * n) {
      Out* to = x_.weight +
                ((part.group * x_.left_channels + part.left + l) * x_.right_channels + part.right) * kernel +
                part.deep_tap * taps_;
      if constexpr (std::is_same_v<C, Out>) {
        if (!x_.add && kernel == 1) {
          std::copy_n(sums, part.right_count, to);
          continue;
        }
        if (!x_.add) {
          pack_lines(taps_, part.right_count, sums, n, int64_t{1}, kernel, to);
          continue;
        }
      }
      for (int64_t c = 0; c < part.right_count; ++c, to += kernel)
        for (int64_t t = 0; t < taps_; ++t)
          to[t] = static_cast<Out>((x_.add ? static_cast<C>(to[t]) : C(0)) + sums[t * n + c]);
    }
  }

  const X& x_;
  const ConvolvedDimension &deep_, &high_, &wide_;
  Axis high_axis_, wide_axis_;
  bool by_dots_;
  int64_t taps_;          // of one slice of the kernel
  int64_t left_, right_;  // channels of a task
  int64_t left_blocks_, right_blocks_, parts_;
  int64_t slice_, slices_;  // images, counting each place of depth
  int64_t width_, shared_, pitch_, rows_, lines_, phase_, group_;
  int64_t images_;  // whose places are one depth
  bool in_place_;   // the left operand is read where it is
};

}  // namespace

template <class T, class Out>
void WeightCorrelation<T, Out>::run() const {
  if (groups * left_channels * right_channels > 0) Product<T, Out>(*this).run();
}

template struct WeightCorrelation<float, float>;
template struct WeightCorrelation<double, double>;
template struct WeightCorrelation<bfloat16, float>;
template struct WeightCorrelation<bfloat16, bfloat16>;

}  // namespace cladtorch::detail
