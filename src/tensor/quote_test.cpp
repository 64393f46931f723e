#include "cladtorch/quote.h"

#include <gtest/gtest.h>

namespace cladtorch {
namespace {

TEST(InQuotes, LeavesAShortTextAsItIs) {
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("h.0.attn.c_attn.weight"), "'h.0.attn.c_attn.weight'");
  EXPECT_EQ(in_quotes("\u00e9 \u20ac"), "'\u00e9 \u20ac'");
}

TEST(InQuotes, CutsALongTextBetweenTwoCharacters) {
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(70'000, 'a')), "'" + std::string(80, 'a') + "...'");
  std::string euros, all;
  for (int i = 0; i < 27; ++i) euros += "\u20ac";
  for (int i = 0; i < 1000; ++i) all += "\u20ac";
  EXPECT_EQ(in_quotes(all), "'" + euros + "...'");
  EXPECT_LT(in_quotes(std::string(1000, '\x80')).size(), 100u) << "continues a character without an end";
}

TEST(InQuotes, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(in_quotes("a\nb\tc\x1b[31m\x7f"), R"('a\nb\tc\x1b[31m\x7f')");
  EXPECT_EQ(in_quotes(std::string_view("\0", 1)), R"('\x00')");
  EXPECT_EQ(in_quotes("\u009b31m"), R"('\u009b31m')");
}

}  // namespace
}  // namespace cladtorch
