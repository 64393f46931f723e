// Arrays and vectors of pointers, or of objects that hold some: an element is the one that its index chooses.
// They stay what they are where they are declared, as in `double* rows[2] = {a, b}`, or grow one by one where
// it is known how far.
#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"

using namespace clang;

namespace clad {

static constexpr std::size_t kLongest = 64;  // a use compares its index with that of every element

/// The elements in the braces of an array, std::array or std::vector.
static const InitListExpr* elements_of(const clang::Expr* init) {
  init = strip(init);
  if (const auto* made = dyn_cast<CXXConstructExpr>(init); made && made->getNumArgs() > 0)
    init = strip(made->getArg(0));
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(init)) init = strip(list->getSubExpr());
  const auto* list = dyn_cast<InitListExpr>(init);
  if (list && list->getNumInits() == 1 && list->getType()->isRecordType())
    if (const auto* inner = dyn_cast<InitListExpr>(list->getInit(0))) return inner;
  return list;
}

/// What the elements are.
static QualType element_of(QualType type) {
  type = type.getNonReferenceType();
  if (const clang::ArrayType* array = type->getAsArrayTypeUnsafe()) return array->getElementType();
  const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  return spec ? spec->getTemplateArgs()[0].getAsType() : QualType();
}

bool Frontend::is_table(QualType type) const {
  const ir::Type* t = types_.get(type);
  if (TypeTable::is_lanes(type)) return false;
  if (t->kind != ir::Type::Array && t->kind != ir::Type::StdArray && t->kind != ir::Type::Vector)
    return false;
  return (is_cursor_type(t->element) && (t->element->differentiable || t->element->reaches_state)) ||
         in_parts(element_of(type)) || computes(element_of(type));
}

ir::Expr* Frontend::new_table(const ir::Type* type) {
  ir::Expr* table = fn_.make(ir::Expr::Parts, type);
  homes_[table] = out_;
  return table;
}

/// One more element, which starts as `init`.
void Frontend::append(ir::Expr* table, ir::Expr* element) {
  table->args.push_back(is_parts(element) && element->kind != ir::Expr::AddressOf
                            ? element
                            : through(element, [&](ir::Expr* one) { return freeze(one, at_); }));
}

/// The table that an array or vector starts as; null if it is none.
ir::Expr* Frontend::table_from(QualType type, const clang::Expr* init) {
  const ir::Type* t = types_.get(type);
  const clang::Expr* bare = init ? strip(init) : nullptr;
  if (bare && !isa<CXXConstructExpr, InitListExpr>(bare) && names_parts(bare)) {
    ir::Expr* source = value(bare);
    return bare->isPRValue() || bare->isXValue() ? source : copy_table(source, type);
  }
  const InitListExpr* list = bare ? elements_of(bare) : nullptr;
  const auto* made = dyn_cast_or_null<CXXConstructExpr>(bare);
  const bool vector = t->kind == ir::Type::Vector;
  if (!list && !(vector && made && made->getNumArgs() == 0)) return nullptr;
  if (list && (list->getNumInits() > kLongest || (!vector && list->getNumInits() != t->extent)))
    return nullptr;
  ir::Expr* table = new_table(t);
  for (unsigned i = 0; list && i < list->getNumInits(); ++i) append(table, element_value(list->getInit(i)));
  return table;
}

/// A new element: a pointer, or an object of its own.
ir::Expr* Frontend::element_value(const clang::Expr* e) {
  if (computes(e->getType())) {
    if (std::shared_ptr<Closure> function = callable(e))
      return function_part(types_.get(e->getType()), copy_closure(function, at_));
    if (is_null_function(e)) return fn_.make(ir::Expr::Parts, types_.get(e->getType()));
    return fail(e->getExprLoc(),
                "cannot differentiate through an array of functions of which one is not known here");
  }
  ir::Expr* element = value(e);
  const bool own = element->kind == ir::Expr::Parts && !e->isPRValue() && !e->isXValue();
  return own ? copy_parts(element, e->getType().getNonReferenceType()->getAsCXXRecordDecl()) : element;
}

ir::Expr* Frontend::copy_table(ir::Expr* source, QualType type) {
  if (source->kind != ir::Expr::Parts)
    return fail(
        SourceLocation::getFromRawEncoding(at_),
        "cannot differentiate a copy of an array of pointers that is chosen at run time; use if and else");
  ir::Expr* copy = new_table(source->type);
  const QualType of = element_of(type);
  for (ir::Expr* element : source->args)
    copy->args.push_back(computes(of)   ? copied_functions(element)
                         : in_parts(of) ? copy_parts(element, of->getAsCXXRecordDecl())
                                        : element);
  return copy;
}

/// Takes over the declaration of such an array; false if it is something else.
bool Frontend::declare_table(const VarDecl* decl) {
  if (decl->getType()->isReferenceType() || !is_table(decl->getType())) return false;
  const bool grows = types_.get(decl->getType())->kind == ir::Type::Vector;
  if (modified(decl) && !grows && !in_parts(element_of(decl->getType()))) return false;
  ir::Expr* table = decl->getInit() ? table_from(decl->getType(), decl->getInit()) : nullptr;
  if (!table) return false;
  homes_[table] = out_;
  bindings_[decl] = table;
  return true;
}

/// Whether such a value is a function of numbers, or has some inside.
bool Frontend::holds_functions(QualType type) const {
  std::set<const CXXRecordDecl*> seen;
  const std::function<bool(QualType)> holds = [&](QualType t) {
    if (is_lambda(t) || computes(t)) return true;
    if (is_table(t)) return holds(element_of(t));
    const CXXRecordDecl* record = in_parts(t) ? t->getAsCXXRecordDecl()->getDefinition() : nullptr;
    return record && seen.insert(record).second && llvm::any_of(record->fields(), [&](const FieldDecl* f) {
             return !f->getType()->isReferenceType() && holds(f->getType());
           });
  };
  return holds(type);
}

/// What stands for a part of a constant that `path` names and that starts as `init`: of a function what it
/// is, of an object its members, of anything else the path. Null where it is not known.
ir::Expr* Frontend::constant_part(QualType type, const clang::Expr* init, ir::Expr* path) {
  if (!holds_functions(type)) return path;
  if (const auto* member = dyn_cast<CXXDefaultInitExpr>(init)) init = member->getExpr();
  if (is_lambda(type) || computes(type)) {
    if (isa<ImplicitValueInitExpr>(init) || is_null_function(init))
      return fn_.make(ir::Expr::Parts, types_.get(type));
    if (isa<AbstractConditionalOperator>(strip(init->IgnoreParenCasts()))) return nullptr;
    std::shared_ptr<Closure> function = callable(init);
    return function ? function_part(types_.get(type), function) : nullptr;
  }
  const ir::Type* t = types_.get(type);
  if (is_table(type)) {
    const InitListExpr* list = elements_of(init);
    if (!list || list->getNumInits() > kLongest) return nullptr;
    if (t->kind != ir::Type::Vector && list->getNumInits() != t->extent) return nullptr;
    ir::Expr* table = fn_.make(ir::Expr::Parts, t);
    for (unsigned i = 0; i < list->getNumInits(); ++i) {
      ir::Expr* place = fn_.make(ir::Expr::Index, t->element, "",
                                 {path, literal(std::to_string(i), context_.getSizeType())});
      table->args.push_back(constant_part(element_of(type), list->getInit(i), place));
      if (!table->args.back()) return nullptr;
    }
    return table;
  }
  const auto* list = dyn_cast<InitListExpr>(strip(init));
  const CXXRecordDecl* record = type->getAsCXXRecordDecl()->getDefinition();
  const std::vector<const FieldDecl*> fields = named_fields(record);
  if (!list || record->getNumBases() > 0 || record->hasMutableFields() ||
      list->getNumInits() != fields.size())
    return nullptr;
  ir::Expr* parts = fn_.make(ir::Expr::Parts, t);
  for (unsigned i = 0; i < fields.size(); ++i) {
    const QualType of = fields[i]->getType();
    ir::Expr* place =
        held(fn_.make(ir::Expr::Member, types_.get(of), fields[i]->getNameAsString(), {path}), of);
    parts->args.push_back(of->isReferenceType() ? place : constant_part(of, list->getInit(i), place));
    if (!parts->args.back()) return nullptr;
  }
  return parts;
}

/// What stands for a constant of the file, of a class or of a function that has functions inside; null of any
/// other variable.
ir::Expr* Frontend::constant_table(const ValueDecl* decl) {
  const auto* var = dyn_cast<VarDecl>(decl);
  if (!var || !var->hasGlobalStorage() || !var->getType().isConstant(context_)) return nullptr;
  if (!is_table(var->getType()) && !in_parts(var->getType())) return nullptr;
  const auto [it, fresh] = constant_tables_.try_emplace(var->getCanonicalDecl(), nullptr);
  const clang::Expr* init = fresh && !var->isInvalidDecl() ? var->getAnyInitializer() : nullptr;
  if (init && holds_functions(var->getType())) it->second = constant_part(var->getType(), init, global(var));
  return it->second;
}

const std::vector<ir::Expr*>* Frontend::table_of(const clang::Expr* e) {
  const ir::Expr* table = parts_named(e);
  return table && table->kind == ir::Expr::Parts && table->type->kind != ir::Type::Record &&
                 !is_view(e->getType()) && !part_functions_.count(table)
             ? &table->args
             : nullptr;
}

ir::Expr* Frontend::table_element(const std::vector<ir::Expr*>& table, ir::Expr* index) {
  std::size_t place = 0;
  if (index->kind == ir::Expr::Literal && !llvm::StringRef(index->text).rtrim("ul").getAsInteger(10, place) &&
      place < table.size())
    return table[place];
  if (table.empty())
    return fail(SourceLocation::getFromRawEncoding(at_),
                "cannot differentiate an element of an empty vector");
  if (table.size() > 1 && !(index->kind == ir::Expr::VarRef && !unstable_.count(index->var)))
    index = hoist(index, at_, "index");
  ir::Expr* chosen = table.back();
  for (std::size_t k = table.size() - 1; k-- > 0;) {
    ir::Expr* test = fn_.make(ir::Expr::Binary, types_.get(context_.BoolTy),
                              "==", {index, literal(std::to_string(k), context_.IntTy)});
    chosen = fn_.make(ir::Expr::Conditional, chosen->type, "", {test, table[k], chosen});
  }
  return chosen;
}

/// Whether one of the objects that it may be has such a member.
bool Frontend::holds_table(const ir::Expr* object) {
  if (object->kind == ir::Expr::Conditional)
    return holds_table(object->args[1]) || holds_table(object->args[2]);
  if (object->kind == ir::Expr::AddressOf || object->kind == ir::Expr::Cast)
    return holds_table(object->args[0]);
  return object->kind == ir::Expr::Parts && llvm::any_of(object->args, [](const ir::Expr* part) {
           return part->kind == ir::Expr::Parts &&
                  (part->type->kind == ir::Type::Vector || part->type->kind == ir::Type::StdArray ||
                   part->type->kind == ir::Type::Array || holds_table(part));
         });
}

/// All elements become others; null if the expression names no such vector.
ir::Expr* Frontend::assign_table(const clang::Expr* to, const clang::Expr* from) {
  if (!table_of(to)) return nullptr;
  ir::Expr* table = parts_named(to);
  ir::Expr* other = homes_[table] == out_ ? table_from(to->getType(), from) : nullptr;
  if (!other)
    return fail(to->getExprLoc(),
                "cannot differentiate this assignment of a vector of pointers: it stands in a branch "
                "or a loop, or its elements are not listed here");
  table->args = other->args;
  return table;
}

/// A member function of such an array or vector; null if the object is none.
ir::Expr* Frontend::table_member(const CXXMemberCallExpr* e, const CXXMethodDecl* method) {
  const clang::Expr* object = e->getImplicitObjectArgument();
  if (!table_of(object)) return nullptr;
  ir::Expr* table = parts_named(object);
  const QualType size_type = context_.getSizeType();
  callees_.insert(method->getCanonicalDecl());
  if (named(method, {"size"})) return literal(std::to_string(table->args.size()) + "ul", size_type);
  if (named(method, {"empty"})) return literal(table->args.empty() ? "true" : "false", context_.BoolTy);
  if (named(method, {"at"})) return table_element(table->args, value(e->getArg(0)));
  if (named(method, {"reserve", "shrink_to_fit"})) return literal("0", context_.IntTy);
  if (named(method, {"front", "back"}) && !table->args.empty())
    return method->getName() == "front" ? table->args.front() : table->args.back();
  if (named(method, {"push_back", "emplace_back", "pop_back", "clear"})) {
    if (homes_[table] != out_ || table->args.size() >= kLongest)
      return fail(
          e->getExprLoc(),
          "cannot differentiate this '" + method->getNameAsString() +
              "' of a vector of pointers, or of objects that hold some: it stands in a branch or a loop, or "
              "there are more than " +
              std::to_string(kLongest) + "; keep the objects themselves in a vector, or indices");
    if (named(method, {"pop_back", "clear"})) {
      table->args.resize(named(method, {"clear"}) || table->args.empty() ? 0 : table->args.size() - 1);
      return literal("0", context_.IntTy);
    }
    if (named(method, {"push_back"})) {
      append(table, element_value(e->getArg(0)));
      leave_empty(e->getArg(0));
    } else {
      const std::vector<const clang::Expr*> args(e->arg_begin(), e->arg_end());
      const ExprResult made = construction(element_of(object->getType()), args, e->getExprLoc());
      if (made.isInvalid())
        return fail(e->getExprLoc(), "cannot differentiate this 'emplace_back'; use push_back");
      append(table, element_value(made.get()));
    }
    return table->args.back();
  }
  return fail(e->getExprLoc(), "cannot differentiate '" + method->getNameAsString() +
                                   "' of a vector or array of pointers; use an index, or a range-for");
}

}  // namespace clad
