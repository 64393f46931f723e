// Tables of numbers as text (RFC 4180).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// Whether the first line has the names of the columns.
enum class CsvHeader {
  automatic,  ///< yes if one of its fields is neither a number nor empty
  yes,
  no,
};

struct CsvOptions {
  char delimiter = ',';
  CsvHeader header = CsvHeader::automatic;
  DType dtype = DType::float32;  ///< or float64
  /// Those that have texts, such as classes; negative numbers count from the last.
  std::vector<int64_t> label_columns{};
};

struct CsvTable {
  Tensor values;                     ///< [rows, columns]
  std::vector<std::string> columns;  ///< their names; empty without a header
  /// For each column its texts in alphabetical order, whose places in this list are the numbers in `values`;
  /// empty for a column of numbers.
  std::vector<std::vector<std::string>> labels;
};

/// The table in a file, plain or compressed by gzip. An empty field is NaN; so is `nan`, and `inf` is
/// infinite. A field may be in double quotes, and may then have delimiters, line ends and doubled quotes in
/// it. A column of labels has numbers from 0 in place of its texts. Spaces and tabs around a field and empty
/// lines are skipped; lines end with \n or \r\n.
///
/// Throws Error naming the file if it cannot be read or is empty, and the line too if a field is no number or
/// a row has more or fewer fields than the first line.
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace cladtorch::data
