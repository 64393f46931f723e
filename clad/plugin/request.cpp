#include "request.h"

#include <set>

#include "ast_visitor.h"
#include "clang/AST/Attr.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Sema.h"
#include "compat.h"
#include "diagnose.h"
#include "types.h"

using namespace clang;

namespace clad {

/// As clad::opts has them.
constexpr std::uint64_t order_mask = 0xff, vector_mode = 1 << 9, diagonal_only = 1 << 13;

const CXXRecordDecl* Request::heir() const {
  const auto* method = functor ? cast<CXXMethodDecl>(function) : nullptr;
  return method && !declaresSameEntity(method->getParent(), functor) ? functor->getDefinition() : nullptr;
}

const CXXRecordDecl* class_of_object(const CXXMethodDecl* method, const CXXRecordDecl* heir) {
  return heir ? heir : method->getParent();
}

/// The function that the user called.
std::string asked(const Request& request) {
  switch (request.kind) {
    case Request::ErrorEstimate:
      return "clad::estimate_error";
    case Request::Pushforward:
      return "clad::pushforward";
    case Request::Derivative:
      return "clad::differentiate";
    case Request::Hessian:
      return "clad::hessian";
    case Request::HessianVector:
      return "clad::hessian_vector_product";
    case Request::Jacobian:
      return "clad::jacobian";
    default:
      return "clad::gradient";
  }
}

/// What a call of an object of the class may run, inherited functions among them. `callable`: it is clear
/// which one, and open to all.
static std::vector<const NamedDecl*> call_operators(Sema& sema, CXXRecordDecl* record, bool& callable) {
  LookupResult found(sema, sema.Context.DeclarationNames.getCXXOperatorName(OO_Call), SourceLocation(),
                     Sema::LookupMemberName);
  found.suppressDiagnostics();
  sema.LookupQualifiedName(found, record);
  std::vector<const NamedDecl*> out;
  for (const NamedDecl* d : found) out.push_back(d->getUnderlyingDecl());
  callable = out.size() == 1 && !found.isAmbiguous() && found.begin().getAccess() == AS_public;
  return out;
}

namespace {

/// Whether anything but the initializer of a local variable may set it: any use that is not its value, or
/// its place as what a derivative is asked of.
struct Setter : AstVisitor {
  const VarDecl* var;
  std::set<const clang::Expr*> harmless;
  bool found = false;
  explicit Setter(const VarDecl* v) : var(v) {}
  bool shouldVisitImplicitCode() const override { return true; }
  bool TraverseLambdaCapture(LambdaExpr* lambda, const LambdaCapture* c, clang::Expr* init) override {
    if (c->capturesVariable() && c->getCapturedVar() == var) return true;  // its uses are in the body
    return AstVisitor::TraverseLambdaCapture(lambda, c, init);
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* c) override {
    if (c->getCastKind() == CK_LValueToRValue) harmless.insert(c->getSubExpr()->IgnoreParens());
    return true;
  }
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = call->getDirectCallee();
    const auto* name = callee ? callee->getAttr<AnnotateAttr>() : nullptr;
    if (name && name->getAnnotation().starts_with("clad::") && call->getNumArgs() > 0)
      harmless.insert(call->getArg(0)->IgnoreParens());
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* ref) override {
    found |= ref->getDecl() == var && harmless.count(ref) == 0;
    return !found;
  }
};

}  // namespace

static bool set_once(const VarDecl* var) {
  const auto* function = var->isLocalVarDecl() ? dyn_cast<FunctionDecl>(var->getDeclContext()) : nullptr;
  if (!function || !function->getBody()) return false;
  Setter setter(var);
  setter.TraverseStmt(function->getBody());
  return !setter.found;
}

/// What a variable is initialized with that is a function under another name for good; null of any other
/// expression.
static const clang::Expr* constant_function(const clang::Expr* e) {
  const auto* ref = dyn_cast<DeclRefExpr>(e);
  const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  if (!var || isa<ParmVarDecl>(var)) return nullptr;
  const QualType type = var->getType(), plain = type.getNonReferenceType();
  const bool function =
      plain->isFunctionType() || plain->isFunctionPointerType() || plain->isMemberFunctionPointerType();
  const bool fixed = type->isReferenceType() ? plain->isFunctionType() : type.isConstQualified();
  return function && (fixed || (!type->isReferenceType() && set_once(var))) ? var->getAnyInitializer()
                                                                            : nullptr;
}

static bool find_function(Sema& sema, TypeTable& types, const CallExpr* call, Request& request) {
  const clang::Expr* arg = call->getArg(0)->IgnoreParenImpCasts();
  for (;;) {
    const clang::Expr* before = arg;
    if (const auto* u = dyn_cast<UnaryOperator>(arg); u && u->getOpcode() == UO_AddrOf) arg = u->getSubExpr();
    if (const auto* c = dyn_cast<ExplicitCastExpr>(arg)) arg = c->getSubExpr();
    if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(arg)) arg = m->getSubExpr();
    if (const auto* c = dyn_cast<CXXBindTemporaryExpr>(arg)) arg = c->getSubExpr();
    if (const auto* c = dyn_cast<CXXConstructExpr>(arg); c && c->getNumArgs() == 1) arg = c->getArg(0);
    if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(arg)) arg = s->getReplacement();
    if (const clang::Expr* named = constant_function(arg)) arg = named;
    arg = arg->IgnoreParenImpCasts();
    if (arg == before) break;
  }
  if (const auto* ref = dyn_cast<DeclRefExpr>(arg))
    if (const auto* f = dyn_cast<FunctionDecl>(ref->getDecl())) {
      request.function = f;
      return true;
    }
  QualType type = call->getArg(0)->getType().getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record && record->hasDefinition()) {
    bool callable = false;
    const std::vector<const NamedDecl*> found = call_operators(sema, record->getDefinition(), callable);
    const auto* only = callable ? dyn_cast<CXXMethodDecl>(found[0]) : nullptr;
    const bool of_lambda = only && only->getParent()->isLambda() && !record->isLambda();
    if (only && !of_lambda) {
      request.function = only;
      request.functor = record;
      return true;
    }
    std::string which = found.empty() ? "has no operator()"
                        : of_lambda   ? "inherits its operator() from a lambda"
                        : !callable   ? "has no operator() that is public and not ambiguous"
                                      : "has a template as its operator()";
    if (found.size() > 1) {
      which = "has several operator(): ";
      for (const NamedDecl* d : found) {
        if (d != found[0]) which += ", ";
        which += isa<CXXMethodDecl>(d) ? cast<CXXMethodDecl>(d)->getType().getAsString(types.policy())
                                       : "a template";
      }
    }
    const std::string object =
        record->isLambda() ? "this lambda" : "class '" + record->getNameAsString() + "'";
    Diagnose diagnose(sema);
    diagnose.error(call->getArg(0)->getExprLoc(),
                   asked(request) + ": " + object + " " + which +
                       "; pass a lambda or a function that calls the one to differentiate");
    for (const NamedDecl* d : found) diagnose.note(d->getLocation(), "this one");
    return false;
  }
  Diagnose(sema).error(
      call->getArg(0)->getExprLoc(),
      asked(request) +
          ": the first argument must name a function, a member function or a "
          "function object, or be a constant or a local variable that one of these functions "
          "initializes and nothing changes");
  return false;
}

/// "p" or "p[2]" or "p[0:2]": the name, and the elements.
static bool split_elements(StringRef text, StringRef& name, Range& range) {
  const std::size_t bracket = text.find('[');
  name = text.take_front(bracket).rtrim();
  if (bracket == StringRef::npos) return true;
  if (!text.ends_with("]")) return false;
  const StringRef inside = text.slice(bracket + 1, text.size() - 1);
  const auto [first, last] = inside.split(':');
  std::uint64_t a = 0, b = 0;
  if (first.trim().getAsInteger(10, a)) return false;
  if (inside.contains(':') ? last.trim().getAsInteger(10, b) : false) return false;
  range.first = a;
  range.last = inside.contains(':') ? b : a;
  return true;
}

/// The number that a path of member names leads to from an object: its place in the object goes to `range`.
static bool follow_members(Sema& sema, TypeTable& types, QualType type, StringRef path, Range& range) {
  llvm::SmallVector<StringRef> names;
  path.split(names, '.');
  for (const StringRef name : names) {
    CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition()) return false;
    LookupResult found(sema, &sema.Context.Idents.get(name.trim()), SourceLocation(), Sema::LookupMemberName);
    found.suppressDiagnostics();
    sema.LookupQualifiedName(found, record);
    const auto* field = found.isSingleResult() ? dyn_cast<FieldDecl>(found.getFoundDecl()) : nullptr;
    if (!field || compat::is_constant(field)) return false;
    type = field->getType();
    range.member += "." + name.trim().str();
  }
  if (!range.first) return type->isRealFloatingType();
  const ir::Type* array = types.get(type);
  const bool fixed = array->kind == ir::Type::Array || array->kind == ir::Type::StdArray;
  if (!fixed && array->kind != ir::Type::Vector) return false;
  if (range.first != range.last || array->element->kind != ir::Type::Real) return false;
  if (fixed && *range.first >= array->extent) return false;
  const std::string index = std::to_string(*range.first);
  range.member += fixed ? "[" + index + "]" : ".at(" + index + ")";  // only the run tells how long it is
  range.first = range.last = std::nullopt;
  return true;
}

/// Whether the function sees a variable of this name that is no parameter: a global, or a static member.
static bool is_variable_around(const FunctionDecl* f, StringRef name) {
  const IdentifierInfo* id = &f->getASTContext().Idents.get(name);
  for (const DeclContext* c = f->getDeclContext(); c; c = c->getParent())
    for (const NamedDecl* d : c->lookup(id))
      if (isa<VarDecl>(d)) return true;
  return false;
}

/// The parameter list of a request: names in a string, or the index of one parameter.
static bool find_parameters(Sema& sema, TypeTable& types, const CallExpr* call, Request& request) {
  const auto error = [&](SourceLocation at, const std::string& message) {
    Diagnose(sema).error(at, message);
  };
  const FunctionDecl* f = request.function;
  std::string names;
  const clang::Expr* arg = call->getNumArgs() > 1 ? call->getArg(1)->IgnoreParenImpCasts() : nullptr;
  const auto* text = dyn_cast_or_null<clang::StringLiteral>(arg);
  std::optional<std::string> constant;
  if (arg && !text && call->getArg(1)->getType()->isPointerType())
    constant = call->getArg(1)->tryEvaluateString(sema.Context);
  if (text || constant) {
    names = text ? text->getString().str() : *constant;
  } else if (arg && arg->getType()->isIntegerType()) {
    clang::Expr::EvalResult index;
    if (!arg->EvaluateAsInt(index, sema.Context) || index.Val.getInt().isNegative() ||
        index.Val.getInt().uge(f->getNumParams())) {
      error(arg->getExprLoc(), asked(request) + ": the index of a parameter must be a constant from 0 to " +
                                   std::to_string(f->getNumParams() ? f->getNumParams() - 1 : 0));
      return false;
    }
    request.parameters.push_back(static_cast<unsigned>(index.Val.getInt().getZExtValue()));
    request.ranges.emplace_back();
    return true;
  } else if (arg && !isa<CXXDefaultArgExpr>(arg)) {
    error(arg->getExprLoc(),
          asked(request) + ": the parameter list must be a string literal or constexpr, as in \"x, y\"");
    return false;
  }
  // The definition's names, where it is visible: a declaration may spell others or none.
  const FunctionDecl* definition = nullptr;
  if (f->hasBody(definition)) f = definition;
  if (names.empty()) {
    request.all = true;
    for (unsigned i = 0; i < f->getNumParams(); ++i) request.parameters.push_back(i);
    request.ranges.resize(f->getNumParams());
    return true;
  }
  llvm::SmallVector<StringRef> list;
  StringRef(names).split(list, ',');
  for (const StringRef item : list) {
    StringRef name;
    Range range;
    if (!split_elements(item.trim(), name, range)) {
      error(arg->getExprLoc(), asked(request) + ": '" + item.trim().str() +
                                   "' names no parameter; elements are written as in \"p[0]\" or \"p[0:2]\"");
      return false;
    }
    bool found = false;
    for (unsigned i = 0; i < f->getNumParams(); ++i)
      if (f->getParamDecl(i)->getName() == name) {
        if (llvm::is_contained(request.parameters, i)) {
          error(arg->getExprLoc(), asked(request) + ": parameter '" + name.str() + "' is named twice");
          return false;
        }
        request.parameters.push_back(i);
        request.ranges.push_back(range);
        found = true;
      }
    if (found) continue;
    if (request.kind == Request::Derivative) {
      const auto [base, path] = name.split('.');
      unsigned object = Request::object;
      QualType type;
      for (unsigned i = 0; i < f->getNumParams(); ++i)
        if (f->getParamDecl(i)->getName() == base.trim()) {
          object = i;
          type = f->getParamDecl(i)->getType().getNonReferenceType();
        }
      const auto* method = dyn_cast<CXXMethodDecl>(f);
      if (type.isNull() && method && !method->isStatic() && !method->getParent()->isLambda())
        type = compat::record_type(sema.Context, class_of_object(method, request.heir()));
      if (!type.isNull() &&
          follow_members(sema, types, type, object == Request::object ? name : path, range)) {
        request.parameters.push_back(object);
        request.ranges.push_back(range);
        continue;
      }
    }
    std::string known;
    for (const ParmVarDecl* p : f->parameters()) known += (known.empty() ? "" : ", ") + p->getNameAsString();
    error(arg->getExprLoc(), asked(request) + ": '" + f->getNameAsString() + "' has no parameter named '" +
                                 name.str() + "'; its parameters are: " + known +
                                 (is_variable_around(f, name)
                                      ? "; the variable of that name is a constant here: make it a parameter"
                                      : ""));
    return false;
  }
  return true;
}

/// What the template arguments of the request say.
static void find_options(const CallExpr* call, Request& request) {
  const TemplateArgumentList* args = call->getDirectCallee()->getTemplateSpecializationArgs();
  if (!args || args->size() == 0 || args->get(0).getKind() != TemplateArgument::Pack) return;
  for (const TemplateArgument& option : args->get(0).getPackAsArray()) {
    if (option.getKind() != TemplateArgument::Integral) continue;
    const auto bits = option.getAsIntegral().getZExtValue();
    request.options |= bits;
    if (bits & order_mask) request.order = bits & order_mask;
    request.vector |= (bits & vector_mode) != 0;
    request.diagonal |= (bits & diagonal_only) != 0;
  }
}

/// What the name of the generated function ends in.
std::string suffix_of(const Request& request) {
  switch (request.kind) {
    case Request::Gradient:
      return "_grad";
    case Request::ValueAndGradient:
      return "_value_and_grad";
    case Request::ErrorEstimate:
      return "_error";
    case Request::Pushforward:
      return "_directional";
    case Request::HessianVector:
      return "_hessian_vector";
    case Request::Jacobian:
      return "_jacobian";
    case Request::Derivative:
      if (request.vector) return "_directions";
      if (!request.ranges.empty() && !request.ranges[0].member.empty()) return "_d_member";
      return (request.order > 1 ? "_d" + std::to_string(request.order) : "_d") + "arg" +
             std::to_string(request.parameters.empty() ? 0 : request.parameters[0]);
    case Request::Hessian:
      return request.diagonal ? "_hessian_diagonal" : "_hessian";
  }
  return "";
}

std::optional<Request> read_request(Sema& sema, TypeTable& types, const CallExpr& call, Request::Kind kind) {
  Request request;
  request.kind = kind;
  request.at = call.getBeginLoc();
  request.call = &call;
  if (!find_function(sema, types, &call, request) || !find_parameters(sema, types, &call, request))
    return std::nullopt;
  find_options(&call, request);
  request.vector &= kind == Request::Derivative;  // the others take it and are what they are
  if (request.vector && request.order > 1) {
    Diagnose(sema).error(request.at, asked(request) +
                                         ": several directions at once are taken of the first derivative "
                                         "alone; leave out the order, or clad::opts::vector_mode");
    return std::nullopt;
  }
  return request;
}

}  // namespace clad
