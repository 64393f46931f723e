// Pointers that are not followed, to objects without derivatives: what a call, an owner or a container
// returned. What is read behind one is kept where it is read, and what is changed there is not put back. A
// function that is reversed reads behind its parameters again, so that what it is handed must be there, and
// as it was.
#include "effects.h"
#include "frontend.h"

using namespace clang;

namespace clad {

/// What such a pointer leads to; null of any other expression.
const ir::Type* Frontend::behind_handle(ir::Expr* pointer) {
  const ir::Type* type = pointer->type;
  if (type->kind != ir::Type::Pointer || type->differentiable || !type->element || !type->element->is_class())
    return nullptr;
  if (pointer->kind == ir::Expr::AddressOf) return ir::handle_in(pointer->args[0]) ? type->element : nullptr;
  return ir::handle_in(fn_.make(ir::Expr::Deref, type->element, "", {pointer})) ? type->element : nullptr;
}

/// The class of the object that a path leads into behind a handle.
const ir::Type* Frontend::changed_behind(const ir::Expr* path) {
  const ir::Type* object = path->type;
  for (const ir::Expr* e = path; e;) {
    if (e->kind == ir::Expr::VarRef && e->var->kind == ir::Var::Alias) {
      e = e->var->path;
      continue;
    }
    if (e->type && e->type->is_class()) object = e->type;
    const bool through = (e->kind == ir::Expr::Deref || e->kind == ir::Expr::Index) && !e->args.empty() &&
                         e->args[0]->type->kind == ir::Type::Pointer;
    if (through || e->args.empty()) break;
    e = e->args[0];
  }
  return object;
}

/// Something behind a handle is changed here.
void Frontend::note_change(const ir::Expr* path) {
  if (path->type->kind == ir::Type::Pointer && path->type->element)
    changed_behind_.insert(path->type->element);
  else if (ir::handle_in(path))
    changed_behind_.insert(changed_behind(path));
}

/// A pointer that is not followed is handed to what is reversed, or is kept in an object.
void Frontend::note_handle(ir::Expr* pointer, SourceLocation at) {
  const ir::Type* object = behind_handle(pointer);
  if (!object) return;
  const auto* record = static_cast<const CXXRecordDecl*>(object->decl);
  if (record && types_.is_reseated(record)) {
    fail(at, "cannot differentiate what a pointer to '" + object->name +
                 "' is given to here: its owner gets other objects, so that this one may be gone; pass a "
                 "reference to a constant, or let one owner keep it");
    return;
  }
  handed_.emplace_back(object, at);
}

static bool overlap(const ir::Type* a, const ir::Type* b) {
  const auto holds = [](const auto& self, const ir::Type* whole, const ir::Type* part,
                        std::set<const ir::Type*>& seen) -> bool {
    if (whole == part) return true;
    if (!seen.insert(whole).second || whole->kind == ir::Type::Pointer) return false;
    if (whole->element && self(self, whole->element, part, seen)) return true;
    return llvm::any_of(whole->fields, [&](const ir::Field& f) { return self(self, f.type, part, seen); });
  };
  std::set<const ir::Type*> one, other;
  return holds(holds, a, b, one) || holds(holds, b, a, other);
}

/// What is behind a handle may not be changed by one statement and read again by what another one calls.
void Frontend::check_handles() {
  for (const auto& [object, at] : handed_)
    if (llvm::any_of(changed_behind_, [&, o = object](const ir::Type* t) { return overlap(o, t); })) {
      fail(at, "cannot differentiate this call: what it is given a pointer to, an object of '" +
                   object->name +
                   "', is changed elsewhere through a pointer that is not followed; pass a reference to a "
                   "constant");
      return;
    }
}

}  // namespace clad
