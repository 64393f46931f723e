#include "export.h"

#include <cctype>
#include <filesystem>
#include <set>

#include "clang/AST/Attr.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "frontend.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {
namespace {

/// "clad::gradient" and the like, as the callee is annotated.
std::string kind_of(const Request& request) {
  for (const AnnotateAttr* attr : request.call->getDirectCallee()->specific_attrs<AnnotateAttr>())
    if (attr->getAnnotation().starts_with("clad::")) return attr->getAnnotation().str();
  return "";
}

/// The members of clad::request in order: what the call in the source passes.
std::string asked_for(const Request& request) {
  const clang::Expr* given = request.call->getArg(1)->IgnoreParenImpCasts();
  const auto* names = dyn_cast<clang::StringLiteral>(given);
  const bool by_index = !names && given->getType()->isIntegerType();
  return "{\"" + kind_of(request) + "\", R\"clad(" + (names ? names->getString().str() : "") + ")clad\", " +
         std::to_string(request.options) + ", " +
         (by_index ? std::to_string(request.parameters[0]) : std::string("-1")) + "}";
}

/// The names in a text of C++, keywords and numbers too.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> found;
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t i = 0, end = 0; i < text.size(); i = end + 1) {
    end = i;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end > i) found.insert(text.substr(i, end - i));
  }
  return found;
}

/// Of these, those that are macros where the source ends.
std::vector<std::string> macros_in(const std::string& text, Preprocessor& preprocessor) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(text)) {
    if (std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    const MacroInfo* macro = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
    if (macro && !macro->isBuiltinMacro()) found.push_back(name);
  }
  return found;
}

/// The source as the exported file includes it: from the folder that the file is in.
std::string relative_source(const SourceManager& manager, const std::string& file) {
  const auto source = manager.getFileEntryRefForID(manager.getMainFileID());
  const std::string name = source ? source->getName().str() : "";
  std::error_code failure;
  const auto folder = std::filesystem::absolute(file, failure).parent_path();
  const auto relative = std::filesystem::relative(name, folder, failure);
  return failure || relative.empty() ? name : relative.string();
}

constexpr llvm::StringLiteral quiet =
    "#pragma GCC diagnostic push\n"
    "#pragma GCC diagnostic ignored \"-Wpragmas\"\n"
    "#pragma GCC diagnostic ignored \"-Wunknown-warning-option\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-value\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-label\"\n"
    "#pragma GCC diagnostic ignored \"-Wparentheses\"\n"
    "#pragma GCC diagnostic ignored \"-Wsign-compare\"\n"
    "#pragma GCC diagnostic ignored \"-Wshadow\"\n"
    "#pragma GCC diagnostic ignored \"-Wmissing-field-initializers\"\n"
    "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
    "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n";

/// Other files of the program may ask for what is exported here: that is looked up when it is executed.
constexpr llvm::StringLiteral linked_without_plugin =
    "__attribute__((weak)) clad::entry_point clad::this_file_was_compiled_without_the_clad_plugin::\n"
    "    call_clad_differentiate_for_its_target_in_CMake_or_compile_with_fplugin() {\n"
    "  return nullptr;\n"
    "}\n";

}  // namespace

std::string export_requests(const std::vector<Request>& requests, TypeTable& types) {
  std::string text;
  for (const Request& r : requests) {
    if (!r.call) continue;
    const QualType given =
        r.call->getDirectCallee()->getParamDecl(0)->getType().getNonReferenceType().getUnqualifiedType();
    const QualType type = given->isFunctionType() ? r.function->getASTContext().getPointerType(given) : given;
    std::string key = types.spell(type),
                function = "static_cast<" + key + ">(&" + spell_function(r.function, types) + ")";
    if (r.functor) {
      const QualType object = type->isPointerType() ? type->getPointeeType() : type;
      key = "const clad::object_type<" + types.spell(object.getUnqualifiedType()) + ">*";
      function = "nullptr";
    }
    text += "static const clad::exported<" + key + "> " + r.name() + "_exported(" + function + ", " +
            asked_for(r) + ", " + r.entry + ");\n";
  }
  return text;
}

void check_exportable(const std::vector<Request>& requests, const std::string& text, const TypeTable& types,
                      Diagnose& diagnose) {
  for (const Request& r : requests)
    if (r.functor && r.functor->isLambda())
      diagnose.error(
          r.at,
          "cannot export the derivative of a lambda, which has no name in another file; take that of a "
          "function, or of a class with an operator()");
  for (const auto& [stand_in, var] : types.statics())
    diagnose.error(var->getLocation(), "cannot export a derivative that uses static variable '" +
                                           var->getNameAsString() +
                                           "', which has no name in another file; make it a global variable");
  if (diagnose.failed() || (types.nameless().empty() && types.spaces().empty())) return;
  const std::set<std::string> names = names_in(text);
  for (const auto& [space, name] : types.spaces())
    if (names.count(name) != 0)
      diagnose.error(space->getLocation(),
                     "cannot export a derivative that uses names of this anonymous namespace which mean "
                     "something else outside of it; rename them");
  for (const auto& [type, name] : types.nameless()) {
    if (names.count(name) == 0) continue;
    const TagDecl* tag = type->getAsTagDecl();
    diagnose.error(
        tag ? tag->getLocation() : requests[0].at,
        "cannot export a derivative that needs '" + type.getAsString(types.policy()) +
            "', which has no name outside of this place; declare it, named, outside of the function");
  }
}

bool write_export(CompilerInstance& compiler, const std::string& file, const std::string& text,
                  std::string& failure) {
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (error) {
    failure = error.message();
    return false;
  }
  out << "// Written by clad: a source file, and the derivatives that it asks for. Compiled in its place, by "
         "any\n"
         "// compiler of C++20.\n"
         "#include \""
      << relative_source(compiler.getSourceManager(), file) << "\"\n";
  for (const std::string& name : macros_in(text, compiler.getPreprocessor()))
    out << "#undef " << name << "\n";
  if (!text.empty()) out << linked_without_plugin << quiet << text << "#pragma GCC diagnostic pop\n";
  out.close();
  return true;
}

}  // namespace clad
