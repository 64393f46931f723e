// The events of a file as bytes: TensorBoard's messages and the record around each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cladtorch/train/tensorboard.h"

namespace cladtorch::train {

/// When something was measured.
struct EventTime {
  double seconds = 0;  ///< since 1970
  int64_t step = 0;
};

/// The first event of every file.
std::string version_event(EventTime time);
/// Makes a reader forget what it knows of time.step and later.
std::string session_start_event(EventTime time);
std::string scalar_event(EventTime time, std::string_view tag, float value);
std::string text_event(EventTime time, std::string_view tag, std::string_view text);
std::string histogram_event(EventTime time, std::string_view tag, const Histogram& histogram);

/// TFRecord: length, its checksum, `data`, its checksum.
/// Source: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
std::string tfrecord(std::string_view data);

}  // namespace cladtorch::train
