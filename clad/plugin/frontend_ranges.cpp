// The algorithms of std::ranges: a call of one is a call of the algorithm of std with the same name, which
// gets both ends of each range, and a function and its projection as one function.
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Whether the class of `method` is that of an object like std::ranges::begin, which asks a range for a part.
bool asks_range(const CXXMethodDecl* method) { return !method->getParent()->getName().starts_with("__"); }

/// What std calls the function whose name in std::ranges names an object of the class of `method`; empty for
/// any other class.
std::string classic_name(const CXXMethodDecl* method) {
  const CXXRecordDecl* record = method->getParent();
  if (!record->getIdentifier() || !compat::in_std(record)) return "";
  llvm::StringRef name = record->getName();
  static const std::pair<llvm::StringRef, const char*> others[] = {
      {"_Begin", "begin"},     {"_End", "end"},     {"_CBegin", "cbegin"}, {"_CEnd", "cend"},
      {"_RBegin", "rbegin"},   {"_REnd", "rend"},   {"_Size", "size"},     {"_SSize", "ssize"},
      {"_Empty", "empty"},     {"_Data", "data"},   {"_Swap", "swap"},     {"_IterSwap", "iter_swap"},
      {"_CRBegin", "crbegin"}, {"_CREnd", "crend"}, {"_CData", "data"},    {"__fold_left_fn", "accumulate"}};
  for (const auto& [object, function] : others)
    if (name == object) return function;
  return name.consume_front("__") && name.consume_back("_fn") ? name.str() : "";
}

/// Whether the function takes an iterator into the range, which its namesake in std has between both ends.
bool takes_middle(llvm::StringRef name) {
  return llvm::is_contained({"rotate", "partial_sort", "nth_element", "inplace_merge", "rotate_copy"}, name);
}

bool is_identity(const CXXRecordDecl* record) {
  return record && compat::in_std(record) && record->getIdentifier() && record->getName() == "identity";
}

/// Whether the function before a projection is called with elements alone, and not with a value to find.
bool projects_both(llvm::StringRef name) {
  return !llvm::is_contained({"lower_bound", "upper_bound", "equal_range", "binary_search"}, name);
}

bool is_function(const clang::Expr* e) {
  const QualType type = e->getType().getNonReferenceType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return type->isFunctionType() || type->isFunctionPointerType() ||
         (record && record->hasDefinition() &&
          (record->isLambda() ||
           record->hasMemberName(record->getASTContext().DeclarationNames.getCXXOperatorName(OO_Call))));
}

/// The parameters of a template function that are ranges, and those that are projections.
struct Roles {
  std::vector<bool> range, projection;
};

Roles roles_of(const CXXMethodDecl* method) {
  Roles roles;
  const unsigned count = method->getNumParams();
  roles.range.resize(count);
  roles.projection.resize(count);
  const FunctionTemplateDecl* pattern = method->getPrimaryTemplate();
  if (!pattern) return roles;
  for (unsigned i = 0; i < count; ++i) {
    const QualType written = pattern->getTemplatedDecl()->getParamDecl(i)->getType().getNonReferenceType();
    const auto* type = written->getAs<TemplateTypeParmType>();
    if (!type) continue;
    const auto* param =
        cast<TemplateTypeParmDecl>(pattern->getTemplateParameters()->getParam(type->getIndex()));
    const TypeConstraint* constraint = param->getTypeConstraint();
    roles.range[i] =
        !asks_range(method) && (constraint ? constraint->getNamedConcept()->getName().ends_with("range")
                                           : param->getName() == "_Range");  // with a requires clause
    if (param->hasDefaultArgument())
      roles.projection[i] = is_identity(compat::default_type(param)->getAsCXXRecordDecl());
  }
  return roles;
}

}  // namespace

/// A call of `f`, as if the program had it.
const clang::Expr* Frontend::call_of(const FunctionDecl* f, llvm::ArrayRef<const clang::Expr*> args,
                                     SourceLocation at) {
  auto* function = const_cast<FunctionDecl*>(f);
  auto* name = DeclRefExpr::Create(context_, NestedNameSpecifierLoc(), SourceLocation(), function, false, at,
                                   function->getType(), VK_LValue);
  std::vector<clang::Expr*> arguments;
  for (const clang::Expr* a : args) arguments.push_back(const_cast<clang::Expr*>(a));
  for (unsigned i = args.size(); i < f->getNumParams(); ++i)
    arguments.push_back(sema_.BuildCXXDefaultArgExpr(at, function, function->getParamDecl(i)).get());
  return CallExpr::Create(context_, name, arguments, function->getCallResultType(),
                          clang::Expr::getValueKindForType(function->getReturnType()), at,
                          FPOptionsOverride());
}

/// A call of the function of std with this name, or of clad::library, which has those that take two ranges of
/// different lengths; null if there is none.
const clang::Expr* Frontend::standard_call(const std::string& name, llvm::ArrayRef<const clang::Expr*> args,
                                           SourceLocation at) {
  const FunctionDecl* f = lookup_.standard_function(name, args);
  if (!f) f = lookup_.plain_definition(name, args);
  return f ? call_of(f, args, at) : nullptr;
}

/// A call of a function of std::ranges; null if the class of its object is another, or it works on nothing
/// that carries derivatives.
ir::Expr* Frontend::range_call(const CXXOperatorCallExpr* e, const CXXMethodDecl* method) {
  std::string name = classic_name(method);
  if (name.empty()) return nullptr;
  const SourceLocation at = e->getExprLoc();
  const Roles roles = roles_of(method);
  if (!check_swap({e->getArgs() + 1, e->getNumArgs() - 1}, at)) return literal("0", context_.IntTy);
  std::vector<const clang::Expr*> args;
  bool carries = false, whole = false;
  for (unsigned i = 1; i < e->getNumArgs(); ++i) {
    const clang::Expr* a = e->getArg(i);
    if (isa<CXXDefaultArgExpr>(a)) continue;
    carries |= types_.get(a->getType())->differentiable || is_lambda(a->getType());
    const bool projection = i <= roles.projection.size() && roles.projection[i - 1];
    if (projection) {
      const FunctionDecl* both = args.size() > 1 && projects_both(name) && is_function(args.back())
                                     ? lookup_.plain_definition("projected", {args.back(), a})
                                     : nullptr;
      if (!both || llvm::count(roles.projection, true) > 1)
        return carries ? fail(at, "cannot differentiate 'std::ranges::" + name +
                                      "' with this projection; put it into the function, or write the loop")
                       : nullptr;
      args.back() = call_of(both, {args.back(), a}, at);
      continue;
    }
    if (i > roles.range.size() || !roles.range[i - 1]) {
      args.push_back(a);
      continue;
    }
    whole = true;
    if ((!a->isLValue() && !is_view(a->getType())) || has_effects(a))
      return carries ? fail(at, "cannot differentiate 'std::ranges::" + name +
                                    "' of a range that is made there; give the range a name")
                     : nullptr;
    for (const char* end : {"begin", "end"}) {
      const clang::Expr* made = standard_call(end, {a}, at);
      if (!made) return nullptr;
      args.push_back(made);
    }
  }
  if (!carries) return nullptr;
  if (whole && takes_middle(name) && args.size() > 2) std::swap(args[1], args[2]);
  if (const clang::Expr* bound = !whole && (name == "next" || name == "prev") ? args.back() : nullptr;
      bound && args.size() > 1 && is_pointer(bound)) {  // further than which they do not go
    if (args.size() == 2) return value(bound);
    const FunctionDecl* steps = lookup_.plain_definition(name + "_steps", args);
    if (!steps) return nullptr;
    args = {args[0], call_of(steps, args, at)};
  }
  const bool extreme = whole && (name == "min" || name == "max");
  const clang::Expr* classic = standard_call(extreme ? name + "_element" : name, args, at);
  if (!classic) return nullptr;
  const bool dropped = e == dropped_;
  ir::Expr* result = value(classic);
  if (extreme) return hoist(deref(result), at_);
  if (dropped || context_.hasSameUnqualifiedType(classic->getType(), e->getType())) return result;
  const std::size_t end = takes_middle(name) ? 2 : 1;  // which those of std do not return
  if (classic->getType()->isVoidType() && is_pointer(e) && args.size() > end) return value(args[end]);
  return fail(at, "cannot differentiate what 'std::ranges::" + name + "' returns; use 'std::" + name + "'");
}

}  // namespace clad
