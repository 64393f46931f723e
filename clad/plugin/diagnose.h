// Errors and notes at the user's source.
#pragma once

#include <string>

#include "clang/Sema/Sema.h"

namespace clad {

class Diagnose {
 public:
  explicit Diagnose(clang::Sema& sema) : sema_(sema) {}

  void error(clang::SourceLocation at, const std::string& message) {
    ++errors_;
    report(clang::DiagnosticsEngine::Error, at, message);
  }
  void note(clang::SourceLocation at, const std::string& message) {
    report(clang::DiagnosticsEngine::Note, at, message);
  }
  void error(unsigned at, const std::string& message) {
    error(clang::SourceLocation::getFromRawEncoding(at), message);
  }
  bool failed() const { return errors_ != 0; }
  unsigned errors() const { return errors_; }

 private:
  void report(clang::DiagnosticsEngine::Level level, clang::SourceLocation at, const std::string& message) {
    clang::DiagnosticsEngine& engine = sema_.getDiagnostics();
    engine.Report(at, engine.getDiagnosticIDs()->getCustomDiagID(
                          static_cast<clang::DiagnosticIDs::Level>(level == clang::DiagnosticsEngine::Error
                                                                       ? clang::DiagnosticIDs::Error
                                                                       : clang::DiagnosticIDs::Note),
                          "%0"))
        << message;
  }

  clang::Sema& sema_;
  unsigned errors_ = 0;
};

}  // namespace clad
