#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cladtorch/data/text_files.h"
#include "cladtorch/error.h"
#include "cladtorch/random.h"
#include "data/text/utf8.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

std::string read_all(const std::filesystem::path& path, bool utf8 = true, size_t piece = 4096) {
  std::string text;
  TextFiles(path).read(utf8, [&](std::string_view part) { text += part; }, piece);
  return text;
}

TEST(Utf8, EveryCodePointSurvivesARoundTrip) {
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (!utf8::is_scalar(c)) continue;
    const std::string bytes = utf8::encode(c);
    const utf8::Decoded decoded = utf8::decode_first(bytes + "x");
    ASSERT_EQ(static_cast<unsigned>(decoded.code_point), static_cast<unsigned>(c));
    ASSERT_EQ(decoded.bytes, bytes.size());
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      ASSERT_TRUE(utf8::decode_first(bytes.substr(0, cut)).truncated) << static_cast<unsigned>(c);
    }
  }
}

TEST(Utf8, RejectsOverlongFormsSurrogatesAndWhatIsTooLarge) {
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82(", "\xf0\x9f\x98("}) {
    const utf8::Decoded decoded = utf8::decode_first(bad);
    EXPECT_EQ(decoded.bytes, 0u) << bad;
    EXPECT_FALSE(decoded.truncated) << bad;
    EXPECT_FALSE(utf8::is_valid(std::string("x") + bad)) << bad;
  }
}

TEST(Utf8, ReplacesOnlyTheBytesThatArePartOfNoCharacter) {
  EXPECT_EQ(utf8::replace_invalid(""), "");
  EXPECT_EQ(utf8::replace_invalid("\xe2\x82\xac \xf0\x9f\xa6\x8a"), "\u20ac \U0001f98a");
  EXPECT_EQ(utf8::replace_invalid("a\xff\xe2\x82\x41\xc3"), "a\ufffd\ufffd\ufffdA\ufffd");
}

TEST(TextFiles, ReadsAFileInPiecesThatHoldWholeCharacters) {
  const TemporaryFolder folder;
  const std::string text = "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\xa6\x8a fox";
  folder.write("a.txt", text);
  for (size_t piece = 4; piece < 20; ++piece) {
    std::string read;
    TextFiles(folder.path() / "a.txt")
        .read(
            true,
            [&](std::string_view part) {
              EXPECT_LE(part.size(), piece);
              for (size_t at = 0; at < part.size();) {
                const size_t bytes = utf8::decode_first(part.substr(at)).bytes;
                ASSERT_GT(bytes, 0u);
                at += bytes;
              }
              read += part;
            },
            piece);
    EXPECT_EQ(read, text);
  }
}

TEST(TextFiles, JoinsTheFilesOfAFolderInSortedOrder) {
  const TemporaryFolder folder;
  folder.write("b.txt", "second");
  folder.write("a/z.txt", "first\n");
  folder.write("c.txt", "third");
  folder.write(".hidden", "no");
  folder.write(".git/x", "no");
  folder.write("empty", "");
  std::filesystem::create_symlink(folder.path() / "gone", folder.path() / "a/dangling");
  EXPECT_EQ(read_all(folder.path()), "first\nsecond\nthird");
}

TEST(TextFiles, ReadsAnyBytesWhereUtf8IsNotAskedFor) {
  const TemporaryFolder folder;
  std::string bytes(70000, '\0');
  Random random(3);
  for (char& c : bytes) c = static_cast<char>(random.below(256));
  folder.write("noise", bytes);
  EXPECT_EQ(read_all(folder.path() / "noise", false), bytes);
}

TEST(TextFiles, NamesFileAndByteWhereTextIsNotUtf8) {
  const TemporaryFolder folder;
  folder.write("bad.txt", std::string(10000, 'a') + "\xff tail");
  folder.write("cut.txt", "abc\xe2\x82");
  for (size_t piece : {4, 7, 4096, 1 << 20}) {
    EXPECT_THAT(
        error_of([&] { read_all(folder.path() / "bad.txt", true, piece); }),
        testing::AllOf(HasSubstr("bad.txt' is not UTF-8 at byte 10000"), HasSubstr("byte vocabulary")));
    EXPECT_THAT(error_of([&] { read_all(folder.path() / "cut.txt", true, piece); }),
                HasSubstr("cut.txt' is not UTF-8 at byte 3"));
  }
}

TEST(TextFiles, SaysWhatIsWrongWithAPath) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "none");
  folder.write("empty.txt", "");
  EXPECT_THAT(error_of([&] { TextFiles(folder.path() / "missing.txt"); }),
              HasSubstr("missing.txt' does not exist"));
  EXPECT_THAT(error_of([&] { TextFiles(folder.path() / "none"); }), HasSubstr("there are no files"));
  EXPECT_THAT(error_of([&] { TextFiles(folder.path() / "empty.txt"); }), HasSubstr("empty.txt' is empty"));
  EXPECT_THAT(error_of([&] { TextFiles("/dev/null"); }), HasSubstr("neither a file nor a folder"));
}

}  // namespace
}  // namespace cladtorch::data
