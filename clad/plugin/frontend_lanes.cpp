// Vectors of numbers as an extension of the language has them, `__attribute__((vector_size(32)))`, and what
// the intrinsics of x86 do with them: all is done number by number, in the vector's lanes.
#include <functional>

#include "clang/AST/Expr.h"
#include "clang/Basic/SourceManager.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// The name of an intrinsic in its parts: `_mm256_fmadd_pd` is fmadd of all lanes, `_mm_add_sd` is add of the
/// lowest alone.
struct Frontend::Intrinsic {
  llvm::StringRef operation;
  bool lowest = false;

  static std::optional<Intrinsic> named(const FunctionDecl* f) {
    if (!f->getASTContext().getSourceManager().isInSystemHeader(f->getLocation())) return std::nullopt;
    Intrinsic out{f->getName()};
    llvm::StringRef& name = out.operation;
    if (!name.consume_front("_mm256_") && !name.consume_front("_mm512_") && !name.consume_front("_mm_"))
      return std::nullopt;
    if (name.consume_back("_pd") || name.consume_back("_ps")) return out;
    if (name.starts_with("cast") || name.starts_with("zext")) return out;
    out.lowest = name.consume_back("_sd") || name.consume_back("_ss");
    return out.lowest ? std::optional(out) : std::nullopt;
  }
};

namespace {

/// How many lanes 128 bits hold: what permutes lanes mostly stays within so many.
int in_128_bits(const ir::Type* type) { return type->element->name == "double" ? 2 : 4; }

/// The lanes that an intrinsic takes, by their numbers in its operands together; nothing of any other.
std::optional<std::vector<int>> moved_lanes(llvm::StringRef name, const ir::Type* type) {
  const int n = static_cast<int>(type->extent), group = in_128_bits(type);
  std::vector<int> out;
  for (int k = 0; k < n; ++k) {
    const int start = k / group * group, pair = k % group / 2 + start;
    if (name == "unpacklo")
      out.push_back(pair + (k % 2 ? n : 0));
    else if (name == "unpackhi")
      out.push_back(pair + group / 2 + (k % 2 ? n : 0));
    else if (name == "movehl")
      out.push_back(k < 2 ? n + 2 + k : k);
    else if (name == "movelh")
      out.push_back(k < 2 ? k : n + k - 2);
    else if (name == "movedup")
      out.push_back(k / 2 * 2);
    else if (name == "move")
      out.push_back(k == 0 ? n : k);
    else if (name == "castpd256_pd128" || name == "castps256_ps128" || name == "castpd128_pd256" ||
             name == "castps128_ps256" || name == "zextpd128_pd256" || name == "zextps128_ps256")
      out.push_back(k);
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace

/// The numbers in a vector, each an expression that may be used several times.
std::vector<ir::Expr*> Frontend::lanes(ir::Expr* whole) {
  if (!whole->type->lanes) return std::vector<ir::Expr*>(256, whole);  // which has been refused already
  if (whole->kind == ir::Expr::InitList && whole->args.size() == whole->type->extent) {
    std::vector<ir::Expr*> out;
    for (ir::Expr* lane : whole->args)
      out.push_back(ir::is_atomic(lane) && lane->kind != ir::Expr::Index ? lane : hoist(lane, at_, "lane"));
    return out;
  }
  if (!ir::names_object(whole) || whole->kind == ir::Expr::Conditional) whole = hoist(whole, at_, "lanes");
  std::vector<ir::Expr*> out;
  for (unsigned k = 0; k < whole->type->extent; ++k)
    out.push_back(fn_.make(ir::Expr::Index, whole->type->element, "",
                           {whole, literal(std::to_string(k), context_.IntTy)}));
  return out;
}

ir::Expr* Frontend::from_lanes(const ir::Type* type, std::vector<ir::Expr*> lanes) {
  ir::Expr* out = fn_.make(ir::Expr::InitList, type, "");
  out->args = std::move(lanes);
  return out;
}

/// A vector made from others, lane by lane.
ir::Expr* Frontend::each_lane(const ir::Type* type, const std::vector<ir::Expr*>& operands,
                              const std::function<ir::Expr*(const std::vector<ir::Expr*>&)>& operation) {
  std::vector<std::vector<ir::Expr*>> all;
  for (ir::Expr* o : operands) all.push_back(lanes(o));
  std::vector<ir::Expr*> out;
  for (unsigned k = 0; k < type->extent; ++k) {
    std::vector<ir::Expr*> given;
    for (const std::vector<ir::Expr*>& one : all) given.push_back(one[k]);
    out.push_back(operation(given));
  }
  return from_lanes(type, std::move(out));
}

ir::Expr* Frontend::splat(const ir::Type* type, ir::Expr* number) {
  if (number->kind != ir::Expr::Literal) number = hoist(number, at_, "lane");
  return from_lanes(type, std::vector<ir::Expr*>(type->extent, number));
}

/// An operator on vectors; null if it is none.
ir::Expr* Frontend::lanes_binary(const BinaryOperator* e) {
  if (!TypeTable::is_lanes(e->getType()) || e->getOpcode() == BO_Assign) return nullptr;
  const ir::Type* type = types_.get(e->getType());
  const auto op = [&](const std::string& text, ir::Expr* a, ir::Expr* b) {
    return each_lane(type, {a, b}, [&](const std::vector<ir::Expr*>& lane) {
      return fn_.make(ir::Expr::Binary, type->element, text, {lane[0], lane[1]});
    });
  };
  std::string text = BinaryOperator::getOpcodeStr(e->getOpcode()).str();
  if (!e->isCompoundAssignmentOp()) {
    const std::vector<ir::Expr*> operands = values({e->getLHS(), e->getRHS()});
    return op(text, operands[0], operands[1]);
  }
  text.pop_back();
  ir::Expr* right = hoist(value(e->getRHS()), at_, "lanes");
  ir::Expr* to = value(e->getLHS());
  return assign(to, "=", op(text, to, right), loc(e));
}

ir::Expr* Frontend::lanes_unary(const clang::UnaryOperator* e) {
  const ir::Type* type = types_.get(e->getType());
  if (e->getOpcode() != UO_Minus) return nullptr;
  return each_lane(type, {value(e->getSubExpr())}, [&](const std::vector<ir::Expr*>& lane) {
    return fn_.make(ir::Expr::Unary, type->element, "-", {lane[0]});
  });
}

/// One number of a vector. Nothing can refer to it: where it is read, it is copied.
ir::Expr* Frontend::lane(const ArraySubscriptExpr* e) {
  ir::Expr* whole = value(e->getBase());
  if (!ir::names_object(whole)) whole = hoist(whole, at_, "lanes");
  ir::Expr* index = value_after(whole, e->getIdx());
  return through(whole, [&](ir::Expr* object) {
    return fn_.make(ir::Expr::Index, types_.get(e->getType()), "", {object, index});
  });
}

/// `{a, b}`, `__builtin_shufflevector(a, b, 0, 2)`; null of any other expression.
ir::Expr* Frontend::lanes_value(const clang::Expr* e) {
  const ir::Type* type = types_.get(e->getType());
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    std::vector<ir::Expr*> out = values(list->inits());
    for (const clang::Expr* init : list->inits())
      if (!init->getType()->isArithmeticType())
        return fail(e->getExprLoc(), "cannot differentiate this vector: give it one number after the other");
    while (out.size() < type->extent) out.push_back(fn_.make(ir::Expr::Literal, type->element, "0"));
    return from_lanes(type, std::move(out));
  }
  if (isa<CXXScalarValueInitExpr, ImplicitValueInitExpr>(e))
    return splat(type, fn_.make(ir::Expr::Literal, type->element, "0"));
  if (const auto* made = dyn_cast<CompoundLiteralExpr>(e)) return value(made->getInitializer());
  const auto* shuffle = dyn_cast<ShuffleVectorExpr>(e);
  if (!shuffle || shuffle->getNumSubExprs() < 3) return nullptr;
  std::vector<int> which;
  for (unsigned k = 2; k < shuffle->getNumSubExprs(); ++k) {
    const std::optional<llvm::APSInt> at = shuffle->getExpr(k)->getIntegerConstantExpr(context_);
    if (!at) return nullptr;
    which.push_back(static_cast<int>(at->getExtValue()));
  }
  return shuffled(type, values({shuffle->getExpr(0), shuffle->getExpr(1)}), which);
}

/// Lanes of two vectors, by their numbers in both together; -1 is any number.
ir::Expr* Frontend::shuffled(const ir::Type* type, const std::vector<ir::Expr*>& operands,
                             const std::vector<int>& which) {
  std::vector<ir::Expr*> from, out;
  for (ir::Expr* o : operands)
    for (ir::Expr* one : lanes(o)) from.push_back(one);
  for (const int k : which) out.push_back(k < 0 ? fn_.make(ir::Expr::Literal, type->element, "0") : from[k]);
  return from_lanes(type, std::move(out));
}

/// `a > b ? a : b` of vectors.
ir::Expr* Frontend::lanes_conditional(const AbstractConditionalOperator* e) {
  const ir::Type* type = types_.get(e->getType());
  const auto* compared = dyn_cast<BinaryOperator>(e->getCond()->IgnoreParenImpCasts());
  if (!compared || !compared->isComparisonOp() || !TypeTable::is_lanes(compared->getLHS()->getType()))
    return fail(e->getExprLoc(),
                "cannot differentiate a choice by a vector of bits; compare where it is chosen");
  const std::string op = BinaryOperator::getOpcodeStr(compared->getOpcode()).str();
  return each_lane(type,
                   values({compared->getLHS(), compared->getRHS(), e->getTrueExpr(), e->getFalseExpr()}),
                   [&](const std::vector<ir::Expr*>& lane) { return chosen_lane(op, lane); });
}

/// `lane[0] op lane[1] ? lane[2] : lane[3]`
ir::Expr* Frontend::chosen_lane(const std::string& op, const std::vector<ir::Expr*>& lane) {
  ir::Expr* test = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy), op, {lane[0], lane[1]});
  return fn_.make(ir::Expr::Conditional, lane[2]->type, "", {hoist(test, at_, "choice"), lane[2], lane[3]});
}

/// A call of an intrinsic whose derivative is known here; null of any other.
ir::Expr* Frontend::intrinsic(const CallExpr* e, const FunctionDecl* callee) {
  if (!callee || !callee->getIdentifier()) return nullptr;
  if (callee->getName().starts_with("__builtin_ia32_")) return shuffling_builtin(e, callee->getName());
  if (callee->getBuiltinID() &&
      llvm::any_of(e->arguments(), [](const clang::Expr* a) { return TypeTable::is_lanes(a->getType()); }))
    return fail(e->getExprLoc(),
                "cannot differentiate '" + callee->getName().str() +
                    "' of vectors; write it for each number, or with the vectors' operators");
  const std::optional<Intrinsic> known = Intrinsic::named(callee);
  if (!known || lookup_.derived_by_user(callee)) return nullptr;
  if (!TypeTable::is_lanes(e->getType())) return stored_lanes(e, *known);
  for (const auto lower : {&Frontend::lanes_arithmetic, &Frontend::paired_lanes, &Frontend::made_lanes})
    if (ir::Expr* out = (this->*lower)(e, *known)) return out;
  const ir::Type* type = types_.get(e->getType());
  const std::optional<std::vector<int>> which = moved_lanes(known->operation, type);
  return which ? shuffled(type, values({e->getArgs(), e->getNumArgs()}), *which) : nullptr;
}

/// What is done with each lane, or with the lowest alone.
ir::Expr* Frontend::lanes_arithmetic(const CallExpr* e, const Intrinsic& known) {
  using Lanes = std::vector<ir::Expr*>;
  const auto make = [this](const char* op, ir::Expr* a, ir::Expr* b) {
    return fn_.make(ir::Expr::Binary, a->type, op, {a, b});
  };
  const auto fused = [&](const Lanes& lane, bool negated, const char* op) {
    ir::Expr* product = make("*", lane[0], lane[1]);
    if (negated) product = fn_.make(ir::Expr::Unary, product->type, "-", {product});
    return make(op, product, lane[2]);
  };
  const auto extreme = [&](const Lanes& lane, const char* op) {  // of a NaN and a number the second
    return chosen_lane(op, {lane[0], lane[1], lane[0], lane[1]});
  };
  const std::pair<llvm::StringRef, std::function<ir::Expr*(const Lanes&)>> operations[] = {
      {"add", [&](const Lanes& lane) { return make("+", lane[0], lane[1]); }},
      {"sub", [&](const Lanes& lane) { return make("-", lane[0], lane[1]); }},
      {"mul", [&](const Lanes& lane) { return make("*", lane[0], lane[1]); }},
      {"div", [&](const Lanes& lane) { return make("/", lane[0], lane[1]); }},
      {"max", [&](const Lanes& lane) { return extreme(lane, ">"); }},
      {"min", [&](const Lanes& lane) { return extreme(lane, "<"); }},
      {"fmadd", [&](const Lanes& lane) { return fused(lane, false, "+"); }},
      {"fmsub", [&](const Lanes& lane) { return fused(lane, false, "-"); }},
      {"fnmadd", [&](const Lanes& lane) { return fused(lane, true, "+"); }},
      {"fnmsub", [&](const Lanes& lane) { return fused(lane, true, "-"); }},
      {"sqrt", [&](const Lanes& lane) { return square_root(lane.back(), e); }}};
  for (const auto& [name, of_lane] : operations) {
    if (known.operation != name) continue;
    const ir::Type* type = types_.get(e->getType());
    const Lanes operands = values({e->getArgs(), e->getNumArgs()});
    if (!known.lowest) return each_lane(type, operands, of_lane);
    Lanes lowest, out = lanes(operands[0]);
    for (ir::Expr* o : operands) lowest.push_back(lanes(o)[0]);
    out[0] = of_lane(lowest);
    return from_lanes(type, std::move(out));
  }
  return nullptr;
}

/// Sums and differences of neighbours, and conversions, which may take another number of lanes.
ir::Expr* Frontend::paired_lanes(const CallExpr* e, const Intrinsic& known) {
  const llvm::StringRef name = known.operation;
  if (name != "hadd" && name != "hsub" && name != "addsub" && name != "cvtps" && name != "cvtpd")
    return nullptr;
  const ir::Type* type = types_.get(e->getType());
  const std::vector<ir::Expr*> operands = values({e->getArgs(), e->getNumArgs()});
  const std::vector<ir::Expr*> a = lanes(operands[0]), b = lanes(operands.back());
  const std::size_t group = in_128_bits(type);
  std::vector<ir::Expr*> out;
  for (std::size_t k = 0; k < type->extent; ++k) {
    if (name.starts_with("cvt")) {
      out.push_back(k < a.size() ? fn_.cast(type->element, type->element->name, a[k])
                                 : fn_.make(ir::Expr::Literal, type->element, "0"));
      continue;
    }
    const std::vector<ir::Expr*>& of = k % group < group / 2 ? a : b;
    const std::size_t first = k / group * group + k % (group / 2) * 2;
    const bool plus = name == "hadd" || (name == "addsub" && k % 2 == 1);
    out.push_back(fn_.make(ir::Expr::Binary, type->element, plus ? "+" : "-",
                           name == "addsub" ? std::initializer_list<ir::Expr*>{a[k], b[k]}
                                            : std::initializer_list<ir::Expr*>{of[first], of[first + 1]}));
  }
  return from_lanes(type, std::move(out));
}

/// A vector of numbers that are given one by one, or that lie in memory.
ir::Expr* Frontend::made_lanes(const CallExpr* e, const Intrinsic& known) {
  const llvm::StringRef name = known.operation;
  const ir::Type* type = types_.get(e->getType());
  ir::Expr* zero = fn_.make(ir::Expr::Literal, type->element, "0");
  if (name == "setzero") return splat(type, zero);
  if (name == "set1" || name == "set" || name == "setr") {
    std::vector<ir::Expr*> given = values({e->getArgs(), e->getNumArgs()});
    if (name == "set1") return splat(type, given[0]);
    if (known.lowest && given.size() == 1) given.resize(type->extent, zero);
    if (given.size() != type->extent) return nullptr;
    if (name == "set" && !known.lowest) std::reverse(given.begin(), given.end());
    return from_lanes(type, std::move(given));
  }
  if ((name != "load" && name != "loadu" && name != "load1") || !is_pointer(e->getArg(0))) return nullptr;
  ir::Expr* from = memory_of_lanes(e->getArg(0), type);
  const auto at = [&](unsigned k) { return element(from, literal(std::to_string(k), context_.IntTy)); };
  if (name == "load1") return splat(type, at(0));
  std::vector<ir::Expr*> out;
  for (unsigned k = 0; k < type->extent; ++k) out.push_back(known.lowest && k > 0 ? zero : at(k));
  return from_lanes(type, std::move(out));
}

/// The pointer from which an intrinsic loads, or to which it stores. That to a row of numbers is often cast
/// to one to a number.
ir::Expr* Frontend::memory_of_lanes(const clang::Expr* e, const ir::Type* type) {
  const auto* cast = dyn_cast<ExplicitCastExpr>(e->IgnoreParenImpCasts());
  const clang::Expr* rows = cast && cast->getCastKind() == CK_BitCast ? cast->getSubExpr() : nullptr;
  const ConstantArrayType* row =
      rows ? context_.getAsConstantArrayType(rows->getType()->getPointeeType()) : nullptr;
  if (!row || row->getSize().ult(type->extent) ||
      !context_.hasSameUnqualifiedType(row->getElementType(), e->getType()->getPointeeType()))
    return value(e);
  return through(element(value(rows), literal("0", context_.IntTy)), [&](ir::Expr* one) {
    return fn_.make(ir::Expr::Cast, types_.get(e->getType()), "", {one});
  });
}

ir::Expr* Frontend::stored_lanes(const CallExpr* e, const Intrinsic& known) {
  const llvm::StringRef name = known.operation;
  if ((name != "store" && name != "storeu" && name != "stream") || e->getNumArgs() != 2 ||
      !is_pointer(e->getArg(0)) || !TypeTable::is_lanes(e->getArg(1)->getType()))
    return nullptr;
  const ir::Type* type = types_.get(e->getArg(1)->getType());
  ir::Expr* to = freeze(memory_of_lanes(e->getArg(0), type), at_, /*pointer=*/true);
  const std::vector<ir::Expr*> from = lanes(hoist(value(e->getArg(1)), at_, "lanes"));
  const std::size_t count = known.lowest ? 1 : type->extent;
  for (std::size_t k = 0; k < count; ++k)
    assign(element(to, literal(std::to_string(k), context_.IntTy)), "=", from[k], loc(e));
  return literal("0", context_.IntTy);
}

/// The square root of a number, as a call of std::sqrt.
ir::Expr* Frontend::square_root(ir::Expr* number, const CallExpr* at) {
  const QualType type = at->getType()->castAs<VectorType>()->getElementType();
  const FunctionDecl* f = lookup_.plain_definition(
      "lane_sqrt", {new (context_) OpaqueValueExpr(at->getExprLoc(), type, VK_PRValue)});
  if (!f) return nullptr;
  auto info = std::make_unique<ir::CallInfo>();
  info->name = spell_function(f, types_);
  ir::CallInfo::Arg arg;
  arg.expr = number->kind == ir::Expr::Index ? hoist(number, at_, "lane") : number;
  arg.param_type = types_.get(type);
  info->args.push_back(arg);
  return finish_call(std::move(info), f, f->getReturnType(), at, false);
}

/// The builtins behind macros of <immintrin.h> that choose lanes by constant bits; null of any other.
ir::Expr* Frontend::shuffling_builtin(const CallExpr* e, llvm::StringRef name) {
  if (!name.consume_front("__builtin_ia32_") || !TypeTable::is_lanes(e->getType())) return nullptr;
  const unsigned count = e->getNumArgs();
  const std::optional<llvm::APSInt> last =
      count ? e->getArg(count - 1)->getIntegerConstantExpr(context_) : std::nullopt;
  if (!last) return nullptr;
  const int bits = static_cast<int>(last->getExtValue());
  const ir::Type* type = types_.get(e->getType());
  const int n = static_cast<int>(type->extent);
  const int group = in_128_bits(type);
  std::vector<int> which;
  const auto choose = [&](const std::function<int(int)>& from) {
    for (int k = 0; k < n; ++k) which.push_back(from(k));
  };
  if (name == "shufpd" || name == "shufpd256")
    choose([&](int k) { return k / 2 * 2 + (bits >> k & 1) + (k % 2 ? n : 0); });
  else if (name == "shufps" || name == "shufps256")
    choose([&](int k) { return k / 4 * 4 + (bits >> 2 * (k % 4) & 3) + (k % 4 >= 2 ? n : 0); });
  else if (name == "blendpd" || name == "blendps" || name == "blendpd256" || name == "blendps256")
    choose([&](int k) { return bits >> k & 1 ? k + n : k; });
  else if (name == "vpermilpd" || name == "vpermilpd256")
    choose([&](int k) { return k / 2 * 2 + (bits >> k & 1); });
  else if (name == "vpermilps" || name == "vpermilps256")
    choose([&](int k) { return k / 4 * 4 + (bits >> 2 * (k % 4) & 3); });
  else if (name == "permdf256")
    choose([&](int k) { return bits >> 2 * k & 3; });
  else if (name == "vextractf128_pd256" || name == "vextractf128_ps256")
    choose([&](int k) { return (bits & 1) * n + k; });
  else if (name == "vinsertf128_pd256" || name == "vinsertf128_ps256")
    choose([&](int k) { return k / group == (bits & 1) ? n + k % group : k; });
  else if (name == "vperm2f128_pd256" || name == "vperm2f128_ps256")
    choose([&](int k) {
      const int half = bits >> 4 * (k / group) & 15;
      return half & 8 ? -1 : (half & 3) * group + k % group;
    });
  else
    return nullptr;
  std::vector<ir::Expr*> operands = values({e->getArgs(), count - 1});
  return shuffled(type, operands, which);
}

}  // namespace clad
