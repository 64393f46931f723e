// How functions are spelled in generated code and in the names of their derivatives.
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {
namespace {

bool is_hidden_friend(const FunctionDecl* f) {
  unsigned ns = f->getIdentifierNamespace();
  return (ns & Decl::IDNS_OrdinaryFriend) && !(ns & Decl::IDNS_Ordinary);
}

}  // namespace

bool named(const FunctionDecl* f, std::initializer_list<llvm::StringRef> names) {
  if (!f->getIdentifier()) return false;
  for (llvm::StringRef n : names)
    if (f->getName() == n) return true;
  return false;
}

static bool in_clad(const FunctionDecl* f) {
  const auto* space = dyn_cast<NamespaceDecl>(f->getDeclContext());
  return space && space->getName() == "clad" && space->getParent()->isTranslationUnit();
}
bool is_checkpoint(const FunctionDecl* f) { return named(f, {"checkpoint"}) && in_clad(f); }
bool is_loop_mark(const FunctionDecl* f) {
  return named(f, {"checkpoint_loop", "checkpoint_bytes"}) && in_clad(f);
}

std::string operator_word(const FunctionDecl* decl) {
  const bool unary = decl->getNumParams() + (isa<CXXMethodDecl>(decl) ? 1 : 0) == 1;
  switch (decl->getOverloadedOperator()) {
    case OO_Plus:
      return "operator_plus";
    case OO_Minus:
      return "operator_minus";
    case OO_Star:
      return "operator_star";
    case OO_Slash:
      return "operator_slash";
    case OO_Percent:
      return "operator_percent";
    case OO_PlusEqual:
      return "operator_plus_equal";
    case OO_MinusEqual:
      return "operator_minus_equal";
    case OO_StarEqual:
      return "operator_star_equal";
    case OO_SlashEqual:
      return "operator_slash_equal";
    case OO_Equal:
      return "operator_equal";
    case OO_Call:
      return "operator_call";
    case OO_Subscript:
      return "operator_subscript";
    case OO_Arrow:
      return "operator_arrow";
    case OO_PlusPlus:
      return unary ? "operator_plus_plus" : "operator_plus_plus_postfix";
    case OO_MinusMinus:
      return unary ? "operator_minus_minus" : "operator_minus_minus_postfix";
    case OO_None:
      break;
    default:
      return "operator_other";
  }
  if (const auto* conversion = dyn_cast<CXXConversionDecl>(decl))
    return "conversion_to_" + conversion->getConversionType().getAsString();
  if (isa<CXXConstructorDecl>(decl)) return "constructor";
  return decl->getNameAsString();
}

std::string spell_function(const FunctionDecl* decl, TypeTable& types) {
  const PrintingPolicy& policy = types.policy();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (is_hidden_friend(decl)) {
    os << decl->getNameAsString();
  } else {
    const DeclContext* context = decl->getDeclContext()->getRedeclContext();
    bool global = context->isTranslationUnit() ||
                  (isa<NamespaceDecl>(context) && cast<NamespaceDecl>(context)->isAnonymousNamespace());
    if (global || decl->isExternC()) os << "::";
    decl->printQualifiedName(os, policy);
  }
  const TemplateArgumentList* args = decl->getTemplateSpecializationArgs();
  if (!args || compat::in_std(decl)) {
    os.flush();
    return text;
  }
  std::vector<std::string> list;
  auto add = [&](const TemplateArgument& arg) {
    std::string item;
    if (arg.getKind() == TemplateArgument::Type) {
      item = types.spell(arg.getAsType());
    } else {
      llvm::raw_string_ostream item_os(item);
      arg.print(policy, item_os, /*IncludeType=*/true);
    }
    list.push_back(item);
  };
  for (const TemplateArgument& arg : args->asArray()) {
    if (arg.getKind() != TemplateArgument::Pack) {
      add(arg);
      continue;
    }
    for (const TemplateArgument& inner : arg.getPackAsArray()) add(inner);
  }
  os << "<";
  for (std::size_t i = 0; i < list.size(); ++i) os << (i ? ", " : "") << list[i];
  os << ">";
  os.flush();
  return text;
}

}  // namespace clad
