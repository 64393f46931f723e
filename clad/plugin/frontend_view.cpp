// std::span and std::initializer_list: a pointer and a length. A variable is a name for the two, a parameter
// is two.
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {
namespace {

const ClassTemplateSpecializationDecl* view_class(QualType type) {
  const auto* spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!spec || !spec->getIdentifier() || !spec->isInStdNamespace()) return nullptr;
  return spec->getName() == "span" || spec->getName() == "initializer_list" ? spec : nullptr;
}

}  // namespace

bool Frontend::is_view(QualType type) const {
  const ClassTemplateSpecializationDecl* spec = view_class(type);
  return spec && types_.get(spec->getTemplateArgs()[0].getAsType())->differentiable;
}

/// The type of the pointer to the first element.
QualType Frontend::view_pointer(QualType type) const {
  const ClassTemplateSpecializationDecl* spec = view_class(type);
  QualType element = spec->getTemplateArgs()[0].getAsType();
  if (spec->getName() == "initializer_list") element = element.withConst();
  return context_.getPointerType(element);
}

/// All elements of an array or container.
std::optional<Frontend::View> Frontend::view_of_all(ir::Expr* container, const ir::Type* pointer) {
  const QualType size_type = context_.getSizeType();
  ir::Expr* size = nullptr;
  if (container->type->kind == ir::Type::Array || container->type->kind == ir::Type::StdArray)
    size = literal(std::to_string(container->type->extent), size_type);
  else if (container->type->kind == ir::Type::Vector)
    size = fn_.make(ir::Expr::Method, types_.get(size_type), "size", {container});
  else
    return std::nullopt;
  return View{pointer_at({container, literal("0", size_type)}, pointer), size};
}

std::optional<Frontend::View> Frontend::view_of(const clang::Expr* e) {
  const clang::Expr* bare = strip(e->IgnoreParenCasts());
  const QualType type = bare->getType();
  const auto unknown = [&]() -> std::optional<View> {
    fail(e->getExprLoc(),
         "cannot differentiate this view: what it refers to is not visible here; pass a std::vector or a "
         "pointer and a length");
    return std::nullopt;
  };
  if (const auto* ref = dyn_cast<DeclRefExpr>(bare))
    if (auto it = views_.find(ref->getDecl()); it != views_.end()) return it->second;
  if (!is_view(type)) return unknown();
  if (ir::Expr* member = isa<MemberExpr>(bare) ? parts_named(bare) : nullptr)
    return View{through(member, [](ir::Expr* one) { return one->args[0]; }),
                through(member, [](ir::Expr* one) { return one->args[1]; })};
  const ir::Type* pointer = types_.get(view_pointer(type));
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(bare)) {
    ir::Expr* elements = value(list->getSubExpr());
    if (elements->kind != ir::Expr::InitList) return unknown();
    const QualType element = view_pointer(type)->getPointeeType().getUnqualifiedType();
    if (elements->args.empty())
      return View{literal("nullptr", view_pointer(type)), literal("0", context_.getSizeType())};
    elements->type = types_.get(compat::array_type(context_, element, elements->args.size()));
    return view_of_all(hoist(elements, at_, "list"), pointer);
  }
  if (const auto* made = dyn_cast<CXXConstructExpr>(bare)) {
    std::vector<const clang::Expr*> args;
    for (const clang::Expr* a : made->arguments())
      if (!isa<CXXDefaultArgExpr>(a)) args.push_back(a);
    if (args.empty())
      return View{literal("nullptr", view_pointer(type)), literal("0", context_.getSizeType())};
    if (args.size() == 1) {
      if (is_view(args[0]->getType())) return view_of(args[0]);
      ir::Expr* container = object(args[0]);
      bool known = true;
      const auto all = [&](ir::Expr* View::* part) {
        return through(container, [&](ir::Expr* one) {
          const std::optional<View> view = view_of_all(one, pointer);
          known &= view.has_value();
          return view ? (*view).*part : one;
        });
      };
      const View view{all(&View::data), all(&View::size)};
      return known ? std::optional(view) : unknown();
    }
    std::vector<ir::Expr*> operands = values(args);
    if (operands[0]->type->kind != ir::Type::Pointer) return unknown();
    if (operands[1]->type->kind == ir::Type::Pointer)
      operands[1] = pointers("-", operands[1], operands[0], types_.get(context_.getSizeType()));
    return View{operands[0], operands[1]};
  }
  const auto* part = dyn_cast<CXXMemberCallExpr>(bare);
  if (const auto* call = dyn_cast<CallExpr>(bare);
      call && call->getDirectCallee() && !compat::in_std(call->getDirectCallee())) {
    ir::Expr* made = value(call);
    if (made->kind != ir::Expr::Parts || made->args.size() != 2) return unknown();
    return View{made->args[0], made->args[1]};
  }
  if (!part || !is_view(part->getImplicitObjectArgument()->getType())) return unknown();
  std::optional<View> whole = view_of(part->getImplicitObjectArgument());
  const FunctionDecl* method = part->getDirectCallee();
  const TemplateArgumentList* fixed = method ? method->getTemplateSpecializationArgs() : nullptr;
  if (!whole || (part->getNumArgs() == 0 && !fixed)) return whole ? unknown() : whole;
  const auto number = [&](unsigned i) -> ir::Expr* {  // first(n) or first<n>()
    if (!fixed) return value(part->getArg(i));
    return literal(llvm::toString(fixed->get(i).getAsIntegral(), 10), context_.getSizeType());
  };
  ir::Expr* first = number(0);
  if (named(method, {"first"})) return View{whole->data, first};
  if (named(method, {"last"})) return View{moved(whole->data, false, sum(whole->size, true, first)), first};
  if (!named(method, {"subspan"})) return unknown();
  const bool to_end = fixed ? fixed->size() < 2 || fixed->get(1).getAsIntegral().isAllOnes()
                            : part->getNumArgs() < 2 || isa<CXXDefaultArgExpr>(part->getArg(1));
  ir::Expr* size = to_end ? sum(whole->size, true, first) : number(1);
  return View{moved(whole->data, false, first), size};
}

bool Frontend::declare_view(const VarDecl* decl) {
  if (!is_view(decl->getType()) || !decl->getInit()) return false;
  if (changes_.assigned.count(decl)) {
    fail(decl->getLocation(), "cannot differentiate through view '" + decl->getNameAsString() +
                                  "', which is assigned; declare another one");
    return true;
  }
  if (const std::optional<View> view = fixed_view(decl->getInit())) views_[decl] = *view;
  return true;
}

/// As it is now.
std::optional<Frontend::View> Frontend::fixed_view(const clang::Expr* e) {
  const std::optional<View> view = view_of(e);
  if (!view) return view;
  ir::Expr* size = ir::is_atomic(view->size) ? view->size : hoist(view->size, at_, "size");
  if (size->kind == ir::Expr::VarRef && unstable_.count(size->var)) size = hoist(size, at_, "size");
  return View{through(view->data, [&](ir::Expr* one) { return freeze(one, at_); }), size};
}

/// What a function that is lowered in the place of its call returns; a view as its two parts. The call has
/// the type that is returned, also where it becomes part of a larger expression.
ir::Expr* Frontend::returned_value(const clang::Expr* e) {
  if (!is_view(e->getType())) {
    ir::Expr* returned = value(e);
    if (returned->kind == ir::Expr::Cast && !returned->text.empty()) returned->explicit_cast = true;
    return returned;
  }
  const std::optional<View> view = fixed_view(e);
  if (!view) return literal("0", context_.IntTy);
  return fn_.make(ir::Expr::Parts, types_.get(e->getType()), "", {view->data, view->size});
}

Frontend::View Frontend::add_view_parameter(const VarDecl* p) {
  const std::string name = p->getNameAsString().empty() ? "view" : p->getNameAsString();
  ir::Expr* data = fn_.ref(add_parameter(name, view_pointer(p->getType()), /*force_reference=*/false));
  ir::Expr* size = fn_.ref(add_parameter(name + "_size", context_.getSizeType(), /*force_reference=*/false));
  fn_.always_forward = true;
  return {data, size};
}

void Frontend::add_view_argument(ir::CallInfo& info, const View& view, QualType pointer) {
  info.lifted = true;
  ir::CallInfo::Arg data;
  data.expr = view.data;
  data.param_type = types_.get(pointer);
  data.mutable_ = !pointer->getPointeeType().isConstQualified();
  info.args.push_back(data);
  ir::CallInfo::Arg size;
  size.expr = view.size;
  size.param_type = types_.get(context_.getSizeType());
  info.args.push_back(size);
}

/// A number of elements where the program reads it: of the type that the library gives it, on which what is
/// computed from it depends.
ir::Expr* Frontend::length(ir::Expr* size, QualType type) {
  const bool typed = size->kind == ir::Expr::VarRef || size->kind == ir::Expr::Method;
  if (typed && size->type == types_.get(type)) return size;
  return fn_.cast(types_.get(type), types_.spell(type), size);
}

/// A member, or a free function like std::size, of a view.
ir::Expr* Frontend::view_part(const clang::Expr* of, llvm::StringRef name, const clang::Expr* index,
                              const clang::Expr* at) {
  std::optional<View> view = view_of(of);
  if (!view) return literal("0", context_.IntTy);
  if (name == "size" || name == "ssize") return length(view->size, at->getType());
  if (name == "empty")
    return fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                    "==", {view->size, literal("0", context_.IntTy)});
  if (name == "operator[]") return element(view->data, value(index));
  if (name == "front") return element(view->data, literal("0", context_.IntTy));
  if (name == "back") return element(moved(view->data, false, view->size), literal("-1", context_.IntTy));
  if (name == "data") return view->data;
  name.consume_front("c");
  const bool reverse = name.consume_front("r");
  if (name == "begin" || name == "end")
    return (name == "end") != reverse ? moved(view->data, false, view->size) : view->data;
  return fail(at->getExprLoc(), "cannot differentiate this use of a view; use an index");
}

}  // namespace clad
