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
  EXPECT_THAT(error_of([&] { read_json(folder / "x.json"); }), AllOf(HasSubstr("x.json"), HasSubstr("byte")));
  write_file(folder / "x.json", "[1]");
  EXPECT_THAT(error_of([&] { read_json(folder / "x.json"); }), HasSubstr("expected a JSON object"));
}

TEST(Json, RefusesNestingThatWouldExhaustTheStack) {
  TemporaryFolder folder;
  const std::string shallow(50, '['), deep(1'000'000, '[');
  folder.write("x.json", "{\"a\":" + shallow + std::string(50, ']') + "}");
  EXPECT_EQ(error_of([&] { read_json(folder / "x.json"); }), "");
  folder.write("x.json", "{\"a\":" + deep + std::string(1'000'000, ']') + "}");
  EXPECT_THAT(error_of([&] { read_json(folder / "x.json"); }), HasSubstr("nested more than 100 deep"));
}

TEST(Json, NamesTheKeyThatIsMissingOrOfAnotherType) {
  const Json object = {{"step", "five"}};
  EXPECT_THAT(error_of([&] { json_field<int>(object, "lr", "f"); }), HasSubstr("'lr' is missing"));
  EXPECT_THAT(error_of([&] { json_field<int>(object, "step", "f"); }), HasSubstr("'step' is string"));
  EXPECT_THAT(error_of([&] { json_field<bool>(object, "step", "f"); }), HasSubstr("'step' is string"));
}

TEST(Json, TakesNoNumberThatTheTypeCannotHold) {
  const Json object = {{"half", 0.5}, {"minus", -1}, {"large", 3'000'000'000}, {"list", {1}}};
  EXPECT_EQ(json_field<int64_t>(object, "large", "f"), 3'000'000'000);
  EXPECT_EQ(json_field<double>(object, "minus", "f"), -1.0);
  EXPECT_THAT(error_of([&] { json_field<int>(object, "large", "f"); }), HasSubstr("'large' is 3000000000"));
  EXPECT_THAT(error_of([&] { json_field<int64_t>(object, "half", "f"); }),
              HasSubstr("'half' is 0.5, expected a whole number"));
  EXPECT_THAT(error_of([&] { json_field<uint64_t>(object, "minus", "f"); }), HasSubstr("not negative"));
  EXPECT_THAT(error_of([&] { json_field<std::string>(object, "list", "f"); }), HasSubstr("'list' is array"));
  EXPECT_EQ(json_field_or(object, "none", "f", 7), 7);
  EXPECT_THAT(error_of([&] { json_field_or(object, "half", "f", true); }),
              HasSubstr("expected true or false"));
}

TEST(Json, RefusesANumberThatNoTypeHolds) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("x.json", "{\"step\": 1e999}");
  EXPECT_THAT(error_of([&] { read_json(file); }), AllOf(HasSubstr("x.json"), HasSubstr("too large")));
}

}  // namespace
}  // namespace cladtorch::io
