#include "cuda/choice_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace cladtorch::cuda {
namespace {

/// A file of its own for each test.
class CudaChoiceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path = choice_path().parent_path() / "other";
    std::filesystem::create_directories(path.parent_path());
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::filesystem::path path;
};

TEST_F(CudaChoiceFile, KeepsWhatOthersWrite) {
  ChoiceFile one(path, "gpu"), two(path, "gpu"), elsewhere(path, "another gpu");
  one.add("a", "first");
  two.add("b", "second");
  one.add("a", "third");
  const ChoiceFile later(path, "gpu");
  EXPECT_EQ(later.find("a"), "third");
  EXPECT_EQ(later.find("b"), "second");
  EXPECT_FALSE(later.find("c"));
  EXPECT_FALSE(elsewhere.find("a"));
  EXPECT_FALSE(ChoiceFile(path, "another gpu").find("a"));
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    EXPECT_EQ(entry.path().filename().string().find("other."), std::string::npos) << "a temporary is left";
}

TEST_F(CudaChoiceFile, IgnoresWhatIsBroken) {
  std::ofstream(path) << "gpu\tgood\tyes\ngpu\tshort\nnonsense\n\n\xff\xfe\tx\tzz\tzz\ngpu\tempty\t\n\t\t\n"
                      << std::string(1000, '\t') << "\ngpu\tlast\tcut";
  ChoiceFile file(path, "gpu");
  EXPECT_EQ(file.find("good"), "yes");
  for (const char* key : {"short", "empty", "x", ""}) EXPECT_FALSE(file.find(key)) << key;
  EXPECT_EQ(file.find("last"), "cut");
  file.add("new", "one");
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, "gpu\tgood\tyes\ngpu\tlast\tcut\ngpu\tnew\tone\n");
}

TEST_F(CudaChoiceFile, DoesWithoutAFile) {
  ChoiceFile nowhere("/proc/nothing/here", "gpu"), none({}, "gpu");
  for (ChoiceFile* file : {&nowhere, &none}) {
    file->add("a", "b");
    EXPECT_FALSE(ChoiceFile("/proc/nothing/here", "gpu").find("a"));
  }
}

/// A reader sees whole lines at any time, and the last writer's file has a line of every thread that was
/// last.
TEST_F(CudaChoiceFile, IsWholeWhileOthersWrite) {
  ChoiceFile shared(path, "gpu");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) shared.add("key " + std::to_string(i), std::string(100, 'a' + i));
    });
  for (int j = 0; j < 50; ++j) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) EXPECT_EQ(line.size(), 3 + 1 + 5 + 1 + 100u) << line;
  }
  for (std::thread& thread : threads) thread.join();
  const ChoiceFile later(path, "gpu");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(later.find("key " + std::to_string(i)), std::string(100, 'a' + i));
}

}  // namespace
}  // namespace cladtorch::cuda
