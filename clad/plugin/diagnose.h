// Errors and notes at the user's source.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Sema.h"

namespace clad {

class Diagnose {
 public:
  /// A quiet one only counts errors.
  explicit Diagnose(clang::Sema& sema, bool quiet = false) : sema_(sema), quiet_(quiet) {}

  /// Reports an error once, however often the function it is in is differentiated. In a library's header it
  /// is reported where the user's code calls into the library.
  void error(clang::SourceLocation at, const std::string& message) {
    ++errors_;
    repeated_ = !reported_.insert({at.getRawEncoding(), message}).second;
    if (repeated_) return;
    clang::SourceLocation shown = at;
    for (auto use = uses_.rbegin(); use != uses_.rend() && in_library(shown); ++use) shown = *use;
    report(clang::DiagnosticIDs::Error, shown, message);
    if (shown != at) report(clang::DiagnosticIDs::Note, at, "in this code of the library");
  }
  void error(unsigned at, const std::string& message) {
    error(clang::SourceLocation::getFromRawEncoding(at), message);
  }
  /// A plugin's warnings are none of Clang's own, which -w and -Werror know.
  void warning(clang::SourceLocation at, const std::string& message) {
    const clang::DiagnosticsEngine& engine = sema_.getDiagnostics();
    if (engine.getIgnoreAllWarnings()) return;
    if (engine.getWarningsAsErrors()) return error(at, message);
    if (reported_.insert({at.getRawEncoding(), message}).second)
      report(clang::DiagnosticIDs::Warning, at, message);
  }
  /// Only where they are asked for.
  void remark(unsigned at, const std::string& message) {
    if (reported_.insert({at, message}).second)
      report(clang::DiagnosticIDs::Remark, clang::SourceLocation::getFromRawEncoding(at), message);
  }
  void show_remarks() { remarks_ = true; }
  bool remarks() const { return remarks_; }
  /// Belongs to the error before it.
  void note(clang::SourceLocation at, const std::string& message) {
    if (!repeated_) report(clang::DiagnosticIDs::Note, at, message);
  }
  /// The place in words: "file.h:12".
  std::string shown(clang::SourceLocation at) const {
    const clang::PresumedLoc place = sema_.getSourceManager().getPresumedLoc(at);
    if (place.isInvalid()) return "";
    const llvm::StringRef file = place.getFilename();
    return file.substr(file.rfind('/') + 1).str() + ":" + std::to_string(place.getLine());
  }
  bool failed() const { return errors_ != 0; }
  /// Whether a quiet one had something to report.
  bool held_back() const { return held_back_; }
  void speak_up() { quiet_ = false; }
  unsigned errors() const { return errors_; }

  /// While it lives, errors arise in the derivative of a function that is used at `at`.
  class Use {
   public:
    Use(Diagnose& diagnose, clang::SourceLocation at) : diagnose_(diagnose) { diagnose_.uses_.push_back(at); }
    ~Use() { diagnose_.uses_.pop_back(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Diagnose& diagnose_;
  };

 private:
  bool in_library(clang::SourceLocation at) const {
    return at.isValid() && sema_.getSourceManager().isInSystemHeader(at);
  }
  void report(clang::DiagnosticIDs::Level level, clang::SourceLocation at, const std::string& message) {
    held_back_ |= quiet_;
    if (quiet_) return;
    clang::DiagnosticsEngine& engine = sema_.getDiagnostics();
    engine.Report(at, engine.getDiagnosticIDs()->getCustomDiagID(level, "%0")) << message;
  }

  clang::Sema& sema_;
  bool quiet_;
  unsigned errors_ = 0;
  bool repeated_ = false, remarks_ = false, held_back_ = false;
  std::set<std::pair<unsigned, std::string>> reported_;
  std::vector<clang::SourceLocation> uses_;
};

}  // namespace clad
