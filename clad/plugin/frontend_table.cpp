// Arrays of pointers that stay what they are where they are declared, as in `double* rows[2] = {a, b}`: an
// element is the pointer that its index chooses.
#include "frontend.h"

using namespace clang;

namespace clad {

static constexpr unsigned kLongest = 64;  // a use compares its index with that of every element

/// The elements in the braces of an array or std::array.
static const InitListExpr* elements_of(const VarDecl* decl) {
  const auto* list = decl->getInit() ? dyn_cast<InitListExpr>(strip(decl->getInit())) : nullptr;
  if (list && list->getNumInits() == 1 && decl->getType()->isRecordType())
    if (const auto* inner = dyn_cast<InitListExpr>(list->getInit(0))) return inner;
  return list;
}

/// Takes over the declaration of such an array; false if it is something else.
bool Frontend::declare_table(const VarDecl* decl) {
  if (decl->getType()->isReferenceType() || modified(decl)) return false;
  const ir::Type* type = types_.get(decl->getType());
  const bool array = type->kind == ir::Type::Array || type->kind == ir::Type::StdArray;
  if (!array || !type->element || !is_cursor_type(type->element)) return false;
  const InitListExpr* list = elements_of(decl);
  if (!list || list->getNumInits() != type->extent || type->extent > kLongest) return false;
  std::vector<ir::Expr*> elements;
  for (const clang::Expr* init : list->inits()) {
    ir::Expr* pointer = value(init);
    elements.push_back(through(pointer, [&](ir::Expr* one) { return freeze(one, at_); }));
  }
  tables_[decl] = std::move(elements);
  return true;
}

const std::vector<ir::Expr*>* Frontend::table_of(const clang::Expr* e) const {
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
  const auto it = ref ? tables_.find(ref->getDecl()) : tables_.end();
  return it == tables_.end() ? nullptr : &it->second;
}

ir::Expr* Frontend::table_element(const std::vector<ir::Expr*>& table, ir::Expr* index) {
  std::size_t place = 0;
  if (index->kind == ir::Expr::Literal && !llvm::StringRef(index->text).rtrim("ul").getAsInteger(10, place) &&
      place < table.size())
    return table[place];
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

}  // namespace clad
