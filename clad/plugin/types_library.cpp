// Classes of the library that are pointers or records by another name, and the classes that derive from one.
#include <algorithm>

#include "ast_visitor.h"
#include "clang/AST/CXXInheritance.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Overload.h"
#include "compat.h"
#include "types.h"

using namespace clang;

namespace clad {

/// The class of an iterator or of a smart pointer, whose first argument says what it points to.
static const ClassTemplateSpecializationDecl* iterator_class(QualType type) {
  const auto* spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!spec || !spec->getIdentifier() || !compat::in_std(spec)) return nullptr;
  for (llvm::StringRef name : {"__normal_iterator", "__wrap_iter", "reverse_iterator", "move_iterator",
                               "unique_ptr", "shared_ptr", "reference_wrapper"})
    if (spec->getName() == name) return spec;
  return nullptr;
}

/// The element type of a std::valarray, or of what the library makes of expressions of them.
static QualType numeric_array_element(QualType type) {
  const auto* spec =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!spec || !spec->getIdentifier() || !compat::in_std(spec)) return {};
  const bool expression = spec->getName() == "_Expr";
  if (spec->getName() != "valarray" && !expression) return {};
  const QualType element = spec->getTemplateArgs()[expression ? 1 : 0].getAsType();
  return element->isRealFloatingType() ? element : QualType();
}

bool TypeTable::is_bit(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getIdentifier() && compat::in_std(record) &&
         (record->getName() == "_Bit_reference" || record->getName() == "__bit_reference");
}

bool TypeTable::is_random(const CXXRecordDecl* record) {
  return record && record->getIdentifier() && compat::in_std(record) &&
         (record->getName().ends_with("_engine") || record->getName().ends_with("_distribution"));
}

bool TypeTable::is_numeric_array(QualType type) { return !numeric_array_element(type).isNull(); }

QualType TypeTable::plain(QualType type) {
  if (is_bit(type)) return context_.BoolTy;
  if (const QualType element = numeric_array_element(type); !element.isNull()) {
    QualType vector = compat::vector_type(sema_, element);
    if (type.getNonReferenceType().isConstQualified()) vector.addConst();
    return type->isLValueReferenceType() ? context_.getLValueReferenceType(vector) : vector;
  }
  const ClassTemplateSpecializationDecl* spec = iterator_class(type);
  if (!spec) return type;
  QualType held = plain(spec->getTemplateArgs()[0].getAsType());
  if (spec->getName().ends_with("_ptr") || spec->getName() == "reference_wrapper") {
    const ArrayType* array = context_.getAsArrayType(held);
    held = context_.getPointerType(array ? array->getElementType() : held);
  }
  if (!held->isPointerType()) return type;
  if (spec->getName() == "move_iterator" && !held->getPointeeType()->isArithmeticType()) return type;
  const bool wrapper = spec->getName() == "reference_wrapper";
  const bool owner = spec->getName().ends_with("_ptr");
  const bool numbers = !wrapper && get(held->getPointeeType())->kind == ir::Type::Scalar;
  const bool objects = owner && get(held)->is_followed() && follows_owners_of(held->getPointeeType());
  if (!numbers && !objects && !get(held)->differentiable && !in_progress_.count(get(held))) return type;
  if (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified())
    return context_.getLValueReferenceType(held);
  return held;
}

bool TypeTable::owns(QualType type) {
  const ClassTemplateSpecializationDecl* spec = iterator_class(type);
  return spec && spec->getName().ends_with("_ptr") && get(type)->kind == ir::Type::Pointer;
}

bool TypeTable::is_reverse(QualType type) {
  const ClassTemplateSpecializationDecl* spec = iterator_class(type);
  if (!spec || (spec->getName() != "reverse_iterator" && spec->getName() != "move_iterator")) return false;
  return is_reverse(spec->getTemplateArgs()[0].getAsType()) != (spec->getName() == "reverse_iterator");
}

/// Classes of the library with parts that are named by functions or members, as a record of these.
bool TypeTable::fill_parts(ir::Type& t, const ClassTemplateSpecializationDecl* spec) {
  const TemplateArgumentList& args = spec->getTemplateArgs();
  llvm::StringRef name = spec->getName();
  std::vector<ir::Field> fields;
  if (name == "pair") {
    const QualType first = args[0].getAsType(), second = args[1].getAsType();
    fields = {{"first", get(first), false, first.isConstQualified()},
              {"second", get(second), false, second.isConstQualified()}};
  } else if (name == "complex") {
    const ir::Type* real = get(args[0].getAsType());
    fields = {{"clad::real_part", real}, {"clad::imag_part", real}};
  } else if (name == "optional") {
    fields = {{"clad::value_of", get(args[0].getAsType())}};
  } else if (name == "tuple") {
    for (const TemplateArgument& a : args[0].pack_elements()) {
      if (a.getAsType()->isReferenceType()) return false;
      fields.push_back({"std::get<" + std::to_string(fields.size()) + ">", get(a.getAsType())});
    }
  } else {
    return false;
  }
  if (name == "optional" && !fields[0].type->differentiable) return false;
  t.kind = ir::Type::Record;
  t.zero_by_value_init = name != "optional";
  t.dynamic_shape = name == "optional";
  for (const ir::Field& f : fields) {
    t.differentiable |= f.type->differentiable;
    t.dynamic_shape |= f.type->dynamic_shape;
    t.zero_by_value_init &= f.type->zero_by_value_init;
    t.has_pointer |= (f.type->kind == ir::Type::Pointer && f.type->differentiable) || f.type->has_pointer;
    t.changes_through |= f.type->changes_through;
    t.copies_differ |= f.type->copies_differ;
    t.own_zero |= f.type->own_zero;
    t.reaches_state |= f.type->reaches_state;
    if (name != "optional") t.default_constructible &= f.type->default_constructible;
  }
  if (name == "pair" && (args[0].getAsType().isConstQualified() || args[1].getAsType().isConstQualified()))
    t.default_constructible = false;  // nothing can be assigned to what a record keeps, as of a std::map
  t.fields = std::move(fields);
  if (t.differentiable)
    for (const ir::Field& f : t.fields) add_constants(f.type);
  return true;
}

/// Notes whether the user has overloads of clad::zero_like and clad::zero_init for the class.
void TypeTable::find_own_zero(ir::Type& t, QualType type) {
  const auto found = context_.getTranslationUnitDecl()->lookup(&context_.Idents.get("clad"));
  auto* space = found.empty() ? nullptr : dyn_cast<NamespaceDecl>(found.front());
  if (!space) return;
  const auto overloaded = [&](const char* name) {
    LookupResult candidates(sema_, &context_.Idents.get(name), SourceLocation(), Sema::LookupOrdinaryName);
    candidates.suppressDiagnostics();
    if (!sema_.LookupQualifiedName(candidates, space)) return false;
    clang::Expr* object =
        new (context_) OpaqueValueExpr(SourceLocation(), type.getUnqualifiedType(), VK_LValue);
    OverloadCandidateSet set(SourceLocation(), OverloadCandidateSet::CSK_Normal);
    for (auto it = candidates.begin(); it != candidates.end(); ++it) {
      NamedDecl* decl = (*it)->getUnderlyingDecl();
      if (auto* function = dyn_cast<FunctionDecl>(decl))
        sema_.AddOverloadCandidate(function, it.getPair(), {object}, set);
      else if (auto* pattern = dyn_cast<FunctionTemplateDecl>(decl))
        compat::add_template_candidate(sema_, pattern, it.getPair(), {object}, set);
    }
    OverloadCandidateSet::iterator best;
    if (set.BestViableFunction(sema_, SourceLocation(), best) != OR_Success) return false;
    const FunctionDecl* chosen = best->Function;
    if (!context_.hasSameUnqualifiedType(chosen->getParamDecl(0)->getType().getNonReferenceType(), type))
      return false;                                                      // of a base class
    const FunctionTemplateDecl* pattern = chosen->getPrimaryTemplate();  // ours is for any type
    return !pattern || !pattern->getTemplatedDecl()
                            ->getParamDecl(0)
                            ->getType()
                            .getNonReferenceType()
                            .getUnqualifiedType()
                            ->isTemplateTypeParmType();
  };
  const OwnZero own{&t, overloaded("zero_like"), overloaded("zero_init")};
  if (!own.like && !own.init) return;
  t.own_zero = true;
  t.zero_by_value_init = false;
  own_zeros_.push_back(own);
}

/// Lists the classes in it, if it carries no derivative.
void TypeTable::add_constants(const ir::Type* type) {
  if (type->differentiable) return;
  if (type->element && type->kind != ir::Type::Other) return add_constants(type->element);
  for (const ir::Field& f : type->fields)
    if (f.type->kind != ir::Type::Void) add_constants(f.type);
  if ((type->kind == ir::Type::Record || type->kind == ir::Type::Other) && !described_.count(type->decl) &&
      !llvm::is_contained(constants_, type))
    constants_.push_back(type);
}

/// The polymorphic classes of the translation unit that are `base` or derive from it, derived ones first.
const std::vector<const CXXRecordDecl*>& TypeTable::derived_from(const CXXRecordDecl* base) {
  if (!polymorphic_) {
    struct Finder : AstVisitor {
      std::vector<const CXXRecordDecl*> found;
      bool shouldVisitTemplateInstantiations() const override { return true; }
      bool VisitCXXRecordDecl(CXXRecordDecl* record) override {
        if (record->isThisDeclarationADefinition() && !record->isDependentContext() &&
            record->isPolymorphic() && !compat::in_std(record))
          found.push_back(record);
        return true;
      }
    } finder;
    finder.TraverseDecl(context_.getTranslationUnitDecl());
    polymorphic_ = std::move(finder.found);
  }
  base = base->getDefinition() ? base->getDefinition() : base;
  auto [it, fresh] = derived_.try_emplace(base);
  if (!fresh) return it->second;
  for (const CXXRecordDecl* record : *polymorphic_)
    if (record == base || record->isDerivedFrom(base)) it->second.push_back(record);
  std::reverse(it->second.begin(), it->second.end());  // a class is defined after its bases
  return it->second;
}

bool TypeTable::is_base(const CXXRecordDecl* record) {
  if (!bases_) {
    struct Finder : AstVisitor {
      std::set<const CXXRecordDecl*> found;
      bool shouldVisitTemplateInstantiations() const override { return true; }
      bool VisitCXXRecordDecl(CXXRecordDecl* record) override {
        if (!record->isThisDeclarationADefinition() || record->isDependentContext()) return true;
        for (const CXXBaseSpecifier& base : record->bases())
          if (const CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl())
            found.insert(b->getCanonicalDecl());
        return true;
      }
    } finder;
    finder.TraverseDecl(context_.getTranslationUnitDecl());
    bases_ = std::move(finder.found);
  }
  return bases_->count(record->getCanonicalDecl()) != 0;
}

/// Looks for casts to derived classes in the declarations that have been added since the last time.
void TypeTable::find_downcasts() {
  struct Finder : AstVisitor {
    std::map<const CXXRecordDecl*, std::set<const CXXRecordDecl*>>& found;
    explicit Finder(std::map<const CXXRecordDecl*, std::set<const CXXRecordDecl*>>& map) : found(map) {}
    bool shouldVisitTemplateInstantiations() const override { return true; }
    static const CXXRecordDecl* class_of(QualType type) {
      const CXXRecordDecl* record =
          (type->isPointerType() ? type->getPointeeType() : type)->getAsCXXRecordDecl();
      return record ? record->getDefinition() : nullptr;
    }
    bool VisitCastExpr(CastExpr* e) override {
      if (e->getCastKind() != CK_BaseToDerived) return true;
      const CXXRecordDecl *base = class_of(e->getSubExpr()->getType()), *to = class_of(e->getType());
      if (base && to) found[base].insert(to);
      return true;
    }
  } finder(downcasts_);
  each_new_declaration(searched_, [&](Decl* d) { finder.TraverseDecl(d); });
}

/// Calls `visit` for the declarations of the file, but not for the library's, that were added since the last
/// time; `last` says how far that was.
void TypeTable::each_new_declaration(const Decl*& last, llvm::function_ref<void(Decl*)> visit) {
  const Decl* next = last ? last->getNextDeclInContext() : nullptr;
  if (!last && !context_.getTranslationUnitDecl()->decls_empty())
    next = *context_.getTranslationUnitDecl()->decls_begin();
  for (; next; next = next->getNextDeclInContext()) {
    last = next;
    const auto* space = dyn_cast<NamespaceDecl>(next);
    const bool library = space && (space->getName() == "std" || space->getName().starts_with("__"));
    if (!library) visit(const_cast<Decl*>(next));
  }
}

bool all_copyable(QualType type) {
  std::set<const CXXRecordDecl*> seen;  // a class may hold vectors of itself
  const auto check = [&](const auto& self, QualType part) -> bool {
    const auto* record = part->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (!record || !(record = record->getDefinition()) || !seen.insert(record).second) return true;
    if (!copyable(record)) return false;
    if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
        spec && compat::in_std(record)) {
      const auto copied = [&](const TemplateArgument& a) {
        return a.getKind() != TemplateArgument::Type || self(self, a.getAsType());
      };
      return llvm::all_of(spec->getTemplateArgs().asArray(), [&](const TemplateArgument& a) {
        return a.getKind() == TemplateArgument::Pack ? llvm::all_of(a.getPackAsArray(), copied) : copied(a);
      });
    }
    if (record->hasUserDeclaredCopyConstructor() || compat::in_std(record)) return true;
    const auto of = [&](const auto& d) { return self(self, d.getType()); };
    return llvm::all_of(record->bases(), of) &&
           llvm::all_of(record->fields(), [&](const FieldDecl* f) { return of(*f); });
  };
  return check(check, type);
}

std::string TypeTable::classes_of(const ir::Type* type) {
  const auto* base = static_cast<const CXXRecordDecl*>(type->kind == ir::Type::Record ? type->decl : nullptr);
  if (!base || !(base = base->getDefinition()) || !base->isPolymorphic()) return "";
  const auto& all = derived_from(base);
  if (all.size() < 2 && !base->isAbstract()) return "";
  std::string out = type->name;
  for (const CXXRecordDecl* record : all) {
    const QualType derived = compat::record_type(context_, record);
    CXXBasePaths paths;
    const bool public_base =
        record != base && record->isDerivedFrom(base, paths) &&
        !paths.isAmbiguous(compat::record_type(context_, base)->getCanonicalTypeUnqualified()) &&
        paths.front().Access == AS_public;
    if (!public_base || record->isAbstract() || !all_copyable(derived)) continue;
    const ir::Type* t = get(derived);
    if (t->kind == ir::Type::Record && t->differentiable && (!t->has_pointer || type->has_pointer))
      out += ", " + t->name;
  }
  return out;
}

/// A reference to a polymorphic class may be one to any class that derives from it, one to a class that is
/// made for the class derived from it (`struct Disk : Shape<Disk>`) one to that, and any one to what it is
/// cast to somewhere.
void TypeTable::add_derived(ir::Type& t, const CXXRecordDecl* base) {
  const auto add_parts = [&](const auto& self, const CXXRecordDecl* derived) -> void {
    for (const FieldDecl* field : derived->fields())
      t.differentiable |= get(field->getType())->differentiable;
    for (const CXXBaseSpecifier& b : derived->bases()) {
      const CXXRecordDecl* other = b.getType()->getAsCXXRecordDecl();
      other = other ? other->getDefinition() : nullptr;
      if (!other || other == base) continue;
      if (other->isDerivedFrom(base))  // a class between the two
        self(self, other);
      else
        t.differentiable |= get(b.getType())->differentiable;
    }
  };
  const auto add = [&](const CXXRecordDecl* derived) { add_parts(add_parts, derived); };
  if (base->isPolymorphic())
    for (const CXXRecordDecl* derived : derived_from(base)) add(derived);
  if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(base))
    for (const TemplateArgument& argument : spec->getTemplateArgs().asArray()) {
      if (argument.getKind() != TemplateArgument::Type) continue;
      const CXXRecordDecl* record = argument.getAsType()->getAsCXXRecordDecl();
      const CXXRecordDecl* derived = record ? record->getDefinition() : nullptr;
      if (derived && derived->isDerivedFrom(base)) add(derived);
    }
  find_downcasts();
  std::set<const CXXRecordDecl*> seen;
  const auto add_cast = [&](const auto& self, const CXXRecordDecl* from) -> void {
    const auto it = downcasts_.find(from);
    if (it == downcasts_.end()) return;
    for (const CXXRecordDecl* derived : it->second) {
      if (!seen.insert(derived).second) continue;
      add(derived);
      self(self, derived);  // step by step
    }
  };
  add_cast(add_cast, base);
}

}  // namespace clad
