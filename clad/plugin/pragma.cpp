#include "pragma.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace clad {
namespace {

/// The text after what is left of a line, without the blanks and comments it starts with.
StringRef after_comments(StringRef text) {
  while (true) {
    text = text.ltrim();
    if (text.consume_front("//"))
      text = text.drop_until([](char c) { return c == '\n'; });
    else if (text.consume_front("/*"))
      text = text.substr(std::min(text.size(), text.find("*/"))).substr(2);
    else
      return text;
  }
}

bool is_pragma(StringRef line) {
  for (StringRef word : {"#", "pragma", "clad", "checkpoint", "loop"}) {
    line = line.ltrim();
    if (!line.consume_front(word)) return false;
  }
  return after_comments(line).empty();
}

class CladPragma : public PragmaHandler {
 public:
  CladPragma() : PragmaHandler("clad") {}
  void HandlePragma(Preprocessor& preprocessor, PragmaIntroducer, Token& first) override {
    std::string words;
    Token token;
    for (preprocessor.LexUnexpandedToken(token); token.isNot(tok::eod);
         preprocessor.LexUnexpandedToken(token))
      words += (words.empty() ? "" : " ") + preprocessor.getSpelling(token);
    if (words.compare(0, 10, "checkpoint") != 0) return;  // others are upstream's
    const SourceManager& manager = preprocessor.getSourceManager();
    const SourceLocation at = first.getLocation();
    if (words != "checkpoint loop" || at.isMacroID())
      return error(preprocessor, at,
                   "write '#pragma clad checkpoint loop' on a line of its own before a loop");
    const auto [file, offset] = manager.getDecomposedLoc(token.getLocation());
    const StringRef next = after_comments(manager.getBufferData(file).substr(offset));
    const StringRef word = next.take_while([](char c) { return isAsciiIdentifierContinue(c); });
    if (word == "for" || word == "while" || word == "do") return;
    error(preprocessor, at, "'#pragma clad checkpoint loop' stands before a loop; none follows here");
  }

 private:
  static void error(Preprocessor& preprocessor, SourceLocation at, const char* message) {
    DiagnosticsEngine& engine = preprocessor.getDiagnostics();
    engine.Report(at, engine.getDiagnosticIDs()->getCustomDiagID(DiagnosticIDs::Error, "%0")) << message;
  }
};

const PragmaHandlerRegistry::Add<CladPragma> registered("clad", "marks loops for checkpointing");

}  // namespace

bool marks_loop(const SourceManager& manager, SourceLocation loop) {
  const auto [file, offset] = manager.getDecomposedLoc(manager.getFileLoc(loop));
  StringRef before = manager.getBufferData(file).substr(0, offset);
  if (!before.substr(before.rfind('\n') + 1).trim().empty()) return false;  // something else on its line
  while (!before.empty()) {
    before = before.substr(0, before.rfind('\n'));
    const StringRef line = before.substr(before.rfind('\n') + 1).trim();
    if (is_pragma(line)) return true;
    if (!after_comments(line).empty() || before.rfind('\n') == StringRef::npos) return false;
  }
  return false;
}

}  // namespace clad
