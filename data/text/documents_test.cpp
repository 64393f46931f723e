#include "data/text/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The segments of a file: "[...]" what is ignored, "|" the end of a turn, "$" the end of a document.
std::vector<std::string> documents(const std::filesystem::path& path, const TextOptions& options = {},
                                   size_t chunk_bytes = 1 << 20, uint64_t* skipped = nullptr) {
  const TextFiles files(path, options);
  ChunkReader reader(files, chunk_bytes, [](std::string_view text) { return text.size(); });
  std::vector<std::string> result;
  while (const std::optional<Chunk> chunk = reader.next()) {
    const uint64_t bad = read_documents(files, *chunk, [&](const Segment& segment) {
      if (segment.begins_document) result.emplace_back();
      const std::string text(segment.text);
      result.back() += segment.ignored ? "[" + text + "]" : text;
      if (segment.ends_turn) result.back() += "|";
      if (segment.ends_document) result.back() += "$";
    });
    if (skipped != nullptr) *skipped += bad;
  }
  return result;
}

TEST(Documents, ALineOfJsonIsADocument) {
  const TemporaryFolder folder;
  const auto file =
      folder.write("a.jsonl",
                   "{\"text\": \"one\\ntwo\", \"id\": 1}\r\n\n  \n{\"id\":2,\"text\":\"na\\u00efve\"}\n"
                   "{\"text\":\"\"}\n{\"text\":\"last\"}");
  for (size_t chunk : {4, 20, 1 << 20}) {
    EXPECT_THAT(documents(file, {}, chunk), ElementsAre("one\ntwo$", "na\xc3\xafve$", "last$"));
  }
}

TEST(Documents, TheFieldMayHaveAnyName) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.json", "{\"content\":\"x\",\"messages\":[]}\n{\"content\":\"y\"}\n");
  EXPECT_THAT(documents(file, {.field = "content"}), ElementsAre("x$", "y$"));
}

TEST(Documents, APromptIsIgnoredAndItsCompletionIsNot) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.jsonl",
                                 "{\"prompt\":\"2+2=\",\"completion\":\"4\",\"text\":\"not this\"}\n"
                                 "{\"prompt\":\"\",\"completion\":\"free\"}\n");
  EXPECT_THAT(documents(file), ElementsAre("[2+2=]4|$", "free|$"));
}

TEST(Documents, OnlyTheAssistantIsLearned) {
  const TemporaryFolder folder;
  const auto file = folder.write(
      "a.jsonl", R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},)"
                 R"({"role":"assistant","content":"Hello."},{"role":"user","content":"Bye"},)"
                 R"({"role":"assistant","content":"See you."}]})"
                 "\n");
  EXPECT_THAT(documents(file), ElementsAre("[<|system|>\nBe brief.\n<|user|>\nHi\n<|assistant|>\n]Hello.|"
                                           "[\n<|user|>\nBye\n<|assistant|>\n]See you.|$"));
}

TEST(Documents, ABadLineIsNamedOrCounted) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> bad[] = {
      {"{\"text\": \"cut", "this is not JSON"},
      {"[1, 2]", "expected a JSON object, found array"},
      {"{\"content\":\"x\"}",
       "there is no key 'text'; 'cladtorch data prepare' takes another one with --field"},
      {"{\"text\":null}", "the value of 'text' is of type null, expected a string"},
      {"{\"text\":\"\xff\"}", "this is not JSON"},
      {"{\"text\":1e999}", "this is not JSON"},
      {"{\"prompt\":\"x\",\"completion\":3}", "'completion' is of type number"},
      {"{\"messages\":{}}", "'messages' must be a list of objects"},
      {"{\"messages\":[\"x\"]}", "'messages' must be a list of objects"},
      {"{\"messages\":[{\"role\":\"assistant\"}]}", "there is no key 'content'"},
      {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", "no message has the role 'assistant'"},
  };
  for (const auto& [line, message] : bad) {
    const auto file =
        folder.write("a.jsonl", "{\"text\":\"good\"}\n\n" + std::string(line) + "\n{\"text\":\"after\"}\n");
    for (size_t chunk : {4, 1 << 20}) {
      EXPECT_THAT(error_of([&] { documents(file, {}, chunk); }),
                  AllOf(HasSubstr("a.jsonl', line 3: "), HasSubstr(message)));
      uint64_t skipped = 0;
      EXPECT_THAT(documents(file, {.skip_invalid = true}, chunk, &skipped), ElementsAre("good$", "after$"));
      EXPECT_EQ(skipped, 1u);
    }
  }
}

TEST(Documents, DeepJsonDoesNotExhaustTheStack) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.jsonl", std::string(1'000'000, '[') + "\n");
  EXPECT_THAT(error_of([&] { documents(file); }), HasSubstr("line 1: this is not JSON"));
}

TEST(Documents, AFileOfTextIsOneDocumentInAsManyChunksAsItNeeds) {
  const TemporaryFolder folder;
  folder.write("d/a.txt", "first file");
  folder.write("d/b.jsonl", "{\"text\":\"second\"}\n{\"text\":\"third\"}");
  for (size_t chunk : {1, 3, 10, 11, 100}) {
    EXPECT_THAT(documents(folder / "d", {}, chunk), ElementsAre("first file$", "second$", "third$"));
  }
}

}  // namespace
}  // namespace cladtorch::data
