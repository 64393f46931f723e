// Derivatives that a differentiated function takes itself, as in a loss that contains the derivative of a
// network: execute() of clad::differentiate or clad::gradient becomes a call of the pushforward, which is
// differentiated like any other call.
#include <algorithm>

#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// The call of clad::differentiate that an expression stands for, directly or as a local constant.
const CallExpr* request_call(const clang::Expr* object) {
  const clang::Expr* e = strip(object);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e))
    if (const auto* var = dyn_cast<VarDecl>(ref->getDecl()); var && var->getInit()) e = strip(var->getInit());
  return dyn_cast<CallExpr>(e);
}

bool is_derivative(const CXXRecordDecl* record) {
  return record && compat::in_clad(record) && record->getIdentifier() && record->getName() == "derivative";
}

}  // namespace

const Request* Frontend::derivative_of(const clang::Expr* object) const {
  if (const auto* ref =
          dyn_cast<DeclRefExpr>(strip(object))) {  // what may change is another derivative later
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    const bool local = var && var->hasLocalStorage() && var->getDeclContext() == decl_ && !modified(var);
    if (!local && !ref->getType().isConstQualified()) return nullptr;
  }
  const CallExpr* call = request_call(object);
  const auto found = uses_ && call ? uses_->find(call) : RequestTable::const_iterator{};
  return uses_ && call && found != uses_->end() ? &found->second : nullptr;
}

/// `derivative.execute(...)`, null if `e` is another call.
ir::Expr* Frontend::execute(const CXXMemberCallExpr* e) {
  const CXXMethodDecl* method = e->getMethodDecl();
  if (!method || !is_derivative(method->getParent()) || !named(method, {"execute"})) return nullptr;
  const Request* request = derivative_of(e->getImplicitObjectArgument());
  if (!request)
    return fail(e->getExprLoc(),
                "cannot differentiate this call of 'execute': which function it is the derivative of "
                "must be seen, as in clad::differentiate(f, \"x\").execute(x) or of a constant variable");
  if (!request->overriders.empty())
    return fail(
        e->getExprLoc(),
        "cannot differentiate this call of 'execute': it is the derivative of a virtual function that "
        "other classes override");
  if (request->kind == Request::Derivative && !request->vector) return execute_derivative(e, *request);
  if (request->kind == Request::Gradient) {
    execute_gradient(e, *request);
    return literal("0", context_.IntTy);
  }
  return fail(e->getExprLoc(),
              "only derivatives by clad::differentiate and clad::gradient can be differentiated again");
}

/// Whether the arguments begin with another object than the one whose derivative was asked for.
static bool gives_object(const CXXMemberCallExpr* e, const Request& request) {
  const auto class_of = [](QualType type) { return type.getNonReferenceType()->getAsCXXRecordDecl(); };
  const CXXRecordDecl* given = e->getNumArgs() > 0 ? class_of(e->getArg(0)->getType()) : nullptr;
  if (!given || !given->hasDefinition()) return false;
  const FunctionDecl* f = request.function;
  if (f->getNumParams() > 0 && class_of(f->getParamDecl(0)->getType()) == given) return false;
  return declaresSameEntity(given, request.functor) || given->isDerivedFrom(request.functor);
}

/// The function's own arguments.
std::unique_ptr<ir::CallInfo> Frontend::derivative_call(const CXXMemberCallExpr* e, const Request& request,
                                                        const clang::Expr* function) {
  const FunctionDecl* f = request.function;
  auto info = std::make_unique<ir::CallInfo>();
  info->callee = f;
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  unsigned first = 0;
  if (request.functor && gives_object(e, request)) function = e->getArg(first++);
  if (method && method->getParent()->isLambda()) {
    if (const auto closure = closure_of(function)) add_closure_arguments(*info, *closure);
  } else if (request.functor) {
    add_object(*info, function, method);
  } else if (method && !method->isStatic()) {
    add_object(*info, e->getArg(first++), method);
  }
  for (unsigned i = 0; i < f->getNumParams(); ++i) {
    const QualType param = f->getParamDecl(i)->getType();
    add_argument(*info, e->getArg(first + i), param);
    ir::CallInfo::Arg& arg = info->args.back();
    const ir::Type* wanted = arg.param_type;  // execute() is a template: nothing has been converted yet
    const bool number = wanted->kind == ir::Type::Real || wanted->kind == ir::Type::Scalar;
    if (number && !arg.mutable_ && arg.expr->type != wanted)
      arg.expr = fn_.make(ir::Expr::Cast, wanted, wanted->name, {arg.expr});
  }
  for (ir::CallInfo::Arg& arg : info->args) arg.object = false;
  callees_.insert(f->getCanonicalDecl());
  return info;
}

/// Calls the pushforward with, for each order, a direction: a number for each differentiated parameter.
ir::Expr* Frontend::call_derivative(std::unique_ptr<ir::CallInfo> info, const Request& request,
                                    const std::vector<std::vector<double>>& directions, ir::Loc at) {
  const std::size_t hidden = info->args.size() - request.function->getNumParams();
  const ir::Type* type = types_.get(request.function->getReturnType());
  for (const std::vector<double>& direction : directions) {
    ir::Tangents tangents{std::vector<ir::Tangent>(info->args.size(), ir::Tangent::None)};
    for (const unsigned p : request.parameters) tangents.kinds[hidden + p] = ir::Tangent::Full;
    tangents.again = !info->tangents.empty();  // the directions are equal
    info->tangents.push_back(tangents);
    std::vector<unsigned> order(request.parameters.begin(), request.parameters.end());
    std::sort(order.begin(), order.end());
    for (const unsigned p : order) {
      const auto position = std::find(request.parameters.begin(), request.parameters.end(), p);
      const double seed = direction[static_cast<std::size_t>(position - request.parameters.begin())];
      ir::CallInfo::Arg arg;
      arg.param_type = info->args[hidden + p].param_type;
      arg.expr = fn_.make(ir::Expr::Cast, arg.param_type, arg.param_type->name,
                          {fn_.make(ir::Expr::Literal, arg.param_type, seed == 0 ? "0" : "1")});
      info->args.push_back(arg);
    }
    type = types_.value_and_pushforward(type, type);
  }
  info->primal = fn_.make(ir::Expr::Call, type);
  for (const ir::CallInfo::Arg& a : info->args) info->primal->args.push_back(a.expr);
  ir::Stmt* s = emit(ir::Stmt::CallStmt, at);
  s->touched = globals_changed(request.function, {});
  for (const ir::CallInfo::Arg& a : info->args)
    if (ir::Var* r = a.mutable_ ? ir::root(a.expr) : nullptr) s->touched.push_back(r);
  s->call = std::move(info);
  s->var = fn_.make_var(ir::Var::Temp, "t", type, region_);
  ir::Expr* result = fn_.ref(s->var);
  for (std::size_t k = directions.size(); k-- > 0;) {
    type = type->fields[1].type;
    result = fn_.make(ir::Expr::Member, type, "pushforward", {result});
  }
  return result;
}

/// Whether every parameter that the inner derivative is taken for is a number.
static bool of_numbers(const Request& request, TypeTable& types) {
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    if (!request.ranges[i].member.empty()) return false;
    const QualType type = request.function->getParamDecl(request.parameters[i])->getType();
    const bool constant = !type->isReferenceType() || type->getPointeeType().isConstQualified();
    if (types.get(type)->kind != ir::Type::Real || !constant || request.ranges[i].first) return false;
  }
  return true;
}

ir::Expr* Frontend::execute_derivative(const CXXMemberCallExpr* e, const Request& request) {
  const ir::Type* result = types_.get(request.function->getReturnType());
  if (result->kind != ir::Type::Real || request.parameters.size() != 1 || !of_numbers(request, types_))
    return fail(e->getExprLoc(),
                "cannot differentiate this derivative again: it must be that of a number, with respect "
                "to a number that is a parameter");
  auto info = derivative_call(e, request, request_call(e->getImplicitObjectArgument())->getArg(0));
  const std::vector<std::vector<double>> directions(request.order, {1.0});
  return call_derivative(std::move(info), request, directions, loc(static_cast<const clang::Expr*>(e)));
}

/// A gradient inside is a pushforward in each direction, added to where the caller wants it.
void Frontend::execute_gradient(const CXXMemberCallExpr* e, const Request& request) {
  const unsigned params = e->getNumArgs() - static_cast<unsigned>(request.parameters.size());
  const ir::Type* result = types_.get(request.function->getReturnType());
  if (result->kind != ir::Type::Real || !of_numbers(request, types_) || params > e->getNumArgs()) {
    fail(e->getExprLoc(),
         "cannot differentiate this gradient again: it must be that of a number, with respect to "
         "parameters that are numbers, each with its adjoint");
    return;
  }
  const clang::Expr* function = request_call(e->getImplicitObjectArgument())->getArg(0);
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    std::vector<double> direction(request.parameters.size(), 0.0);
    direction[i] = 1;
    ir::Expr* partial = call_derivative(derivative_call(e, request, function), request, {direction}, at);
    assign(deref(value(e->getArg(params + static_cast<unsigned>(i)))), "+=", partial, at);
  }
}

}  // namespace clad
