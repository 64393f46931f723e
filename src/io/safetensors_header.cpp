#include "io/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "io/stored_types.h"

namespace cladtorch::io {
namespace {

constexpr size_t most_dimensions = 64;

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> reason, Arguments&&... arguments) {
  throw Error(fmt::format(reason, std::forward<Arguments>(arguments)...));
}

/// Receives the header's JSON piece by piece. What stands at a depth is known, so that the depth is the
/// state: names of tensors at 1, their fields at 2, numbers in an array at 3.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(value, value < 0); }
  bool number_unsigned(number_unsigned_t value) override {
    return number(value, value > uint64_t{std::numeric_limits<int64_t>::max()});
  }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
  bool binary(binary_t&) override { return scalar("binary"); }

  bool string(string_t& text) override {
    if (skipped_ > 0) return true;
    if (depth_ == 2 && in_metadata_) {
      header.metadata[key_] = std::move(text);
    } else if (depth_ == 2 && key_ == "dtype") {
      set_type(text);
    } else {
      scalar("a string");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (skipped_ > 0) return skip();
    if (depth_ == 3) refuse("{} of {} holds an object", key_, in_quotes(name_));
    if (depth_ == 2) return open_field("an object");
    if (depth_ == 1) {
      in_metadata_ = name_ == metadata_key;
      fields_.clear();
      description_ = {};
    }
    ++depth_;
    return true;
  }

  bool start_array(size_t) override {
    if (skipped_ > 0) return skip();
    if (depth_ == 0) refuse("the header is not a JSON object");
    if (depth_ == 1) return scalar("an array");
    if (depth_ == 3) refuse("{} of {} holds an array", key_, in_quotes(name_));
    return open_field("an array");
  }

  bool key(string_t& text) override {
    if (skipped_ > 0) return true;
    if (depth_ == 1) {
      name_ = std::move(text);
      if (header.tensors.contains(name_) || (name_ == metadata_key && std::exchange(has_metadata_, true))) {
        refuse("{} appears twice in the header", in_quotes(name_));
      }
      return true;
    }
    key_ = std::move(text);
    if (in_metadata_ ? header.metadata.contains(key_) : is_known(key_) && contains(fields_, key_)) {
      refuse("{} appears twice in the header, in {}", in_quotes(key_), in_quotes(name_));
    }
    if (!in_metadata_ && is_known(key_)) fields_.push_back(key_);
    return true;
  }

  bool end_object() override {
    if (skipped_ > 0) return --skipped_, true;
    if (--depth_ == 1 && !in_metadata_) finish_tensor();
    return true;
  }

  bool end_array() override {
    if (skipped_ > 0) return --skipped_, true;
    --depth_;
    if (key_ == "shape") {
      description_.shape.assign(numbers_.begin(), numbers_.end());
    } else if (numbers_.size() != 2) {
      refuse("data_offsets of {} are [{}], expected two", in_quotes(name_), fmt::join(numbers_, ","));
    } else {
      description_.begin = static_cast<uint64_t>(numbers_[0]);
      description_.end = static_cast<uint64_t>(numbers_[1]);
    }
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    refuse("the header is not JSON");  // bad syntax, or a number too large for any type
  }

 private:
  static bool is_known(const std::string& field) {
    return field == "dtype" || field == "shape" || field == "data_offsets";
  }
  static bool contains(const std::vector<std::string>& fields, const std::string& field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  }

  bool skip() { return ++skipped_, true; }

  /// A value other than the one that belongs at this place.
  bool scalar(std::string value) {
    if (skipped_ > 0) return true;
    value = shortened(value);
    if (depth_ == 0) refuse("the header is not a JSON object");
    if (depth_ == 1 && name_ == metadata_key) refuse("__metadata__ is not an object");
    if (depth_ == 1) refuse("{} is not described by an object", in_quotes(name_));
    if (depth_ == 3) refuse("{} of {} holds {}", key_, in_quotes(name_), value);
    if (in_metadata_) refuse("__metadata__ {} is not a string", in_quotes(key_));
    if (is_known(key_)) refuse("{} of {} is {}", key_, in_quotes(name_), value);
    return true;
  }

  template <class Number>
  bool number(Number value, bool out_of_range) {
    if (skipped_ > 0 || depth_ != 3 || out_of_range) return scalar(fmt::format("{}", value));
    if (numbers_.size() == most_dimensions)
      refuse("{} of {} is longer than {}", key_, in_quotes(name_), most_dimensions);
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }

  /// An object or array as the value of a field: numbers follow, or it is left out.
  bool open_field(const char* kind) {
    if (in_metadata_) refuse("__metadata__ {} is not a string", in_quotes(key_));
    if (!is_known(key_)) return skip();
    if (key_ == "dtype" || std::string_view(kind) == "an object")
      refuse("{} of {} is {}", key_, in_quotes(name_), kind);
    numbers_.clear();
    ++depth_;
    return true;
  }

  void set_type(const std::string& text) {
    const auto known = std::find_if(stored_types.begin(), stored_types.end(),
                                    [&](const StoredTypeEntry& entry) { return text == entry.name; });
    if (known == stored_types.end()) refuse("{} has unknown dtype {}", in_quotes(name_), in_quotes(text));
    description_.type = known->type;
  }

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!contains(fields_, field)) refuse("{} has no {}", in_quotes(name_), field);
    }
    header.tensors.emplace(std::move(name_), std::move(description_));
  }

  int depth_ = 0;
  size_t skipped_ = 0;  ///< open brackets of a field that means nothing to us
  bool in_metadata_ = false, has_metadata_ = false;
  std::string name_, key_;
  std::vector<std::string> fields_;
  TensorDescription description_;
  std::vector<int64_t> numbers_;
};

void check_size(const std::string& name, const TensorDescription& tensor, uint64_t data_bytes) {
  if (tensor.begin > tensor.end || tensor.end > data_bytes) {
    refuse("{} lies at bytes [{},{}] of {} data bytes; was the file cut off?", in_quotes(name), tensor.begin,
           tensor.end, data_bytes);
  }
  const uint64_t bytes = stored_bytes(name, tensor.type, tensor.shape);
  if (tensor.end - tensor.begin != bytes) {
    refuse("{} is {} [{}] = {} bytes, but its range holds {}", in_quotes(name), stored_name(tensor.type),
           fmt::join(tensor.shape, ","), bytes, tensor.end - tensor.begin);
  }
}

void check_ranges(const std::map<std::string, TensorDescription>& tensors, uint64_t data_bytes) {
  std::vector<std::pair<const TensorDescription*, const std::string*>> ranges;
  for (const auto& [name, tensor] : tensors) ranges.emplace_back(&tensor, &name);
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
  });
  uint64_t end = 0;
  for (const auto& [tensor, name] : ranges) {
    if (tensor->begin < end) refuse("{} overlaps another tensor", in_quotes(*name));
    if (tensor->begin > end) refuse("there is a hole before {}", in_quotes(*name));
    end = tensor->end;
  }
  if (end != data_bytes) refuse("there are bytes after the last tensor");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_bytes) {
  if (!text.starts_with('{')) refuse("the header is not a JSON object");
  HeaderReader reader;
  nlohmann::json::sax_parse(text, &reader);
  for (const auto& [name, tensor] : reader.header.tensors) check_size(name, tensor, data_bytes);
  check_ranges(reader.header.tensors, data_bytes);
  return std::move(reader.header);
}

}  // namespace cladtorch::io
