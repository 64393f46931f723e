// Calls, operators on classes, constructors and lambdas.
#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "effects.h"
#include "frontend.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace clad {
namespace {

/// The operator of std::less and its like, whose result is a bool.
const char* comparison_of(const CXXMethodDecl* method) {
  if (!method || method->getOverloadedOperator() != OO_Call || !method->getParent()->getIdentifier() ||
      !compat::in_std(method))
    return nullptr;
  static const std::pair<llvm::StringRef, const char*> known[] = {
      {"less", "<"},      {"greater", ">"},       {"less_equal", "<="},  {"greater_equal", ">="},
      {"equal_to", "=="}, {"not_equal_to", "!="}, {"logical_and", "&&"}, {"logical_or", "||"}};
  for (const auto& [name, op] : known)
    if (method->getParent()->getName() == name) return op;
  return nullptr;
}

}  // namespace

ir::Expr* Frontend::container_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  const ir::Type* type = types_.get(object->getType()->isPointerType() ? object->getType()->getPointeeType()
                                                                       : object->getType());
  if (type->kind != ir::Type::Vector && type->kind != ir::Type::StdArray &&
      type->kind != ir::Type::InitializerList)
    return nullptr;
  if (type->kind == ir::Type::Vector && type->differentiable && named(method, {"emplace_back"}))
    return emplace_back(e, method);
  if (type->kind != ir::Type::InitializerList && named(method, {"swap"}) &&
      !object->getType()->isPointerType())
    return swap(object, e->getArg(0), loc(static_cast<const clang::Expr*>(e)));
  if (type->differentiable && !object->getType()->isPointerType() &&
      named(method, {"insert", "emplace", "erase", "assign", "fill"})) {
    std::vector<const clang::Expr*> args{object};
    args.insert(args.end(), e->arg_begin(), e->arg_end());
    if (const FunctionDecl* plain = lookup_.plain_definition("member_" + method->getNameAsString(), args))
      return call_plain(e, plain, args);
  }
  const bool ends_of = is_pointer(e) && named(method, {"begin", "end", "cbegin", "cend", "rbegin", "rend",
                                                       "crbegin", "crend"});
  if (!ends_of && !named(method, {"at", "front", "back", "data"})) return nullptr;
  ir::Expr* base = value(object);
  if (object->getType()->isPointerType()) base = deref(base);
  if (ends_of) return ends(base, method->getName(), e->getType());
  if (!ir::names_object(base)) base = hoist(base, loc(static_cast<const clang::Expr*>(e)));
  callees_.insert(method->getCanonicalDecl());
  std::vector<ir::Expr*> arguments;
  for (const clang::Expr* a : e->arguments()) arguments.push_back(value_after(base, a));
  return through(base, [&](ir::Expr* one) {
    ir::Expr* m = fn_.make(ir::Expr::Method, types_.get(e->getType()), method->getNameAsString(), {one});
    m->accessor = true;
    m->args.insert(m->args.end(), arguments.begin(), arguments.end());
    return m;
  });
}

ir::Expr* Frontend::operator_call(const CXXOperatorCallExpr* e, const FunctionDecl* callee) {
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const clang::Expr* first = e->getArg(0);
  if (e->getOperator() == OO_Call && method &&
      (method->getParent()->isLambda() || is_callable(without_base(first)->getType()))) {
    auto closure = method->getParent()->isLambda() ? closure_of(first) : callable(without_base(first));
    if (!closure && method->getParent()->isLambda()) return literal("0", context_.IntTy);
    const std::vector<const clang::Expr*> rest(e->arg_begin() + 1, e->arg_end());
    if (!closure) return indirect_call(e);
    return call_closure(e, *closure, rest);
  }
  if (e->getOperator() == OO_Call && method)
    if (ir::Expr* known = range_call(e, method)) return known;
  if (is_view(first->getType()) && e->getOperator() == OO_Subscript)
    return view_part(first, "operator[]", e->getArg(1), e);
  const ir::Type* type = types_.get(first->getType());
  if (ir::Expr* known = array_operator(e, callee)) return known;
  if (e->getOperator() == OO_Equal && TypeTable::is_bit(first->getType())) {
    ir::Expr* bit = value(e->getArg(1));
    return assign(bit_place(first), "=", bit, loc(static_cast<const clang::Expr*>(e)));
  }
  if (ir::Expr* known = library_operator(e)) return known;
  const auto is_iterator = [&](const clang::Expr* x) {
    return is_pointer(without_base(x)) && without_base(x)->getType()->isRecordType();
  };
  if (is_iterator(first) ||
      (e->getNumArgs() == 2 && is_iterator(e->getArg(1)) && !first->getType()->isRecordType()))
    return iterator_operator(e);
  if (const auto* table = e->getOperator() == OO_Subscript ? table_of(first) : nullptr)
    return table_element(*table, value(e->getArg(1)));
  if (e->getOperator() == OO_Subscript &&
      (type->kind == ir::Type::Vector || type->kind == ir::Type::StdArray)) {
    ir::Expr* base = value(first);
    callees_.insert(callee->getCanonicalDecl());
    if (!ir::names_object(base)) base = hoist(base, loc(static_cast<const clang::Expr*>(e)));
    ir::Expr* index = value_after(base, e->getArg(1));
    ir::Expr* place = through(base, [&](ir::Expr* o) {
      return held(fn_.make(ir::Expr::Index, type->element, "", {o, index}), e->getType());
    });
    // Of a constant std::vector<bool> it is a value, which is read here.
    const bool read = e->isPRValue() && !TypeTable::is_bit(e->getType()) && !type->element->is_class();
    return read && ir::constant_behind(place) ? hoist(place, loc(static_cast<const clang::Expr*>(e))) : place;
  }
  if (const char* op = comparison_of(method); op && e->getNumArgs() == 3) {
    const std::vector<ir::Expr*> operands = values({e->getArg(1), e->getArg(2)});
    if (!operands[0]->type->is_class() && !operands[1]->type->is_class())
      return fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), op, {operands[0], operands[1]});
  }
  if (e->getOperator() == OO_Equal) {
    if (ir::Expr* function = assign_function(first, e->getArg(1))) return function;
    if (ir::Expr* table = assign_table(first, e->getArg(1))) return table;
  }
  if (e->getOperator() == OO_Equal && method && (!method->isUserProvided() || compat::in_std(method)) &&
      parts_named(first)) {
    ir::Expr* source = value(e->getArg(1));
    return assign_parts(first, parts_named(first), source);
  }
  if (e->getOperator() == OO_Equal && method && !parts_named(first)) {
    bool primitive = !method->isUserProvided() || type->kind != ir::Type::Record || compat::in_std(method);
    bool same =
        types_.get(strip(e->getArg(1))->getType()) == type || types_.get(e->getArg(1)->getType()) == type;
    if (primitive && (same || type->kind != ir::Type::Opaque)) {
      callees_.insert(callee->getCanonicalDecl());
      ir::Expr* rhs = handed_over(e->getArg(1), value(e->getArg(1)));
      return assign(value(first), "=", rhs, loc(static_cast<const clang::Expr*>(e)));
    }
  }
  std::vector<const clang::Expr*> rest(e->arg_begin() + (method ? 1 : 0), e->arg_end());
  if (!method)
    if (ir::Expr* known = library_call(e, callee, rest)) return known;
  if (method && method->isVirtual()) return virtual_call(e, method, rest, first);
  if (ir::Expr* inlined = inline_call(e, callee, rest, method ? first : nullptr)) return inlined;
  auto info = std::make_unique<ir::CallInfo>();
  info->is_operator = e->getNumArgs() <= 2 && e->getOperator() != OO_Subscript &&
                      e->getOperator() != OO_Call && e->getOperator() != OO_Arrow &&
                      !(callee->getNumParams() == (method ? 1u : 2u) && e->getNumArgs() == 2 &&
                        (e->getOperator() == OO_PlusPlus || e->getOperator() == OO_MinusMinus));
  info->is_method = method != nullptr && !method->isStatic();
  info->name = info->is_operator ? getOperatorSpelling(e->getOperator()) : callee->getNameAsString();
  if (e->isAssignmentOp()) {
    if (!add_assignment(*info, callee, first, e->getArg(1))) return literal("0", context_.IntTy);
  } else {
    if (info->is_method && !add_object(*info, first, method)) return literal("0", context_.IntTy);
    const std::vector<const clang::Expr*> arguments(e->arg_begin() + (info->is_method ? 1 : 0), e->arg_end());
    add_arguments(*info, callee, arguments);
  }
  return finish_call(std::move(info), callee, callee->getReturnType(), e, method && !method->isConst());
}

/// Whether a call gives one of its arguments: std::min, std::max, std::clamp.
static bool gives_argument(const FunctionDecl* callee) {
  return callee && compat::in_std(callee) && callee->getReturnType()->isReferenceType() &&
         named(callee, {"min", "max", "clamp"});
}

/// A number that is read here and now.
ir::Expr* Frontend::read(const clang::Expr* e) {
  const auto* chosen = dyn_cast<CallExpr>(e->IgnoreParens());
  if (!chosen || !chosen->getType()->isArithmeticType() || chosen->getNumArgs() < 2 ||
      !gives_argument(chosen->getDirectCallee()))
    return value(e);
  if (ir::Expr* c = constant(chosen)) return c;
  const std::vector<const clang::Expr*> arguments(chosen->arg_begin(), chosen->arg_end());
  if (!arguments.back()->getType()->isArithmeticType()) {  // an order
    const std::string name = chosen->getDirectCallee()->getName().str() + "_value";
    const FunctionDecl* plain = lookup_.plain_definition(name, arguments);
    return plain ? call_plain(chosen, plain, arguments) : value(e);
  }
  return call_function(chosen, chosen->getDirectCallee(), arguments, nullptr);
}

/// The C library's function that __builtin_sin and the like stand for, where it is declared.
const FunctionDecl* Frontend::without_builtin(const FunctionDecl* f) {
  if (!f || !f->getBuiltinID() || !f->getIdentifier()) return f;
  llvm::StringRef name = f->getName();
  if (!name.consume_front("__builtin_")) return f;
  const bool numbers =
      llvm::any_of(f->parameters(), [](const ParmVarDecl* p) { return p->getType()->isRealFloatingType(); });
  if (!numbers && name != "memcpy" && name != "memmove" && name != "memset") return f;
  for (NamedDecl* d : context_.getTranslationUnitDecl()->lookup(&context_.Idents.get(name)))
    if (const auto* plain = dyn_cast<FunctionDecl>(d); plain && plain->isExternC() && plain->getBuiltinID())
      return plain;
  return f;
}

ir::Expr* Frontend::call(const CallExpr* e) {
  const FunctionDecl* callee = without_builtin(e->getDirectCallee());
  const auto* invoker = dyn_cast_or_null<CXXMethodDecl>(callee);  // of a lambda as a function pointer
  if (!callee || (invoker && invoker->isLambdaStaticInvoker())) return indirect_call(e);
  if (is_checkpoint(callee)) return checkpoint(e);
  if (is_loop_mark(callee)) return loop_mark(e);
  if (compat::in_std(callee) && e->getNumArgs() == 1 &&
      named(callee, {"move", "forward", "as_const", "move_if_noexcept"}))
    return value(e->getArg(0));
  if (compat::in_std(callee) && e->getNumArgs() == 1 && named(callee, {"addressof", "__addressof"}))
    return address_of(value(e->getArg(0)), types_.get(e->getType()));
  if (callee->hasAttr<ReturnsTwiceAttr>())
    return fail(e->getExprLoc(), "cannot differentiate '" + callee->getNameAsString() +
                                     "', which returns again; return a status, or throw an exception");
  if (ir::Expr* lanes = intrinsic(e, callee)) return lanes;
  if (ir::Expr* c = constant(e)) return c;  // std::numeric_limits<...>, constexpr integers
  if (compat::in_std(callee) && e->getNumArgs() == 2 && named(callee, {"swap"}))
    return swap(e->getArg(0), e->getArg(1), loc(static_cast<const clang::Expr*>(e)));
  if (callee->getReturnType()->isBooleanType() && compat::in_std(callee) && !callee->getIdentifier()) {
    const auto* member = dyn_cast<CXXMemberCallExpr>(e);
    const clang::Expr* asked = member                 ? member->getImplicitObjectArgument()
                               : e->getNumArgs() == 2 ? e->getArg(0)
                                                      : nullptr;
    if (asked && is_callable(asked->getType()))
      if (ir::Expr* test = function_test(e)) return test;
  }
  const std::vector<const clang::Expr*> arguments(e->arg_begin(), e->arg_end());
  if (compat::in_std(callee) && named(callee, {"make_pair"}) && in_parts(e->getType()))
    return library_parts(e->getType(), arguments);
  if (compat::in_std(callee) && named(callee, {"make_pair", "make_tuple", "make_optional"}))
    if (ir::Expr* made =
            construct_library(types_.get(e->getType()), arguments, loc(static_cast<const clang::Expr*>(e))))
      return made;
  if (gives_argument(callee) && (types_.get(e->getType())->differentiable || e->getType()->isIntegerType()))
    if (const FunctionDecl* plain = lookup_.plain_definition(callee->getName().str() + "_object", arguments))
      if (ir::Expr* object = inline_call(e, plain, arguments, nullptr)) return object;
  if (compat::in_std(callee) && e->getNumArgs() == 1 && named(callee, {"min", "max"}))
    if (ir::Expr* best = extreme(e, callee->getName() == "max")) return best;
  if (compat::in_std(callee) && named(callee, {"get"}) && e->getNumArgs() == 1 &&
      callee->getTemplateSpecializationArgs()) {
    const TemplateArgument& which = callee->getTemplateSpecializationArgs()->get(0);
    ir::Expr* object = this->object(e->getArg(0));
    std::size_t i = object->type->fields.size();
    const CXXRecordDecl* record = is_parts(object) ? class_of(object->type) : nullptr;
    const auto part = [&](ir::Expr* of, std::size_t k) {
      if (!record) return this->part(of, k);
      return through(of, [&](ir::Expr* one) { return part_of(one, named_fields(record)[k]); });
    };
    if (which.getKind() == TemplateArgument::Type && object->type->kind == ir::Type::Record)
      for (i = 0; i < object->type->fields.size(); ++i)
        if (object->type->fields[i].type == types_.get(which.getAsType())) break;
    if (which.getKind() == TemplateArgument::Integral) i = which.getAsIntegral().getZExtValue();
    {
      if (object->type->kind == ir::Type::StdArray)
        return fn_.make(ir::Expr::Index, object->type->element, "",
                        {object, literal(std::to_string(i), context_.IntTy)});
      if (object->type->kind == ir::Type::Record && i < object->type->fields.size()) return part(object, i);
    }
  }
  if (ir::Expr* known = invoke_member(e)) return known;
  if (ir::Expr* known = iterator_function(e, callee)) return known;
  if (ir::Expr* known = pointer_function(e, callee)) return known;
  if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e)) return operator_call(op, callee);

  const clang::Expr* object = nullptr;
  if (const auto* m = dyn_cast<CXXMemberCallExpr>(e)) {
    const auto* method = cast<CXXMethodDecl>(callee);
    if (ir::Expr* derived = execute(m)) return derived;
    if (const clang::Expr* of = m->getImplicitObjectArgument();
        is_view(of->getType()) && method->getIdentifier())
      return view_part(of, method->getName(), nullptr, e);
    if (ir::Expr* known = array_member(m, method)) return known;
    if (ir::Expr* known = bit_member(m, method)) return known;
    if (ir::Expr* known = table_member(m, method)) return known;
    if (ir::Expr* element = container_member(m, method)) return element;
    if (ir::Expr* known = library_member(m, method)) return known;
    object = m->getImplicitObjectArgument();
    const auto* access = dyn_cast<MemberExpr>(m->getCallee()->IgnoreParens());
    if (method->isVirtual() && !(access && access->hasQualifier()))
      return virtual_call(e, method, arguments, object);
    if (method->getParent()->isLambda()) {
      if (isa<CXXConversionDecl>(method))
        return fail(e->getExprLoc(),
                    "cannot differentiate a lambda as a function pointer that is kept in an object; keep "
                    "it in a variable, or pass it on");
      if (std::shared_ptr<Closure> closure = closure_of(object)) return call_closure(e, *closure, arguments);
      return literal("0", context_.IntTy);
    }
  }
  return call_function(e, callee, arguments, object);
}

/// The template arguments that a call of the function is written with; the others follow from them and from
/// the call's arguments.
static std::string written_arguments(const CallExpr* e, const FunctionDecl* callee, TypeTable& types) {
  const auto* member = dyn_cast<MemberExpr>(e->getCallee()->IgnoreParenImpCasts());
  const auto* name = dyn_cast<DeclRefExpr>(e->getCallee()->IgnoreParenImpCasts());
  const unsigned count = member ? member->getNumTemplateArgs() : name ? name->getNumTemplateArgs() : 0;
  const TemplateArgumentList* all = callee->getTemplateSpecializationArgs();
  if (isa<UserDefinedLiteral>(e) && all) return spell_arguments(all->asArray(), types);  // its characters
  if (count == 0 || !all) return "";
  std::vector<TemplateArgument> written;
  for (const TemplateArgument& arg : all->asArray()) {
    const bool pack = arg.getKind() == TemplateArgument::Pack;
    for (const TemplateArgument& one : pack ? arg.getPackAsArray() : llvm::ArrayRef<TemplateArgument>(arg))
      if (written.size() < count) written.push_back(one);
  }
  return spell_arguments(written, types);
}

/// A call of exactly this function; `object` is that of a method.
ir::Expr* Frontend::call_function(const CallExpr* e, const FunctionDecl* callee,
                                  const std::vector<const clang::Expr*>& args, const clang::Expr* object) {
  if (!object)
    if (ir::Expr* known = library_call(e, callee, args)) return known;
  if (ir::Expr* inlined = inline_call(e, callee, args, object)) return inlined;
  auto info = std::make_unique<ir::CallInfo>();
  if (object) return finish_method(std::move(info), e, cast<CXXMethodDecl>(callee), args, object);
  info->name = spell_function(callee, types_);
  if (compat::in_std(callee)) info->name += written_arguments(e, callee, types_);
  add_arguments(*info, callee, args);
  return finish_call(std::move(info), callee, callee->getReturnType(), e, false);
}

ir::Expr* Frontend::finish_method(std::unique_ptr<ir::CallInfo> info, const CallExpr* e,
                                  const CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                                  const clang::Expr* object) {
  ir::Expr* self = value(object);
  if (object->getType()->isPointerType()) self = deref(self);
  return call_method(std::move(info), e, method, args, self);
}

ir::Expr* Frontend::call_method(std::unique_ptr<ir::CallInfo> info, const CallExpr* e,
                                const CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                                ir::Expr* object) {
  info->is_method = true;
  info->name = method->getNameAsString();
  info->name += written_arguments(e, method, types_);
  if (isa<CXXConversionDecl>(method)) info->name = "operator " + types_.spell(method->getReturnType());
  if (!add_object(*info, object, loc(static_cast<const clang::Expr*>(e)), method))
    return literal("0", context_.IntTy);
  // Exactly this function: not an overrider, not one that the object's class hides it behind.
  const ir::CallInfo::Arg& self = info->args[0];
  if ((method->isVirtual() && info->problem.empty()) || self.expr->type != self.param_type)
    info->name = self.param_type->name + "::" + info->name;
  add_arguments(*info, method, args);
  return finish_call(std::move(info), method, method->getReturnType(), e, !method->isConst());
}

}  // namespace clad
