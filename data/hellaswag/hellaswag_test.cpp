#include "cladtorch/data/hellaswag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/hellaswag/prompt.h"
#include "data/text/compress.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HellaSwagPrompt, IsCleanedAsPythonWould) {
  // What re.sub("\\[.*?\\]", "", text.strip().replace(" [title]", ". ")).replace("  ", " ") gives in Python.
  EXPECT_EQ(hellaswag::cleaned("  \xc2\xa0one two\x1c\n"), "one two");
  EXPECT_EQ(hellaswag::cleaned("[header] How to fold [title] Lay it [step]"), " How to fold. Lay it ");
  EXPECT_EQ(hellaswag::cleaned("a [[b] c] d"), "a c] d");
  EXPECT_EQ(hellaswag::cleaned("a [b\nc] [d] [e"), "a [b\nc] [e");
  EXPECT_EQ(hellaswag::cleaned("a    b"), "a  b");
  EXPECT_EQ(hellaswag::cleaned("[]"), "");
  EXPECT_EQ(hellaswag::cleaned(" \t "), "");
  EXPECT_EQ(hellaswag::cleaned("\xe3\x80\x80h\xc3\xa4lt\xe2\x80\x89"), "h\xc3\xa4lt");
}

TEST(HellaSwagPrompt, IsCapitalizedAsPythonWould) {
  EXPECT_EQ(hellaswag::capitalized("the Dog NAMED Ann"), "The dog named ann");
  EXPECT_EQ(hellaswag::capitalized("\xc3\xbc"
                                   "BER \xc3\x84"),
            "\xc3\x9c"
            "ber \xc3\xa4");
  EXPECT_EQ(hellaswag::capitalized("\xc7\x86"), "\xc7\x85");  // one letter that looks like two: title case
  EXPECT_EQ(hellaswag::capitalized("1 A"), "1 a");
  EXPECT_EQ(hellaswag::capitalized(""), "");
}

constexpr const char* line =
    R"({"ind": 4, "activity_label": "Ice fishing", "ctx_a": "Two girls [x] stand.", "ctx_b": "the Dog", )"
    R"("ctx": "Two girls [x] stand. the Dog", "label": 2, "endings": ["sits.", " runs [y] off", "barks.", "sleeps."]})";

TEST(HellaSwag, IsReadInTwoStyles) {
  const TemporaryFolder folder;
  const auto path = folder.write("q.jsonl", std::string("\n") + line + "\r\n" + line);
  const auto harness = read_hellaswag(path);
  ASSERT_EQ(harness.size(), 2u);
  EXPECT_EQ(harness[0].context, "Ice fishing: Two girls stand. The dog");
  EXPECT_THAT(harness[0].endings, ElementsAre("sits.", "runs off", "barks.", "sleeps."));
  EXPECT_EQ(harness[0].answer, 2u);
  EXPECT_EQ(harness[0].line, 2u);
  const auto llmc = read_hellaswag(path, HellaSwagStyle::llmc);
  EXPECT_EQ(llmc[1].context, "Two girls [x] stand. the Dog");
  EXPECT_THAT(llmc[1].endings, ElementsAre("sits.", " runs [y] off", "barks.", "sleeps."));
  EXPECT_EQ(read_hellaswag(path, HellaSwagStyle::llmc, 1).size(), 1u);
  // The line after the limit is not looked at.
  EXPECT_EQ(
      read_hellaswag(folder.write("q", std::string(line) + "\nnonsense"), HellaSwagStyle::llmc, 1).size(),
      1u);
  EXPECT_EQ(read_hellaswag(folder.write("q.jsonl.zst", zstd(line))).size(), 1u);
}

TEST(HellaSwag, TakesContextAndLabelInTheirOtherForms) {
  const TemporaryFolder folder;
  const auto context = [&](const std::string& keys, HellaSwagStyle style) {
    const auto path = folder.write("q", "{" + keys + R"(, "endings": ["a", "b"], "label": "1"})");
    const auto questions = read_hellaswag(path, style);
    EXPECT_EQ(questions.at(0).answer, 1u);
    return questions.at(0).context;
  };
  using enum HellaSwagStyle;
  EXPECT_EQ(context(R"("ctx": "One. two THREE")", harness), "One. two THREE");
  EXPECT_EQ(context(R"("ctx_a": "One.", "ctx_b": "two THREE")", harness), "One. Two three");
  EXPECT_EQ(context(R"("ctx_a": "One.", "ctx_b": "two THREE")", llmc), "One. two THREE");
  EXPECT_EQ(context(R"("ctx_a": "One.", "ctx_b": "")", llmc), "One.");
  EXPECT_EQ(context(R"("ctx_a": "One.", "activity_label": "Counting")", harness), "Counting: One.");
}

TEST(HellaSwag, NamesTheLineThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& second) {
    const auto path = folder.write("q.jsonl", std::string(line) + "\n" + second + "\n");
    const std::string error = error_of([&] { read_hellaswag(path); });
    EXPECT_THAT(error, HasSubstr("q.jsonl', line 2: ")) << second;
    return error;
  };
  EXPECT_THAT(message("{"), HasSubstr("this is not JSON"));
  EXPECT_THAT(message("[]"), HasSubstr("expected a JSON object, found array"));
  EXPECT_THAT(message("{}"), HasSubstr("neither a key 'ctx' nor 'ctx_a'"));
  EXPECT_THAT(message(R"({"ctx": 1})"), HasSubstr("'ctx' is of type number, expected a string"));
  const auto with = [&](const std::string& rest) { return message(R"({"ctx": "a", )" + rest + "}"); };
  EXPECT_THAT(with(R"("label": 0)"), HasSubstr("no key 'endings'"));
  EXPECT_THAT(with(R"("endings": ["a"], "label": 0)"), HasSubstr("is not a list of at least two"));
  EXPECT_THAT(with(R"("endings": ["a", 1], "label": 0)"), HasSubstr("'endings' is of type number"));
  EXPECT_THAT(with(R"("endings": ["a", "[b]"], "label": 0)"), HasSubstr("ending 1 is empty"));
  EXPECT_THAT(with(R"("endings": ["a", "b"])"), HasSubstr("no 'label'"));
  EXPECT_THAT(with(R"("endings": ["a", "b"], "label": "")"), HasSubstr("no 'label'"));
  EXPECT_THAT(with(R"("endings": ["a", "b"], "label": 2)"),
              HasSubstr("'label' is '2', expected a whole number from 0 to 1"));
  EXPECT_THAT(with(R"("endings": ["a", "b"], "label": -1)"), HasSubstr("'label' is '-1'"));
  EXPECT_THAT(with(R"("endings": ["a", "b"], "label": "one")"), HasSubstr("'label' is 'one'"));
  EXPECT_THAT(with(R"("endings": ["a", "b"], "label": 0.5)"), HasSubstr("'label' is number"));
  EXPECT_THAT(with("\"endings\": [\"a\", \"b\"], \"label\": " + std::string(100'000, '[') +
                   std::string(100'000, ']')),
              HasSubstr("'label' is array"));
}

TEST(HellaSwag, NamesAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_hellaswag(folder / "missing.jsonl"); }), HasSubstr("missing.jsonl"));
  EXPECT_THAT(error_of([&] { read_hellaswag(folder.path()); }), HasSubstr("is a folder, expected one file"));
  EXPECT_THAT(error_of([&] { read_hellaswag(folder.write("blank", "\n\n")); }),
              HasSubstr("holds no examples"));
  EXPECT_THAT(error_of([&] { hellaswag_style("other"); }), HasSubstr("expected harness or llmc"));
}

}  // namespace
}  // namespace cladtorch::data
