#include "options.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using llvm::StringRef;

namespace clad {
namespace {

constexpr std::pair<llvm::StringLiteral, bool Analyses::*> analysis_names[] = {
    {"counters", &Analyses::counters}, {"liveness", &Analyses::liveness}, {"slices", &Analyses::slices},
    {"replay", &Analyses::replay},     {"flat", &Analyses::flat},         {"sums", &Analyses::sums},
    {"fusion", &Analyses::fusion},     {"steps", &Analyses::steps},       {"equal", &Analyses::equal}};
/// Handles "no-replay" and the like.
bool switch_off(StringRef arg, Analyses& analyses) {
  if (!arg.consume_front("no-")) return false;
  bool known = false;
  for (const auto& [name, member] : analysis_names)
    if (arg == name || arg == "analyses") {
      analyses.*member = false;
      known = true;
    }
  return known;
}

/// Whether the argument is one of Clad's that change no derivative: its analyses are ours and always on, the
/// version that a plugin was built for is checked by CMake. Functions are not shown before they are
/// differentiated, nor as syntax trees; what error differences have, numerical_diff alone says.
bool changes_nothing(StringRef arg) {
  static constexpr const char* others[] = {"-fvalidate-clang-version", "-fno-validate-clang-version",
                                           "-fdump-source-fn",         "-fdump-source-fn-ast",
                                           "-fdump-derived-fn-ast",    "-fprint-num-diff-errors"};
  if (llvm::is_contained(others, arg)) return true;
  if (arg.consume_front("-fenable-analysis=") || arg.consume_front("-fdisable-analysis=")) {
    static constexpr const char* names[] = {"activity", "tbr", "useful", "loop", "all"};
    return llvm::is_contained(names, arg);
  }
  static constexpr const char* names[] = {"tbr", "va", "ua"};
  return (arg.consume_front("-enable-") || arg.consume_front("-disable-")) && llvm::is_contained(names, arg);
}

}  // namespace

bool parse_options(const std::vector<std::string>& args, DiagnosticsEngine& diagnostics, Options& options) {
  for (StringRef arg : args) {
    if (arg.consume_front("out=")) {
      options.out = arg.str();
    } else if (arg == "-fdisable-analysis=all") {
      switch_off("no-analyses", options.analyses);
    } else if (switch_off(arg, options.analyses) || changes_nothing(arg)) {
      continue;
    } else if (arg.consume_front("export=")) {
      options.exported.file = arg.str();
    } else if (arg == "export-private") {
      options.exported.private_members = true;
    } else if (arg == "-fdump-derived-fn") {  // this and the next are Clad's names
      options.dump = true;
    } else if (arg == "-fgenerate-source-file") {
      options.out = "Derivatives.cpp";
    } else if (arg == "remarks") {
      options.remarks = true;
    } else if (arg == "-fcustom-estimation-model") {
      diagnostics.Report(
          diagnostics.getCustomDiagID(DiagnosticsEngine::Error,
                                      "clad: -fcustom-estimation-model is not supported: error "
                                      "estimates take the model of clad::estimate_error"));
      return false;
    } else if (arg == "help" || arg == "-help") {
      llvm::outs()
          << "clad: compile-time differentiation\n"
             "  -fplugin-arg-clad-out=FILE  write the generated derivatives to FILE as well\n"
             "  -fplugin-arg-clad-export=FILE  write to FILE what another compiler compiles in place of "
             "the source\n"
             "  -fplugin-arg-clad-export-private  which then checks no access (-fno-access-control)\n"
             "  -fplugin-arg-clad-remarks   say at the source what the reverse sweep keeps, and what it "
             "computes again\n"
             "  -fplugin-arg-clad-no-NAME   without an analysis: counters, liveness, slices, replay, "
             "flat, sums, fusion, steps, equal; all: analyses\n"
             "  -fplugin-arg-clad-help      print this text\n"
             "  -Xclang -plugin-arg-clad -Xclang -fdump-derived-fn       print the generated derivatives\n"
             "  -Xclang -plugin-arg-clad -Xclang -fgenerate-source-file  write them to Derivatives.cpp\n"
             "  Clad's -enable-tbr, -disable-va, -fenable-analysis=NAME, -fdump-source-fn and the like are "
             "taken and change nothing\n";
    } else {
      diagnostics.Report(diagnostics.getCustomDiagID(
          DiagnosticsEngine::Error, "clad: unknown plugin argument '%0' (try -fplugin-arg-clad-help)"))
          << arg;
      return false;
    }
  }
  return true;
}

}  // namespace clad
