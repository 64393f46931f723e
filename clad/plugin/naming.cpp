// How functions are spelled in generated code and in the names of their derivatives.
#include <iterator>

#include "clang/AST/DeclTemplate.h"
#include "clang/Sema/Sema.h"
#include "compat.h"
#include "frontend.h"
#include "llvm/ADT/StringExtras.h"
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

/// The digits of a number of at most 64 bits, as a literal that holds it.
static std::string spell_digits(const llvm::APSInt& value, const char* suffix) {
  if (value.isSigned() && value.isMinSignedValue())  // there are no negative literals
    return "(" + llvm::toString(llvm::APSInt(value + 1, false), 10) + suffix + " - 1)";
  return llvm::toString(value, 10) + suffix;
}

/// An integer as an expression of exactly its type and value: types less than int have no literals, and Clang
/// prints those of characters as if they were signed.
static std::string spell_integer(const llvm::APSInt& value, QualType type, TypeTable& types) {
  type = type.getCanonicalType().getUnqualifiedType();
  const auto* builtin = dyn_cast<BuiltinType>(type.getTypePtr());
  switch (builtin ? builtin->getKind() : BuiltinType::Void) {
    case BuiltinType::Bool:
      return value == 0 ? "false" : "true";
    case BuiltinType::Int:
      return spell_digits(value, "");
    case BuiltinType::UInt:
      return spell_digits(value, "U");
    case BuiltinType::Long:
      return spell_digits(value, "L");
    case BuiltinType::ULong:
      return spell_digits(value, "UL");
    case BuiltinType::LongLong:
      return spell_digits(value, "LL");
    case BuiltinType::ULongLong:
      return spell_digits(value, "ULL");
    default:
      break;
  }
  const std::string cast = "static_cast<" + types.spell(type) + ">(";
  const char* suffix = value.isSigned() ? "LL" : "ULL";
  if (value.getBitWidth() <= 64)
    return cast + spell_digits(value, value.getBitWidth() <= 32 ? "" : suffix) + ")";
  const llvm::APSInt high(value.lshr(64).trunc(64), value.isUnsigned());
  const llvm::APSInt low(value.trunc(64), /*isUnsigned=*/true);
  return cast + cast + spell_digits(high, suffix) + ") << 64 | " + spell_digits(low, "ULL") + ")";
}

/// A constant that is an argument of a template, as an expression of exactly its value.
std::string spell_constant(const APValue& value, QualType type, TypeTable& types) {
  if (value.isFloat() && value.getFloat().isFinite()) {
    char digits[64];
    value.getFloat().convertToHexString(digits, 0, false, llvm::APFloat::rmNearestTiesToEven);
    const bool narrow = type->isSpecificBuiltinType(BuiltinType::Float);
    return std::string(digits) + (narrow                                                 ? "F"
                                  : type->isSpecificBuiltinType(BuiltinType::LongDouble) ? "L"
                                                                                         : "");
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (value.isStruct() && record && value.getStructNumBases() == 0) {
    std::string text;
    for (const FieldDecl* f : record->fields())
      text += (text.empty() ? "" : ", ") +
              spell_constant(value.getStructField(f->getFieldIndex()), f->getType(), types);
    return types.spell(type.getUnqualifiedType()) + "{" + text + "}";
  }
  if (value.isArray() && value.getArraySize() == value.getArrayInitializedElts()) {
    std::string text;
    const QualType element = type->castAsArrayTypeUnsafe()->getElementType();
    for (unsigned i = 0; i < value.getArraySize(); ++i)
      text += (i ? ", " : "") + spell_constant(value.getArrayInitializedElt(i), element, types);
    return "{" + text + "}";
  }
  if (value.isInt() && type->isIntegralOrEnumerationType()) return spell_integer(value.getInt(), type, types);
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printPretty(os, types.policy(), type);
  return os.str();
}

namespace {

/// Whether the name alone does not tell the function.
bool is_overloaded(const FunctionDecl* f) {
  const auto found = f->getDeclContext()->getRedeclContext()->lookup(f->getDeclName());
  return std::distance(found.begin(), found.end()) > 1 ||
         (f->getTemplateSpecializationArgs() && compat::in_std(f));  // written without them
}

/// A function that is an argument of a template whose parameter is of this type.
std::string spell_target(const FunctionDecl* f, QualType type, TypeTable& types) {
  const std::string name = (type->isReferenceType() ? "" : "&") + spell_function(f, types);
  return is_overloaded(f) ? "static_cast<" + types.spell(type) + ">(" + name + ")" : name;
}

std::string spell_argument(const TemplateArgument& arg, TypeTable& types) {
  if (arg.getKind() == TemplateArgument::Type) return types.spell(arg.getAsType());
  if (arg.getKind() == TemplateArgument::Integral) {
    const QualType type = arg.getIntegralType();
    if (!type->isEnumeralType() || !type->castAs<EnumType>()->getDecl()->getDeclContext()->isFileContext())
      return spell_integer(arg.getAsIntegral(), type, types);
  }
#if CLANG_VERSION_MAJOR >= 18
  if (arg.getKind() == TemplateArgument::StructuralValue)
    return spell_constant(arg.getAsStructuralValue(), arg.getStructuralValueType(), types);
#endif
  if (arg.getKind() == TemplateArgument::Declaration) {
    const auto* method = dyn_cast<CXXMethodDecl>(arg.getAsDecl());
    if (method && method->isLambdaStaticInvoker())
      return "static_cast<" + types.spell(arg.getParamTypeForDecl()) + ">(" +
             types.spell(compat::record_type(method->getASTContext(), method->getParent())) + "{})";
    if (const auto* function = dyn_cast<FunctionDecl>(arg.getAsDecl()))
      return spell_target(function, arg.getParamTypeForDecl(), types);
    if (const auto* object = dyn_cast<TemplateParamObjectDecl>(arg.getAsDecl()))
      return spell_constant(object->getValue(), object->getType(), types);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  arg.print(types.policy(), os, /*IncludeType=*/true);
  return os.str();
}

}  // namespace

/// What follows a pack cannot be written: the pack would take it.
std::string spell_arguments(llvm::ArrayRef<TemplateArgument> args, TypeTable& types) {
  std::string list;
  const auto add = [&](const TemplateArgument& arg) {
    list += (list.empty() ? "" : ", ") + spell_argument(arg, types);
  };
  for (const TemplateArgument& arg : args) {
    if (arg.getKind() != TemplateArgument::Pack) {
      add(arg);
      continue;
    }
    for (const TemplateArgument& inner : arg.getPackAsArray()) add(inner);
    break;
  }
  return "<" + list + ">";
}

/// The arguments of a function template that a call must name: those before the last that is neither deduced
/// nor has a default. An overload of the library's that cannot take the others may end in an error of its
/// own.
static llvm::ArrayRef<TemplateArgument> not_deduced(const FunctionDecl* decl) {
  const FunctionTemplateDecl* pattern = decl->getPrimaryTemplate();
  llvm::ArrayRef<TemplateArgument> args = decl->getTemplateSpecializationArgs()->asArray();
  llvm::SmallBitVector deduced;
  Sema::MarkDeducedTemplateParameters(decl->getASTContext(), pattern, deduced);
  const auto has_default = [](const NamedDecl* parameter) {
    const auto* type = dyn_cast<TemplateTypeParmDecl>(parameter);
    const auto* value = dyn_cast<NonTypeTemplateParmDecl>(parameter);
    return (type && type->hasDefaultArgument()) || (value && value->hasDefaultArgument());
  };
  while (!args.empty() && (deduced[args.size() - 1] ||
                           has_default(pattern->getTemplateParameters()->getParam(args.size() - 1))))
    args = args.drop_back();
  return args;
}

std::string spell_function(const FunctionDecl* decl, TypeTable& types) {
  const PrintingPolicy& policy = types.policy();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (is_hidden_friend(decl)) {
    os << decl->getNameAsString();
  } else if (const auto* method = dyn_cast<CXXMethodDecl>(decl)) {  // of a class that may have no name
    os << types.spell(compat::record_type(decl->getASTContext(), method->getParent()))
       << "::" << decl->getNameAsString();
  } else {
    const DeclContext* context = decl->getDeclContext()->getRedeclContext();
    bool global = context->isTranslationUnit() ||
                  (isa<NamespaceDecl>(context) && cast<NamespaceDecl>(context)->isAnonymousNamespace());
    const std::string outer = types.outer_name(decl);
    if (global || decl->isExternC()) os << "::";
    if (outer.empty())
      decl->printQualifiedName(os, policy);
    else
      os << (global ? "" : "::") << outer << "::" << decl->getNameAsString();
  }
  const TemplateArgumentList* args = decl->getTemplateSpecializationArgs();
  if (args && !compat::in_std(decl))
    os << spell_arguments(compat::in_chrono(decl) ? not_deduced(decl) : args->asArray(), types);
  os.flush();
  return text;
}

}  // namespace clad
