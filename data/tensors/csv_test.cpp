#include "cladtorch/data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "data/text/compress.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::StartsWith;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> values(const Tensor& x) { return {x.data<float>(), x.data<float>() + x.numel()}; }

class Csv : public ::testing::Test {
 protected:
  CsvTable read(const std::string& content, const CsvOptions& options = {}) {
    return read_csv(folder_.write("t.csv", content), options);
  }
  /// What follows the name of the file.
  std::string error_of(const std::string& content, const CsvOptions& options = {}) {
    const std::string message = io::error_of([&] { read(content, options); });
    const std::string start = "read_csv: '" + (folder_ / "t.csv").string() + "'";
    EXPECT_THAT(message, StartsWith(start));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(std::min(start.size(), message.size()));
  }

  io::TemporaryFolder folder_;
};

TEST_F(Csv, GivesNumbersAndNames) {
  const CsvTable table = read("length,width\n1,2.5\n-3,4e-1\n");
  EXPECT_THAT(table.columns, ElementsAre("length", "width"));
  EXPECT_EQ(table.values.shape(), (Shape{2, 2}));
  EXPECT_THAT(values(table.values), ElementsAre(1, 2.5f, -3, 0.4f));
}

TEST_F(Csv, GivesTheNumbersOfLabels) {
  const CsvTable table =
      read("length,kind\n1,virginica\n2,setosa\n3,\n4, \"virginica\"\n", {.label_columns = {-1}});
  EXPECT_THAT(table.columns, ElementsAre("length", "kind"));
  EXPECT_THAT(values(table.values), ElementsAre(1, 1, 2, 0, 3, IsNan(), 4, 1));
  ASSERT_EQ(table.labels.size(), 2u);
  EXPECT_THAT(table.labels[0], IsEmpty());
  EXPECT_THAT(table.labels[1], ElementsAre("setosa", "virginica"));
  const CsvTable numbers = read("b,7\na,8\n10,9\n", {.dtype = DType::float64, .label_columns = {0}});
  EXPECT_THAT(numbers.columns, IsEmpty()) << "labels are no names";
  EXPECT_THAT(numbers.labels[0], ElementsAre("10", "a", "b"));
  EXPECT_EQ(numbers.values.select(0, 0).select(0, 0).item(), 2);
  EXPECT_EQ(io::error_of([&] { read("1,2\n", {.label_columns = {2}}); }),
            "read_csv: label_columns has 2, but there are 2 columns");
}

TEST_F(Csv, SeesWhetherThereIsAHeader) {
  EXPECT_THAT(read("1,2\n3,4\n").columns, IsEmpty());
  EXPECT_EQ(read("1,2\n3,4\n").values.size(0), 2);
  EXPECT_THAT(read("1,x\n3,4\n").columns, ElementsAre("1", "x"));
  EXPECT_THAT(read(",2\n3,4\n").columns, IsEmpty());
  EXPECT_THAT(read("1,2\n3,4\n", {.header = CsvHeader::yes}).columns, ElementsAre("1", "2"));
  EXPECT_EQ(read("1,2\n3,4\n", {.header = CsvHeader::yes}).values.size(0), 1);
  EXPECT_THAT(error_of("x,y\n1,2\n", {.header = CsvHeader::no}), ", line 1: column 1 is no number: 'x'");
  EXPECT_EQ(read("x,y\n").values.shape(), (Shape{0, 2}));
}

TEST_F(Csv, TakesOtherDelimitersAndLineEnds) {
  EXPECT_THAT(values(read("1;2\r\n3;4", {.delimiter = ';'}).values), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(read("1\t2\n3\t4\n", {.delimiter = '\t'}).values), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(read("\xef\xbb\xbf"
                          "1,2\n\n\r\n3,4\n\n")
                         .values),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(read(" 1 ,\t2\n 3,4 \n").values), ElementsAre(1, 2, 3, 4));
}

TEST_F(Csv, MakesEmptyFieldsNan) {
  EXPECT_THAT(values(read("1,,3\n,5,\n").values), ElementsAre(1, IsNan(), 3, IsNan(), 5, IsNan()));
  EXPECT_THAT(values(read("1\t\n\t\n", {.delimiter = '\t'}).values),
              ElementsAre(1, IsNan(), IsNan(), IsNan()));
  EXPECT_THAT(values(read("1,\"\"\n1,").values), ElementsAre(1, IsNan(), 1, IsNan()));
}

TEST_F(Csv, TakesQuotedFields) {
  const CsvTable table = read("\"a, b\",\"the \"\"c\"\"\",\"two\nlines\"\n\"1\", \"2\" ,3\n");
  EXPECT_THAT(table.columns, ElementsAre("a, b", "the \"c\"", "two\nlines"));
  EXPECT_THAT(values(table.values), ElementsAre(1, 2, 3));
}

TEST_F(Csv, ReadsNumbersAsTheNearestFloat) {
  EXPECT_THAT(values(read("0.1,+2,1e39,-1e39,1e-50,inf,-Infinity,nan\n").values),
              ElementsAre(0.1f, 2, infinity, -infinity, 0, infinity, -infinity, IsNan()));
  const Tensor wide = read("0.1,1e39\n", {.dtype = DType::float64}).values;
  EXPECT_EQ(wide.data<double>()[0], 0.1);
  EXPECT_EQ(wide.data<double>()[1], 1e39);
}

TEST_F(Csv, ReadsGzip) { EXPECT_THAT(values(read(gzip("1,2\n3,4\n")).values), ElementsAre(1, 2, 3, 4)); }

TEST_F(Csv, NamesTheLineOfWhatItCannotRead) {
  EXPECT_EQ(error_of("a,b\n1,2\n\n3,four\n"), ", line 4: column 2 (b) is no number: 'four'");
  EXPECT_EQ(error_of("a,b\n\"1\n\",2\n3,4x\n"), ", line 2: column 1 (a) is no number: '1\\n'");
  EXPECT_EQ(error_of("\"a\nb\",c\n1,2\n3,-\n"), ", line 4: column 2 (c) is no number: '-'");
  EXPECT_EQ(error_of("1,2\n3,1e999\n"), ", line 2: column 2 is out of range: '1e999'");
  EXPECT_EQ(error_of("1,2\n3\n"), ", line 2: 1 fields, expected 2 as in the first line");
  EXPECT_EQ(error_of("1,2\n3,4\n5,6,7\n"), ", line 3: 3 fields, expected 2 as in the first line");
  EXPECT_EQ(error_of("1,2\n3,0x10\n"), ", line 2: column 2 is no number: '0x10'");
  EXPECT_EQ(error_of("1,2\n3,\"4\n"), ", line 2: a quote is never closed");
  EXPECT_EQ(error_of("1,2\n3,\"4\"5\n"), ", line 2: a quote is closed before the end of its field");
}

TEST_F(Csv, SaysWhatElseIsWrong) {
  EXPECT_EQ(error_of(""), " is empty");
  EXPECT_EQ(error_of("\n\n"), " is empty");
  EXPECT_THAT(io::error_of([&] { read_csv(folder_ / "missing.csv"); }), HasSubstr("missing.csv"));
  EXPECT_THAT(io::error_of([&] { read("1", {.delimiter = '"'}); }), HasSubstr("cannot be the delimiter"));
  EXPECT_THAT(io::error_of([&] { read("1", {.dtype = DType::int32}); }), EndsWith("got int32"));
}

TEST_F(Csv, ReadsManyRows) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + "," + std::to_string(i / 8.0) + "\n";
  const Tensor table = read(text).values;
  ASSERT_EQ(table.shape(), (Shape{20000, 2}));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(table.data<float>()[2 * i], static_cast<float>(i));
    ASSERT_EQ(table.data<float>()[2 * i + 1], static_cast<float>(i / 8.0));
  }
}

}  // namespace
}  // namespace cladtorch::data
