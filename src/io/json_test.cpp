#include "cladtorch/io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/io/atomic_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Json, ReadsBackEveryDoubleBitForBit) {
  TemporaryFolder folder;
  const double values[] = {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0};
  Json object;
  for (size_t i = 0; i < std::size(values); ++i) object[std::to_string(i)] = values[i];
  write_json(folder / "x.json", object);
  const Json read = read_json(folder / "x.json");
  for (size_t i = 0; i < std::size(values); ++i) {
    EXPECT_EQ(json_field<double>(read, std::to_string(i), "x"), values[i]);
  }
}

TEST(Json, NamesTheFileThatWasCutOff) {
  TemporaryFolder folder;
  write_file(folder / "x.json", "{\"step\": 1");
  EXPECT_THAT(error_of<Error>([&] { read_json(folder / "x.json"); }),
              AllOf(HasSubstr("x.json"), HasSubstr("byte")));
  write_file(folder / "x.json", "[1]");
  EXPECT_THAT(error_of<Error>([&] { read_json(folder / "x.json"); }), HasSubstr("expected a JSON object"));
}

TEST(Json, NamesTheKeyThatIsMissingOrOfAnotherType) {
  const Json object = {{"step", "five"}};
  EXPECT_THAT(error_of<Error>([&] { json_field<int>(object, "lr", "f"); }), HasSubstr("'lr' is missing"));
  EXPECT_THAT(error_of<Error>([&] { json_field<int>(object, "step", "f"); }), HasSubstr("'step' is string"));
  EXPECT_THAT(error_of<Error>([&] { json_field<bool>(object, "step", "f"); }), HasSubstr("'step' is string"));
}

}  // namespace
}  // namespace cladtorch::io
