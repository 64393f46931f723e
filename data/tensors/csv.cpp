#include "cladtorch/data/csv.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "cladtorch/quote.h"
#include "data/tensors/bytes.h"

namespace cladtorch::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

enum class Parsed { number, no_number, out_of_range };

template <class T>
Parsed parse(std::string_view field, T& value) {
  if (field.empty()) {
    value = std::numeric_limits<T>::quiet_NaN();
    return Parsed::number;
  }
  if (field.front() == '+' && field.size() > 1 && field[1] != '-') field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data(), end, value);
  if (error == std::errc::invalid_argument || rest != end) return Parsed::no_number;
  if (error == std::errc()) return Parsed::number;
  // Too large or too small for a float: infinite or zero, as the nearest one is.
  if constexpr (std::is_same_v<T, float>) {
    double wide = 0;
    if (parse(field, wide) == Parsed::number) {
      value = static_cast<float>(wide);
      return Parsed::number;
    }
  }
  return Parsed::out_of_range;
}

/// Takes a text apart, field by field.
class CsvReader {
 public:
  CsvReader(const std::filesystem::path& path, std::string_view text, char delimiter)
      : path_(path), rest_(text), delimiter_(delimiter) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  /// Goes to the next line that is not empty; false at the end of the text.
  bool next_row() {
    line_ += lines_in_row_;
    lines_in_row_ = 1;
    while (!rest_.empty() && (rest_.front() == '\n' || rest_.starts_with("\r\n"))) {
      rest_.remove_prefix(rest_.front() == '\n' ? 1 : 2);
      ++line_;
    }
    row_ended_ = false;
    return !rest_.empty();
  }
  bool row_ended() const { return row_ended_; }

  /// The next field of the row, valid until the next call.
  std::string_view next_field() {
    const size_t start = rest_.find_first_not_of(delimiter_ == '\t' ? " " : " \t");
    if (start != std::string_view::npos && rest_[start] == '"') return quoted_field(start + 1);
    size_t length = 0;
    while (length < rest_.size() && rest_[length] != delimiter_ && rest_[length] != '\n') ++length;
    std::string_view field = rest_.substr(0, length);
    rest_.remove_prefix(length);
    end_field();
    if (row_ended_ && field.ends_with('\r')) field.remove_suffix(1);
    return trimmed(field);
  }

  std::string_view rest() const { return rest_; }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail("read_csv: '", path_.string(), "', line ", line_, ": ", parts...);
  }

 private:
  /// Takes the delimiter or the end of the line.
  void end_field() {
    row_ended_ = rest_.empty() || rest_.front() == '\n';
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

  std::string_view quoted_field(size_t start) {
    rest_.remove_prefix(start);
    unquoted_.clear();
    while (true) {
      const size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) fail_here("a quote is never closed");
      unquoted_ += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      unquoted_ += '"';
      rest_.remove_prefix(1);
    }
    lines_in_row_ += std::count(unquoted_.begin(), unquoted_.end(), '\n');
    rest_.remove_prefix(std::min(rest_.find_first_not_of(delimiter_ == '\t' ? " " : " \t"), rest_.size()));
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != delimiter_ && rest_.front() != '\n')
      fail_here("a quote is closed before the end of its field");
    end_field();
    return trimmed(unquoted_);
  }

  const std::filesystem::path& path_;
  std::string_view rest_;
  char delimiter_;
  int64_t line_ = 0, lines_in_row_ = 1;
  bool row_ended_ = false;
  std::string unquoted_;
};

/// The fields of the first row, which stays the next one of the reader that is copied.
std::vector<std::string> first_row(CsvReader reader) {
  std::vector<std::string> fields;
  if (!reader.next_row()) return fields;
  while (!reader.row_ended()) fields.emplace_back(reader.next_field());
  return fields;
}

bool is_number(const std::string& field) {
  double value = 0;
  return parse(field, value) != Parsed::no_number;
}

/// The texts of a column, in the order in which they come.
struct Labels {
  std::map<std::string, int64_t, std::less<>> places;

  int64_t place_of(std::string_view text) {
    const auto found = places.find(text);
    if (found != places.end()) return found->second;
    return places.emplace(text, std::ssize(places)).first->second;
  }
};

/// Gives the labels in a column their places in alphabetical order, in which they are returned.
template <class T>
std::vector<std::string> sort_labels(const Labels& labels, T* column, int64_t rows, int64_t step) {
  std::vector<std::string> sorted;
  std::vector<T> number(labels.places.size());
  for (const auto& [text, place] : labels.places) {
    number[static_cast<size_t>(place)] = static_cast<T>(sorted.size());
    sorted.push_back(text);
  }
  for (int64_t row = 0; row < rows; ++row) {
    T& value = column[row * step];
    if (value == value) value = number[static_cast<size_t>(value)];
  }
  return sorted;
}

/// Which columns have labels.
std::vector<bool> columns_of_labels(const std::vector<int64_t>& given, int64_t columns) {
  std::vector<bool> chosen(static_cast<size_t>(columns));
  for (const int64_t column : given) {
    require(column >= -columns && column < columns, "read_csv: label_columns has ", column,
            ", but there are ", columns, " columns");
    chosen[static_cast<size_t>(column < 0 ? column + columns : column)] = true;
  }
  return chosen;
}

template <class T>
Tensor read_rows(CsvReader& reader, int64_t columns, const std::vector<std::string>& names,
                 const std::vector<bool>& has_labels, std::vector<std::vector<std::string>>& labels) {
  std::vector<Labels> texts(static_cast<size_t>(columns));
  // Each field takes a byte at least, with what ends it.
  const std::string_view rest = reader.rest();
  const int64_t lines = std::count(rest.begin(), rest.end(), '\n') + 1;
  const int64_t most = std::min(lines, std::ssize(rest) / columns + 1);
  Tensor values = Tensor::empty({most, columns}, dtype_of<T>::value);
  T* out = values.data<T>();
  int64_t rows = 0;
  for (; reader.next_row(); ++rows) {
    int64_t column = 0;
    for (; !reader.row_ended(); ++column) {
      const std::string_view field = reader.next_field();
      if (column >= columns) continue;
      if (has_labels[static_cast<size_t>(column)] && !field.empty()) {
        *out++ = static_cast<T>(texts[static_cast<size_t>(column)].place_of(field));
        continue;
      }
      const Parsed parsed = parse(field, *out++);
      if (parsed == Parsed::number) continue;
      const std::string name =
          names.empty() ? "" : " (" + shortened(names[static_cast<size_t>(column)]) + ")";
      reader.fail_here(
          "column ", column + 1, name,
          parsed == Parsed::no_number ? " is no number: " : " is out of range: ", in_quotes(field));
    }
    if (column != columns) reader.fail_here(column, " fields, expected ", columns, " as in the first line");
  }
  labels.resize(static_cast<size_t>(columns));
  for (size_t column = 0; column < labels.size(); ++column)
    if (has_labels[column])
      labels[column] = sort_labels(texts[column], values.data<T>() + column, rows, columns);
  return values.narrow(0, 0, rows);
}

}  // namespace

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  const char delimiter = options.delimiter;
  require(delimiter != '"' && delimiter != '\n' && delimiter != '\r' && delimiter != ' ',
          "read_csv: a quote, a space or a line end cannot be the delimiter");
  require(options.dtype == DType::float32 || options.dtype == DType::float64,
          "read_csv: expected float32 or float64 as dtype, got ", options.dtype);
  const FileBytes file("read_csv", path);
  CsvReader reader(path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                   delimiter);
  CsvTable table;
  std::vector<std::string> first = first_row(reader);
  require(!first.empty(), "read_csv: '", path.string(), "' is empty");
  const auto columns = std::ssize(first);
  const std::vector<bool> has_labels = columns_of_labels(options.label_columns, columns);
  bool header = options.header == CsvHeader::yes;
  for (size_t i = 0; i < first.size() && options.header == CsvHeader::automatic; ++i)
    header = header || (!has_labels[i] && !is_number(first[i]));
  if (header) {
    table.columns = std::move(first);
    for (reader.next_row(); !reader.row_ended();) reader.next_field();
  }
  table.values = options.dtype == DType::float32
                     ? read_rows<float>(reader, columns, table.columns, has_labels, table.labels)
                     : read_rows<double>(reader, columns, table.columns, has_labels, table.labels);
  return table;
}

}  // namespace cladtorch::data
