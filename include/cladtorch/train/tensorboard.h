// Event files that TensorBoard reads: scalars, text and histograms, written without TensorBoard.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::train {

/// A histogram with buckets that grow by a tenth from 1e-12 to 1e20 on both sides of zero. TensorFlow and
/// PyTorch have the same buckets, so that histograms can be compared.
class Histogram {
 public:
  Histogram();

  /// Counts every element of a dense floating tensor, times `scale`; a gradient buffer that is marked zero
  /// counts as zeros. Elements that are not finite are ignored.
  void add(const Tensor& values, double scale = 1.0);
  void add(double value);

  double min() const { return count_ > 0 ? min_ : 0; }
  double max() const { return count_ > 0 ? max_ : 0; }
  int64_t count() const { return count_; }
  double sum() const { return sum_; }
  double sum_of_squares() const { return sum_of_squares_; }
  /// Upper limit and number of elements of each bucket, ascending, without the empty ones at both ends. A
  /// bucket begins where the one before it ends, and holds its lower limit but not its upper one.
  std::vector<std::pair<double, int64_t>> buckets() const;

 private:
  std::vector<int64_t> counts_;
  double min_ = 0, max_ = 0, sum_ = 0, sum_of_squares_ = 0;
  int64_t count_ = 0;
};

/// One event file of a run, in TFRecord framing. Added events reach the file with flush(). Failures throw
/// Error with one line that names the file.
/// Source: tensorboard/compat/proto/event.proto and summary.proto.
class EventFile {
 public:
  /// Creates events.out.tfevents.SECONDS.HOST.PROCESS.0 in `folder`, named so that it sorts behind
  /// every event file already there. The file tells TensorBoard to forget what the others say about
  /// `first_step` and later.
  EventFile(const std::filesystem::path& folder, int64_t first_step);

  /// Tags are grouped by the part before their first '/'. Scalars are stored in float32.
  void add_scalar(std::string_view tag, double value, int64_t step);
  /// `text` is shown as Markdown. Invalid UTF-8 is replaced by U+FFFD.
  void add_text(std::string_view tag, std::string_view text, int64_t step);
  void add_histogram(std::string_view tag, const Histogram& histogram, int64_t step);
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string pending_;
};

/// Whether `path` has the name of an event file.
bool is_event_file(const std::filesystem::path& path);

}  // namespace cladtorch::train
