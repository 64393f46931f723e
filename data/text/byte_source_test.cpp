#include "data/text/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cladtorch/random.h"
#include "data/text/compress.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

std::string random_text(size_t bytes) {
  Random random(bytes);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + random.below(7));
  return text;
}

std::string read_all(const std::filesystem::path& path, size_t step) {
  const auto source = ByteSource::open(path);
  std::string text;
  for (size_t got = step; got == step;) {
    std::string part(step, '\0');
    got = source->read(part.data(), step);
    text.append(part, 0, got);
  }
  char more;
  EXPECT_EQ(source->read(&more, 1), 0u);
  EXPECT_EQ(source->consumed(), std::filesystem::file_size(path));
  return text;
}

TEST(ByteSource, ReadsPlainGzipAndZstd) {
  const TemporaryFolder folder;
  for (size_t bytes : {0, 1, 1000, 300'000}) {
    const std::string text = random_text(bytes);
    folder.write("t.txt", text);
    folder.write("t.txt.gz", gzip(text));
    folder.write("t.txt.zst", zstd(text));
    for (const char* name : {"t.txt", "t.txt.gz", "t.txt.zst"}) {
      for (size_t step : {1000, 65536, 1 << 20}) EXPECT_TRUE(read_all(folder / name, step) == text) << name;
    }
  }
}

TEST(ByteSource, ReadsPartsThatWereCompressedApart) {
  const TemporaryFolder folder;
  const std::string a = random_text(1000), b = random_text(70'000);
  folder.write("t.gz", gzip(a) + gzip(b));
  folder.write("t.zst", zstd(a) + zstd(b));
  EXPECT_EQ(read_all(folder / "t.gz", 777), a + b);
  EXPECT_EQ(read_all(folder / "t.zst", 777), a + b);
}

TEST(ByteSource, NamesAFileThatIsCutDamagedOrSomethingElse) {
  const TemporaryFolder folder;
  const std::string text = random_text(300'000);
  const auto error = [&](const char* name, const std::string& content) {
    return error_of([&] { read_all(folder.write(name, content), 4096); });
  };
  for (const auto& [name, packed] :
       {std::pair<const char*, std::string>{"t.gz", gzip(text)}, {"t.zst", zstd(text)}}) {
    EXPECT_THAT(error(name, packed.substr(0, packed.size() / 2)), HasSubstr("' ends too early")) << name;
    std::string damaged = packed;
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 50; ++i) damaged[i] = '\x55';
    EXPECT_THAT(error(name, damaged), HasSubstr("' is damaged")) << name;
  }
  EXPECT_THAT(error("t.gz", "plain text"), HasSubstr("' is not gzip"));
  EXPECT_THAT(error("t.zst", "plain text"), HasSubstr("or not in zstd's format"));
  EXPECT_THAT(error_of([&] { ByteSource::open(folder / "none.gz"); }), HasSubstr("none.gz'"));
  EXPECT_THAT(error_of([&] { ByteSource::open(folder / "none.zst"); }), HasSubstr("none.zst'"));
}

}  // namespace
}  // namespace cladtorch::data
