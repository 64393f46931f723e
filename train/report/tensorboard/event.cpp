#include "train/report/tensorboard/event.h"

#include <vector>

#include "train/report/tensorboard/crc32c.h"
#include "train/report/tensorboard/message.h"

namespace cladtorch::train {
namespace {

// Field numbers of event.proto, summary.proto, histogram.proto, tensor.proto and tensor_shape.proto.
namespace event_field {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7, source_metadata = 10;
}
namespace value_field {
constexpr int tag = 1, simple_value = 2, histogram = 5, tensor = 8, metadata = 9;
}
namespace histogram_field {
constexpr int min = 1, max = 2, count = 3, sum = 4, sum_of_squares = 5, bucket_limits = 6, bucket_counts = 7;
}
namespace tensor_field {
constexpr int dtype = 1, shape = 2, string_values = 8;
}
constexpr int summary_value = 1;
constexpr int session_status = 1, session_starts = 1;
constexpr int writer = 1;
constexpr int plugin_data = 1, plugin_name = 1;
constexpr int shape_dimension = 2, dimension_size = 1;
constexpr int string_dtype = 7;

Message event(EventTime time) {
  Message message;
  message.real(event_field::wall_time, time.seconds).integer(event_field::step, time.step);
  return message;
}

std::string summary_event(EventTime time, const Message& value) {
  return event(time).message(event_field::summary, Message().message(summary_value, value)).encoded();
}

void append_integer(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

std::string version_event(EventTime time) {
  return event(time)
      .bytes(event_field::file_version, "brain.Event:2")
      .message(event_field::source_metadata, Message().bytes(writer, "cladtorch"))
      .encoded();
}

std::string session_start_event(EventTime time) {
  return event(time)
      .message(event_field::session_log, Message().integer(session_status, session_starts))
      .encoded();
}

std::string scalar_event(EventTime time, std::string_view tag, float value) {
  return summary_event(time,
                       Message().bytes(value_field::tag, tag).chosen_real(value_field::simple_value, value));
}

std::string text_event(EventTime time, std::string_view tag, std::string_view text) {
  const Message one_element = Message().message(shape_dimension, Message().integer(dimension_size, 1));
  const Message tensor = Message()
                             .integer(tensor_field::dtype, string_dtype)
                             .message(tensor_field::shape, one_element)
                             .bytes(tensor_field::string_values, text);
  const Message metadata = Message().message(plugin_data, Message().bytes(plugin_name, "text"));
  return summary_event(time, Message()
                                 .bytes(value_field::tag, tag)
                                 .message(value_field::tensor, tensor)
                                 .message(value_field::metadata, metadata));
}

std::string histogram_event(EventTime time, std::string_view tag, const Histogram& histogram) {
  std::vector<double> limits, counts;
  for (const auto& [limit, count] : histogram.buckets()) {
    limits.push_back(limit);
    counts.push_back(static_cast<double>(count));
  }
  const Message content = Message()
                              .real(histogram_field::min, histogram.min())
                              .real(histogram_field::max, histogram.max())
                              .real(histogram_field::count, static_cast<double>(histogram.count()))
                              .real(histogram_field::sum, histogram.sum())
                              .real(histogram_field::sum_of_squares, histogram.sum_of_squares())
                              .reals(histogram_field::bucket_limits, limits)
                              .reals(histogram_field::bucket_counts, counts);
  return summary_event(time, Message().bytes(value_field::tag, tag).message(value_field::histogram, content));
}

std::string tfrecord(std::string_view data) {
  std::string record;
  append_integer(record, data.size(), 8);
  append_integer(record, masked_crc32c(record), 4);
  record += data;
  append_integer(record, masked_crc32c(data), 4);
  return record;
}

}  // namespace cladtorch::train
