// The standard library: functions that have a plain definition in clad::library, and classes whose parts are
// named by functions: std::tuple, std::complex, std::optional.
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

/// Which argument the iterator that the library's function returns is counted from (CLAD_FROM_ARGUMENT).
std::optional<unsigned> counted_from(const FunctionDecl* f) {
  for (const AnnotateAttr* attr : f->specific_attrs<AnnotateAttr>()) {
    llvm::StringRef text = attr->getAnnotation();
    unsigned k = 0;
    if (text.consume_front("clad::from ") && !text.getAsInteger(10, k)) return k;
  }
  return std::nullopt;
}

/// The container that std::back_inserter(container) adds to; null for anything else.
const clang::Expr* appended_to(const clang::Expr* e) {
  const auto* call = dyn_cast<CallExpr>(strip(e));
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  return callee && compat::in_std(callee) && named(callee, {"back_inserter"}) ? call->getArg(0) : nullptr;
}

}  // namespace

/// Without the conversions to and from void*.
const clang::Expr* of_memory(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParens();
    const auto* c = dyn_cast<CastExpr>(e);
    if (!c || (c->getCastKind() != CK_BitCast && c->getCastKind() != CK_NoOp)) return e;
    e = c->getSubExpr();
  }
}

/// The pointer of which __builtin_assume_aligned says something; null for any other expression.
const clang::Expr* aligned(const clang::Expr* e) {
  const auto* call = dyn_cast<CallExpr>(e->IgnoreParenCasts());
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !callee->getBuiltinID() || !named(callee, {"__builtin_assume_aligned"})) return nullptr;
  const clang::Expr* pointer = of_memory(call->getArg(0));
  return pointer->getType()->isPointerType() ? pointer : nullptr;
}

/// Integers that a parameter or a global points to: how many there are, to put them back, is not known.
static bool are_unbounded(const clang::Expr* e) {
  const QualType type = e->getType();
  if (!type->isPointerType() || type->getPointeeType().isConstQualified() ||
      !is_whole(type->getPointeeType()))
    return false;
  for (;;) {
    e = e->IgnoreParenCasts();
    const auto* sum = dyn_cast<BinaryOperator>(e);
    if (!sum || !sum->isAdditiveOp()) break;
    e = sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS();
  }
  const auto* ref = dyn_cast<DeclRefExpr>(e);
  const auto* var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  return var && var->getType()->isPointerType() && (isa<ParmVarDecl>(var) || var->hasGlobalStorage());
}

/// The lambda of which std::ref makes another name, if it has no state that the algorithm would copy.
static const clang::Expr* without_wrapper(const clang::Expr* e) {
  const auto* call = dyn_cast<CallExpr>(strip(e));
  const FunctionDecl* f = call && call->getNumArgs() == 1 ? call->getDirectCallee() : nullptr;
  if (!f || !compat::in_std(f) || !named(f, {"ref", "cref"}) || !is_lambda(call->getArg(0)->getType()))
    return e;
  const auto* lambda = call->getArg(0)->getType()->getAsCXXRecordDecl();
  const CXXMethodDecl* body = lambda->getLambdaCallOperator();
  return body && body->isConst() ? call->getArg(0) : e;
}

/// A call of a library function as a call of its plain definition; null if it has none, or needs none.
ir::Expr* Frontend::library_call(const clang::Expr* at, const FunctionDecl* callee,
                                 std::vector<const clang::Expr*> args) {
  const bool memory = callee->isExternC() && named(callee, {"memcpy", "memmove", "memset"});
  const bool parts =
      callee->isExternC() && named(callee, {"modf", "modff", "modfl", "frexp", "frexpf", "frexpl", "remquo",
                                            "remquof", "remquol", "sincos", "sincosf", "sincosl"});
  if (!memory && !parts && !compat::in_std(callee)) return nullptr;
  if (memory)
    for (const clang::Expr*& a : args) a = of_memory(a);
  std::string name = operator_word(callee);
  if (name == "__invoke") name = "invoke";
  if (parts && (name.back() == 'l' || (name.back() == 'f' && name != "modf"))) name.pop_back();
  for (const clang::Expr*& a : args) a = without_wrapper(a);
  std::optional<std::size_t> appends;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (const clang::Expr* container = appended_to(args[i])) {
      args[i] = container;
      appends = i;
      name += "_back";
    }
  bool carries = memory;
  for (const clang::Expr* a : args)
    carries |= types_.get(a->getType())->differentiable || is_lambda(a->getType()) || are_unbounded(a);
  carries |= is_pointer(at) && at->getType()->isRecordType();  // an iterator
  if (!carries || lookup_.given_by_user(callee, forward_)) return nullptr;
  // The plain definitions are for iterators that are pointers, this one for any.
  if (name != "accumulate")
    for (const clang::Expr* a : args)
      if (a->getType()->isRecordType() && ir::keeps_numbers(types_.get(a->getType())))
        return fail(at->getExprLoc(), "cannot differentiate '" + name +
                                          "' on a container of which no derivative is known; write the loop");
  if (name == "for_each" && at->getType()->isRecordType() && !is_lambda(at->getType()) &&
      !is_bound(at->getType()))
    name += "_object";
  if (name == "polar")
    if (const ExprResult zero = construction(at->getType(), {}, at->getExprLoc()); zero.isUsable())
      args.insert(args.begin(), zero.get());
  const FunctionDecl* plain = lookup_.plain_definition(name, args);
  if (!plain && appends) {  // with clad::library::put
    plain = lookup_.plain_definition(operator_word(callee), args);
    if (plain && !plain->getParamDecl(*appends)->getType()->isLValueReferenceType()) plain = nullptr;
  }
  if (!plain) return nullptr;
  if (memory && callee->getName() == "memset" && types_.get(args[0]->getType())->differentiable) {
    const ir::Expr* byte = constant(args[1]);
    if (!byte || byte->text != "0")
      return fail(at->getExprLoc(), "cannot differentiate 'memset' to anything but 0; use std::fill");
  }
  return call_plain(at, plain, args);
}

/// A call of the plain definition of a library function.
ir::Expr* Frontend::call_plain(const clang::Expr* at, const FunctionDecl* plain,
                               const std::vector<const clang::Expr*>& args) {
  if (!plain->getName().starts_with("member_") && !check_swap(args, at->getExprLoc()))
    return literal("0", context_.IntTy);
  std::optional<unsigned> from = counted_from(plain);
  if (from && types_.get(args[*from]->getType())->kind == ir::Type::Vector) from.reset();  // which it adds to
  ir::Expr *first = nullptr, *start = nullptr, *result = nullptr;
  const QualType made = plain->getReturnType();
  const bool makes_pointers = !made->isReferenceType() && in_parts(made);
  if ((makes_pointers || llvm::any_of(args, [&](const clang::Expr* a) { return captures_parts(a); })) &&
      (!from || (is_pointer(at) && !has_effects(args[*from])))) {
    if (from) start = freeze(value(args[*from]), at_);
    result = inline_call(at, plain, args, nullptr);
    if (result && !from) return result;
  }
  if (!result) {
    auto info = std::make_unique<ir::CallInfo>();
    info->name = spell_function(plain, types_);
    add_arguments(*info, plain, args);
    if (from) first = info->args[*from].expr;
    if (from && is_pointer(at)) start = freeze(first, at_);
    result = finish_call(std::move(info), plain, plain->getReturnType(), at, false);
  }
  if (start) return moved(start, TypeTable::is_reverse(args[*from]->getType()), result);
  const ir::Type* type = types_.get(at->getType());
  if (!from || (!type->is_class() && type->kind != ir::Type::Pointer)) return result;
  // An iterator over constants is an object like another.
  ir::Expr* place = hoist(fn_.make(ir::Expr::Binary, type, "+", {first, result}), at_, "place");
  if (first->kind == ir::Expr::VarRef && place->kind == ir::Expr::VarRef)
    place->var->origin = first->var->origin;
  return place;
}

/// std::min({a, b, c}) and std::max({a, b, c}).
ir::Expr* Frontend::extreme(const CallExpr* e, bool largest) {
  ir::Expr* list = value(e->getArg(0));
  const ir::Type* type = types_.get(e->getType());
  if (list->kind != ir::Expr::InitList || type->kind != ir::Type::Real || list->args.empty()) return nullptr;
  const auto atom = [&](ir::Expr* x) {
    return ir::is_atomic(x) && x->kind != ir::Expr::Index ? x : hoist(x, at_);
  };
  ir::Expr* best = atom(list->args[0]);
  for (std::size_t i = 1; i < list->args.size(); ++i) {
    ir::Expr* next = atom(list->args[i]);
    ir::Expr* better =
        fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), largest ? "<" : ">", {best, next});
    best = hoist(fn_.make(ir::Expr::Conditional, type, "", {better, next, best}), at_,
                 largest ? "largest" : "least");
  }
  return best;
}

/// An object whose parts are to be named.
ir::Expr* Frontend::object(const clang::Expr* e) {
  ir::Expr* o = value(e);
  return ir::is_path(o) || is_parts(o) || o->kind == ir::Expr::Conditional ? o : hoist(o, loc(e));
}

ir::Expr* Frontend::part(ir::Expr* object, std::size_t i) {
  const ir::Field& field = object->type->fields[i];
  return through(object,
                 [&](ir::Expr* o) { return fn_.make(ir::Expr::Member, field.type, field.name, {o}); });
}

bool Frontend::is_library(const ir::Type* type, llvm::StringRef name) {
  const auto* record = static_cast<const CXXRecordDecl*>(type->decl);
  return type->kind == ir::Type::Record && record && record->getIdentifier() && record->getName() == name &&
         compat::in_std(record);
}

/// Construction of a pair, tuple, complex number or optional; null if it is of another class, or in a way
/// that is not known.
ir::Expr* Frontend::construct_library(const ir::Type* type, llvm::ArrayRef<const clang::Expr*> args,
                                      ir::Loc at) {
  const bool optional = is_library(type, "optional"), complex = is_library(type, "complex");
  if (!optional && !complex && !is_library(type, "pair") && !is_library(type, "tuple")) return nullptr;
  if (args.empty()) return fn_.make(ir::Expr::Construct, type);
  if (optional && types_.get(args[0]->getType())->name.find("nullopt_t") != std::string::npos)
    return fn_.make(ir::Expr::Construct, type);
  const CXXRecordDecl* given = args[0]->getType()->getAsCXXRecordDecl();
  if (optional && given && given->getIdentifier() && compat::in_std(given) && given->getName() == "optional")
    return nullptr;  // of an optional of another type
  ir::Expr* list = fn_.make(ir::Expr::InitList, type);
  const ir::Type* first = types_.get(args[0]->getType());
  if (args.size() == 1 && first->kind == ir::Type::Record && first->fields.size() == type->fields.size() &&
      static_cast<const CXXRecordDecl*>(first->decl)->isInStdNamespace() && !optional) {
    ir::Expr* other = object(args[0]);
    for (std::size_t i = 0; i < type->fields.size(); ++i) list->args.push_back(part(other, i));
    convert_parts(list);
    return list;
  }
  // The constructors take references: they read an object after all arguments have been evaluated.
  for (const clang::Expr* e : args) {
    std::size_t position = out_->size();
    ir::Expr* next = value(e);
    const std::set<const ir::Var*> changed = changed_since(position);
    for (std::size_t k = 0; k < list->args.size() && !changed.empty(); ++k) {
      ir::Expr*& earlier = list->args[k];
      const bool names = args[k]->isLValue() && ir::names_object(earlier);
      earlier = names ? settle_path(earlier, position, changed) : settle(earlier, position, changed);
    }
    list->args.push_back(next);
  }
  if (complex && args.size() == 1) list->args.push_back(literal("0", context_.IntTy));
  if (list->args.size() != type->fields.size()) {
    fail(SourceLocation::getFromRawEncoding(at),
         "cannot differentiate this constructor of '" + type->name + "'");
    return list;
  }
  convert_parts(list);
  return list;
}

/// Conversions that the class makes of what it is constructed from.
void Frontend::convert_parts(ir::Expr* list) {
  for (std::size_t i = 0; i < list->args.size(); ++i) {
    const ir::Type* to = list->type->fields[i].type;
    ir::Expr*& a = list->args[i];
    if (a->type == to || to->is_class() || to->kind == ir::Type::Pointer) continue;
    a = fn_.cast(to, to->name, a);
  }
}

/// A member of std::complex or std::optional; null for any other.
ir::Expr* Frontend::library_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* base = e->getImplicitObjectArgument();
  const bool pointer = base->getType()->isPointerType();
  const ir::Type* type = types_.get(pointer ? base->getType()->getPointeeType() : base->getType());
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  if (is_library(type, "complex") && named(method, {"real", "imag"})) {
    ir::Expr* p = part(pointer ? deref(value(base)) : object(base), method->getName() == "real" ? 0 : 1);
    if (e->getNumArgs() == 0) return p;
    return assign(p, "=", value(e->getArg(0)), at);
  }
  if (pointer || !is_library(type, "optional") || !type->differentiable) return nullptr;
  if (named(method, {"value"})) {
    return through(object(base), [&](ir::Expr* o) {
      ir::Expr* v = fn_.make(ir::Expr::Method, type->fields[0].type, "value", {o});
      v->accessor = true;
      return v;
    });
  }
  const auto holds = [&](ir::Expr* optional) {
    return through(optional, [&](ir::Expr* o) {
      return fn_.make(ir::Expr::Method, types_.get(context_.BoolTy), "has_value", {o});
    });
  };
  if (named(method, {"has_value"}) || isa<CXXConversionDecl>(method)) return holds(object(base));
  if (named(method, {"value_or"})) {
    ir::Expr* o = object(base);
    ir::Expr* otherwise = value_after(o, e->getArg(0));
    ir::Expr* has = holds(o);
    ir::Expr* inner = held_in(o);
    if (type->fields[0].type->is_class())
      return fail(e->getExprLoc(), "cannot differentiate 'value_or' of a class; use if and else");
    return hoist(fn_.make(ir::Expr::Conditional, inner->type, "", {has, inner, otherwise}), at);
  }
  if (named(method, {"reset"})) return assign(value(base), "=", fn_.make(ir::Expr::Construct, type), at);
  if (named(method, {"emplace"})) {
    const auto* optional = cast<ClassTemplateSpecializationDecl>(method->getParent());
    const std::vector<const clang::Expr*> arguments(e->arg_begin(), e->arg_end());
    const ExprResult made =
        construction(optional->getTemplateArgs()[0].getAsType(), arguments, e->getExprLoc());
    if (made.isInvalid()) return nullptr;
    ir::Expr* o = object(base);
    ir::Expr* held = value_after(o, made.get());
    assign(o, "=", fn_.make(ir::Expr::InitList, type, "", {held}), at);
    return held_in(o);
  }
  return nullptr;
}

/// What an optional holds.
ir::Expr* Frontend::held_in(ir::Expr* optional) {
  return through(optional, [&](ir::Expr* o) {
    if (o->type->fields.empty()) return o;  // stands for what has been refused already
    return fn_.make(ir::Expr::Deref, o->type->fields[0].type, "", {o});
  });
}

/// Assignments to, and operators of, std::tuple, std::complex and std::optional; null for any other.
ir::Expr* Frontend::library_operator(const CXXOperatorCallExpr* e) {
  const clang::Expr* first = e->getArg(0);
  const ir::Type* type = types_.get(first->getType());
  const ir::Loc at = loc(static_cast<const clang::Expr*>(e));
  const FunctionDecl* callee = e->getDirectCallee();
  if (!compat::in_std(callee) || parts_named(first)) return nullptr;
  const auto* tie = dyn_cast<CallExpr>(strip(first));
  if (e->getOperator() == OO_Equal && tie && tie->getDirectCallee() &&
      compat::in_std(tie->getDirectCallee()) && named(tie->getDirectCallee(), {"tie"})) {
    ir::Expr* from = value(e->getArg(1));
    if (from->type->kind != ir::Type::Record || from->type->fields.size() != tie->getNumArgs())
      return nullptr;
    from = hoist(from, at);
    for (unsigned i = 0; i < tie->getNumArgs(); ++i)
      if (types_.get(tie->getArg(i)->getType())->name.find("_Swallow") == std::string::npos &&
          types_.get(tie->getArg(i)->getType())->name.find("__ignore") == std::string::npos)
        assign(value(tie->getArg(i)), "=", part(from, i), at);
    return literal("0", context_.IntTy);
  }
  if (is_library(type, "optional") && type->differentiable) {
    const bool arrow = e->getOperator() == OO_Arrow;
    if (arrow || (e->getOperator() == OO_Star && e->getNumArgs() == 1)) {
      ir::Expr* inner = held_in(object(first));
      return arrow ? address_of(inner, types_.get(e->getType())) : inner;
    }
  }
  if (e->getOperator() == OO_Equal) {
    const clang::Expr* right = e->getArg(1);
    if (!is_library(type, "optional") && !is_library(type, "complex") && !is_library(type, "tuple") &&
        !is_library(type, "pair"))
      return nullptr;
    const bool same = types_.get(right->getType()) == type;
    ir::Expr* made = same ? value(right) : construct_library(type, {right}, at);
    return made ? assign(value(first), "=", made, at) : nullptr;
  }
  if (!is_library(type, "complex")) return nullptr;
  const OverloadedOperatorKind op = e->getOperator();
  if (op != OO_PlusEqual && op != OO_MinusEqual && op != OO_StarEqual && op != OO_SlashEqual) return nullptr;
  // z op= w is z = z op w.
  std::string name = operator_word(callee);
  name.resize(name.size() - llvm::StringRef("_equal").size());
  const FunctionDecl* plain = lookup_.plain_definition(name, {first, e->getArg(1)});
  if (!plain) return nullptr;
  auto info = std::make_unique<ir::CallInfo>();
  info->name = spell_function(plain, types_);
  add_assignment(*info, plain, first, e->getArg(1));
  ir::Expr* target = info->args.front().expr;
  ir::Expr* result = finish_call(std::move(info), plain, plain->getReturnType(), e, false);
  return assign(target, "=", result, at);
}

}  // namespace clad
