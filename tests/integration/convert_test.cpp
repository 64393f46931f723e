// import and export as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ConvertProgram : public ProgramTestBase {
 protected:
  static void SetUpTestSuite() {
    trained_ = new io::TemporaryFolder;
    ASSERT_EQ(run(small_train(), {.folder = trained_->path()}).code, 0);
  }
  static void TearDownTestSuite() { delete trained_; }

  ConvertProgram() { fs::copy(*trained_ / "run", folder_ / "run", fs::copy_options::recursive); }

  std::string text_of(const std::string& model) {
    return succeed({"generate", "--from", model, "--temperature", "0", "--tokens", "20", "--prompt", "The "});
  }

  static inline io::TemporaryFolder* trained_ = nullptr;
};

TEST_F(ConvertProgram, AnExportedRunIsAFolderThatGeneratesTheSame) {
  EXPECT_THAT(succeed({"export", "--from", "run", "--out", "hf", "--format", "hf"}),
              AllOf(StartsWith("hf: gpt2, "), HasSubstr(" parameters")));
  EXPECT_EQ(text_of("hf"), text_of("run"));
  succeed({"import", "--from", "hf", "--out", "shards", "--shard-gb", "0.00001"});
  EXPECT_TRUE(fs::exists(folder_ / "shards" / "model.safetensors.index.json"));
  EXPECT_EQ(text_of("shards"), text_of("run"));
}

TEST_F(ConvertProgram, LlmcGoesThereAndBack) {
  succeed({"export", "--from", "run", "--out", "a.bin", "--format", "llmc"});
  succeed({"import", "--from", "a.bin", "--out", "hf"});
  succeed({"export", "--from", "hf", "--out", "b.bin", "--format", "llmc"});
  EXPECT_EQ(folder_.read("a.bin"), folder_.read("b.bin"));
}

TEST_F(ConvertProgram, AGgufFileSaysThatItHasNoVocabulary) {
  EXPECT_THAT(succeed({"export", "--from", "run", "--out", "m.gguf", "--format", "gguf", "--dtype", "fp16"}),
              HasSubstr("no vocabulary"));
  EXPECT_THAT(folder_.read("m.gguf"), StartsWith("GGUF"));
}

TEST_F(ConvertProgram, MistakesAreNamed) {
  expect_error({"export", "--from", "run", "--out", "x", "--format", "onnx"}, 2, "onnx");
  expect_error({"export", "--from", "run", "--out", "x"}, 2, "--format");
  expect_error({"export", "--from", "run", "--out", "x", "--format", "hf", "--dtype", "int8"}, 2, "int8");
  for (const char* size : {"0", "nan", "-1", "5GB"}) {
    expect_error({"export", "--from", "run", "--out", "x", "--format", "hf", "--shard-gb", size}, 2,
                 "--shard-gb: '" + std::string(size) + "' is not a number from");
  }
  expect_error({"export", "--from", "missing", "--out", "x", "--format", "hf"}, 1, "missing");
  expect_error({"export", "--from", "run", "--out", "run", "--format", "hf"}, 1, "name a new folder");
  expect_error({"export", "--from", "run", "--out", "no/such/x.gguf", "--format", "gguf"}, 1,
               "no/such/x.gguf");
  expect_error({"export", "--from", "run", "--out", "x.bin", "--format", "llmc", "--dtype", "fp16"}, 1,
               "F16");
  folder_.write("model.pt", "PK\3\4");
  expect_error({"import", "--from", "model.pt", "--out", "x"}, 1, "neither a folder of transformers nor");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace cladtorch::integration
