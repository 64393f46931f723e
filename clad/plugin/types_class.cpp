// How a class is seen: walked field by field, a vector, opaque, or not to be reversed.
#include "changes.h"
#include "compat.h"
#include "types.h"

#include <functional>
#include <set>

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace clad {
namespace {

bool has_member_initializers(const CXXRecordDecl* record) {
  for (const FieldDecl* field : record->fields())
    if (field->hasInClassInitializer()) return true;
  for (const CXXBaseSpecifier& base : record->bases())
    if (const CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl(); b && has_member_initializers(b))
      return true;
  return false;
}

/// Whether objects of the class cannot be assigned, as a member is const.
bool keeps_constants(const CXXRecordDecl* record) {
  const auto keeps = [](QualType type) {
    const CXXRecordDecl* part = type->getAsCXXRecordDecl();
    return type.isConstQualified() ||
           (part && part->hasDefinition() && !compat::in_std(part) && keeps_constants(part->getDefinition()));
  };
  return llvm::any_of(record->bases(), [&](const CXXBaseSpecifier& base) { return keeps(base.getType()); }) ||
         llvm::any_of(record->fields(), [&](const FieldDecl* f) {
           return keeps(record->getASTContext().getBaseElementType(f->getType()));
         });
}

bool default_constructible(const CXXRecordDecl* record) {
  if (record->isLambda() || keeps_constants(record)) return false;
  if (!record->hasDefaultConstructor()) return false;
  for (const CXXConstructorDecl* ctor : record->ctors())
    if (ctor->isDefaultConstructor())
      return !ctor->isDeleted() && !(compat::in_std(record) && ctor->getAccess() == AS_private);
  // An implicit one may not be declared yet.
  const auto made = [](QualType type) {
    const CXXRecordDecl* part = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    return !part || !part->hasDefinition() || default_constructible(part->getDefinition());
  };
  for (const CXXBaseSpecifier& base : record->bases())
    if (!made(base.getType())) return false;
  for (const FieldDecl* field : record->fields())
    if (!field->hasInClassInitializer() && !made(field->getType())) return false;
  return !record->hasUninitializedReferenceMember();
}

/// Whether a C struct of the system leads to itself by pointers, and nowhere to numbers: FILE.
bool only_chains(const CXXRecordDecl* record) {
  bool numbers = false, chains = false;
  std::set<const CXXRecordDecl*> seen;
  const std::function<void(const CXXRecordDecl*)> look = [&](const CXXRecordDecl* r) {
    if (r->hasDefinition() && seen.insert(r).second)
      for (const FieldDecl* f : r->getDefinition()->fields()) {
        QualType type = f->getType();
        while (type->isPointerType() || type->isArrayType())
          type = QualType(type->getPointeeOrArrayElementType(), 0);
        const CXXRecordDecl* part = type->getAsCXXRecordDecl();
        numbers |= type->isRealFloatingType();
        chains |= part && declaresSameEntity(part, record);
        if (part) look(part->getCanonicalDecl());
      }
  };
  look(record->getCanonicalDecl());
  return chains && !numbers;
}

/// Whether the user declared `clad::custom_derivatives::nondifferentiable(clad::Tag<T>)` of the class.
bool declared_constant(const CXXRecordDecl* record) {
  ASTContext& context = record->getASTContext();
  const DeclContext* scope = context.getTranslationUnitDecl();
  for (const char* name : {"clad", "custom_derivatives"}) {
    const auto found = scope->lookup(&context.Idents.get(name));
    const auto* space = found.empty() ? nullptr : dyn_cast<NamespaceDecl>(found.front());
    if (!space) return false;
    scope = space->getPrimaryContext();
  }
  for (const NamedDecl* d : scope->lookup(&context.Idents.get("nondifferentiable"))) {
    const auto* f = dyn_cast<FunctionDecl>(d);
    if (!f || f->getNumParams() != 1) continue;
    const auto* tag = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
        f->getParamDecl(0)->getType().getNonReferenceType()->getAsCXXRecordDecl());
    if (tag && compat::in_clad(tag) && tag->getName() == "Tag" &&
        tag->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl() == record)
      return true;
  }
  return false;
}

}  // namespace

bool is_constant_class(const CXXRecordDecl* record) {
  if (!record->getIdentifier()) return false;
  if (record->getName().contains("iterator") || record->getName().ends_with("_distribution")) return true;
  for (llvm::StringRef name : {"map", "multimap", "unordered_map", "unordered_multimap", "set", "multiset",
                               "unordered_set", "unordered_multiset", "list", "forward_list", "deque", "any",
                               "variant", "expected", "weak_ptr", "future", "shared_future", "promise"})
    if (record->getName() == name) return true;
  const auto* around = dyn_cast<ClassTemplateSpecializationDecl>(record->getDeclContext());
  return around && around->getName().ends_with("_distribution");
}

bool copyable(const CXXRecordDecl* record) {
  // What is not declared is deleted where objects move in a way of their own.
  const bool moves = record->hasUserDeclaredMoveConstructor() || record->hasUserDeclaredMoveAssignment();
  if (moves && !record->hasUserDeclaredCopyAssignment()) return false;
  bool declared = false;
  for (const CXXConstructorDecl* ctor : record->ctors()) {
    unsigned from = 0;
    if (!ctor->isCopyConstructor(from)) continue;
    declared = true;
    if (!ctor->isDeleted() && ctor->getAccess() == AS_public && (from & Qualifiers::Const)) return true;
  }
  if (declared) return false;
  return !record->defaultedCopyConstructorIsDeleted() && !moves;
}

bool TypeTable::is_opaque(const CXXRecordDecl* record) const {
  return compat::annotated(record, "clad::opaque");
}

bool names_one_member(const CXXRecordDecl* record) {
  if (!record->isUnion() || !record->isAnonymousStructOrUnion() || record->field_empty()) return false;
  const QualType first = record->field_begin()->getType();
  return llvm::all_of(record->fields(), [&](const FieldDecl* f) {
    return f->getDeclName() && record->getASTContext().hasSameType(f->getType(), first);
  });
}

/// Whether a type is made of numbers of one type, which is the first found where `number` is null.
static bool is_made_of(QualType type, QualType& number) {
  if (type.isConstQualified() || type.isVolatileQualified()) return false;
  if (const auto* array = dyn_cast<ConstantArrayType>(type.getCanonicalType()))
    return is_made_of(array->getElementType(), number);
  if (TypeTable::is_lanes(type)) return is_made_of(type->castAs<VectorType>()->getElementType(), number);
  if (type->isRealFloatingType()) {
    if (number.isNull()) number = type.getCanonicalType();
    return number == type.getCanonicalType();
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->isDependentContext() || record->isEmpty()) return false;
  record = record->getDefinition();
  return record->isTriviallyCopyable() && !compat::in_std(record) &&
         llvm::all_of(record->bases(),
                      [&](const CXXBaseSpecifier& base) { return is_made_of(base.getType(), number); }) &&
         llvm::all_of(record->fields(), [&](const FieldDecl* f) {
           return !f->isBitField() && is_made_of(f->getType(), number);
         });
}

/// How many numbers a type holds that is made of them; padding is none.
static std::uint64_t numbers_in(QualType type) {
  if (const auto* array = dyn_cast<ConstantArrayType>(type.getCanonicalType()))
    return array->getSize().getZExtValue() * numbers_in(array->getElementType());
  if (const auto* lanes = type->getAs<VectorType>()) return lanes->getNumElements();
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record) return 1;
  record = record->getDefinition();
  if (record->isUnion()) return numbers_in(record->field_begin()->getType());
  std::uint64_t count = 0;
  for (const CXXBaseSpecifier& base : record->bases()) count += numbers_in(base.getType());
  for (const FieldDecl* f : record->fields()) count += numbers_in(f->getType());
  return count;
}

bool names_numbers(const CXXRecordDecl* record) {
  if (!record->isUnion() || !record->hasDefinition() || record->isDependentContext()) return false;
  record = record->getDefinition();
  if (record->field_empty() || compat::in_std(record) || compat::is_constant(record)) return false;
  const ASTContext& context = record->getASTContext();
  const QualType whole = compat::record_type(record->getASTContext(), record);
  QualType number;
  return is_made_of(whole, number) &&
         numbers_in(whole) * context.getTypeSize(number) == context.getTypeSize(whole);
}

bool is_transparent(const FieldDecl* field) {
  const CXXRecordDecl* inside =
      field->isAnonymousStructOrUnion() ? field->getType()->getAsCXXRecordDecl() : nullptr;
  return inside && (names_one_member(inside) || names_numbers(inside) || !inside->isUnion());
}

const FieldDecl* first_name(const FieldDecl* field) {
  const auto* record = dyn_cast<CXXRecordDecl>(field->getParent());
  return record && names_one_member(record) ? *record->field_begin() : field;
}

void TypeTable::fill_class(ir::Type& t, const CXXRecordDecl* record, QualType type) {
  t.decl = record;
  t.kind = ir::Type::Other;
  t.has_end = record->hasDefinition() && !record->hasTrivialDestructor();
  if (record->isLambda()) {
    t.kind = ir::Type::Closure;  // named where it is a member
    t.name = "lambda";
    t.zero_by_value_init = true;
    return;
  }
  t.name = spell(type);
  if (!record->hasDefinition()) return;
  record = record->getDefinition();
  t.default_constructible = default_constructible(record);
  t.copyable = compat::in_std(record) ? all_copyable(type) : copyable(record);
  if (is_opaque(record)) {
    t.kind = ir::Type::Opaque;
    opaques_.push_back(&t);
    t.differentiable = true;
    t.zero_by_value_init = true;
    return;
  }
  const bool of_system = context_.getSourceManager().isInSystemHeader(record->getLocation());
  t.constant = compat::annotated(record, "non_differentiable") || declared_constant(record) ||
               (of_system && record->isCLike() && only_chains(record));
  if (t.constant) return;
  t.is_random = is_random(record);
  t.is_state = !t.is_random && (compat::in_std(record) || !of_system);
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  const bool of_arrays =
      spec && llvm::any_of(spec->getTemplateArgs().asArray(), [](const auto& arg) {
        return arg.getKind() == TemplateArgument::Type && is_numeric_array(arg.getAsType());
      });
  if (spec && record->isInStdNamespace() && !of_arrays) {
    const TemplateArgumentList& args = spec->getTemplateArgs();
    llvm::StringRef name = record->getName();
    const bool grows = name == "vector" || name == "deque";
    const bool plain = !grows || args.size() < 2 || constructs_plainly(args[1].getAsType());
    const bool typed = args.size() > 0 && args[0].getKind() == TemplateArgument::Type && plain;
    if (typed && (grows || name == "array" || name == "initializer_list")) {
      t.kind = grows ? ir::Type::Vector : name == "array" ? ir::Type::StdArray : ir::Type::InitializerList;
      t.shifts = name == "deque";
      t.element = get(args[0].getAsType());
      t.differentiable = t.element->differentiable;
      t.copies_differ = t.element->copies_differ;
      t.own_zero = t.element->own_zero;
      t.has_pointer = t.element->has_pointer || (t.element->kind == ir::Type::Pointer && t.differentiable);
      t.changes_through = t.element->changes_through;
      t.reaches_state = t.element->reaches_state;
      t.dynamic_shape = t.kind != ir::Type::StdArray || t.element->dynamic_shape;
      t.zero_by_value_init = t.element->zero_by_value_init;
      if (t.kind == ir::Type::StdArray) t.extent = args[1].getAsIntegral().getZExtValue();
      return;
    }
    if (fill_parts(t, spec)) return;
  }
  // Other library classes cannot be reversed; what may hold differentiable data in them is diagnosed where it
  // would carry a derivative. Of what is in a union it is not known: what is read there again, Leaks reports.
  const bool library = compat::in_std(record);
  if (library && record->isEmpty()) return;  // std::plus<double>, an allocator
  if (library || (record->isUnion() && !names_numbers(record))) {
    if (spec) {
      for (const TemplateArgument& arg : spec->getTemplateArgs().asArray())
        if (arg.getKind() == TemplateArgument::Type) {
          t.differentiable |= get(arg.getAsType())->differentiable;
        } else if (arg.getKind() == TemplateArgument::Pack) {
          for (const TemplateArgument& inner : arg.getPackAsArray())
            if (inner.getKind() == TemplateArgument::Type)
              t.differentiable |= get(inner.getAsType())->differentiable;
        }
    }
    // Numbers in it are constants, which is checked where it is changed.
    if (library && (t.differentiable || !spec) && is_constant_class(record)) {
      t.differentiable = false;
      t.element = get(context_.DoubleTy);
    }
    if (record->isUnion()) t.differentiable = false;
    return;
  }
  if (record->getNumVBases() > 0) {  // no field-by-field walk of a virtual base: diagnosed where it is active
    for (const FieldDecl* field : record->fields()) t.differentiable |= get(field->getType())->differentiable;
    for (const CXXBaseSpecifier& base : record->bases())
      t.differentiable |= get(base.getType())->differentiable;
    return;
  }
  t.kind = ir::Type::Record;
  t.copies_differ = copies_differ(record);
  t.own_assignment = t.copyable && llvm::any_of(record->methods(), [](const CXXMethodDecl* method) {
                       return (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) &&
                              method->isUserProvided();
                     });
  t.zero_by_value_init = !has_member_initializers(record) && !record->hasUserProvidedDefaultConstructor();
  auto add = [&](std::string name, QualType field, bool constant = false) {
    const ir::Type* ft = get(field);
    if (ft->kind == ir::Type::Closure && field->getAsCXXRecordDecl()->capture_size() == 0)
      table_.at(field.getCanonicalType().getUnqualifiedType().getTypePtr())->name = spell(field);
    t.fields.push_back(
        {std::move(name), ft, constant, context_.getBaseElementType(field).isConstQualified()});
    t.zero_by_value_init &= ft->zero_by_value_init;
    t.reaches_state |= ft->reaches_state;
    t.has_closure |= ft->kind == ir::Type::Closure || ft->has_closure;
    if (constant) return;
    t.differentiable |= ft->differentiable;
    t.copies_differ |= ft->copies_differ;
    t.own_zero |= ft->own_zero;
    t.dynamic_shape |= ft->dynamic_shape;
    t.has_pointer |= (ft->kind == ir::Type::Pointer && ft->differentiable) || ft->has_pointer;
    t.changes_through |= ft->changes_through;
  };
  for (const CXXBaseSpecifier& base : record->bases()) add("", base.getType());
  const std::function<void(const CXXRecordDecl*)> add_fields = [&](const CXXRecordDecl* of) {
    for (const FieldDecl* field : of->fields()) {
      if (of->isUnion() && field != *of->field_begin()) break;  // another name of what is in the first
      t.overlaps |= names_numbers(of) && !names_one_member(of);
      if (is_transparent(field)) add_fields(field->getType()->getAsCXXRecordDecl());
      if (!field->getDeclName() || first_name(field) != field) continue;
      if (is_numeric_array(field->getType())) t.kind = ir::Type::Other;
      const bool reference = field->getType()->isReferenceType();  // has no adjoint, but a place in a list
      add(field->getNameAsString(), reference ? context_.VoidTy : field->getType(),
          compat::is_constant(field));
    }
  };
  add_fields(record);
  add_derived(t, record);
  if (record->isAbstract()) t.copyable = false;
  enlist(t);
}

/// Has the fields of the class written.
void TypeTable::enlist(ir::Type& t) {
  const auto* record = static_cast<const CXXRecordDecl*>(t.decl);
  if (!t.differentiable || t.kind != ir::Type::Record || described_.count(record)) return;
  if (compat::in_clad(record) && record->getName() == "ValueAndPushforward") return;  // the runtime has them
  records_.push_back(&t);
  find_own_zero(t, compat::record_type(context_, record));
}

/// What a class has that a part of it, a vector of the same class, could not know yet.
void TypeTable::settle() {
  const auto take = [](ir::Type& t, const ir::Type& part, bool pointer) {
    const ir::Type before = t;
    t.differentiable |= part.differentiable;
    t.copies_differ |= part.copies_differ;
    t.own_zero |= part.own_zero;
    t.has_pointer |= part.has_pointer || (pointer && part.differentiable);
    t.changes_through |= part.changes_through;
    t.reaches_state |= part.reaches_state;
    return t.differentiable != before.differentiable || t.copies_differ != before.copies_differ ||
           t.own_zero != before.own_zero || t.has_pointer != before.has_pointer ||
           t.changes_through != before.changes_through || t.reaches_state != before.reaches_state;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [type, owned] : table_) {
      ir::Type& t = *owned;
      const bool was = t.differentiable;
      if (t.element && t.kind != ir::Type::Pointer &&
          t.kind != ir::Type::Other)  // of which it names constants
        changed |= take(t, *t.element, t.element->kind == ir::Type::Pointer);
      if (t.kind == ir::Type::Record)
        for (const ir::Field& f : t.fields)
          if (!f.constant) changed |= take(t, *f.type, f.type->kind == ir::Type::Pointer);
      if (t.decl && t.kind == ir::Type::Record && t.differentiable && !was &&
          !compat::in_std(static_cast<const CXXRecordDecl*>(t.decl)))
        enlist(t);
    }
  }
}

}  // namespace clad
