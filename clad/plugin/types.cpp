#include "types.h"

#include <algorithm>

#include "compat.h"
#include "frontend.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/QualTypeNames.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace clad {
namespace {

/// Finds in a type what cannot be spelled, local classes and those without a name; and classes of a namespace
/// in a pack of arguments, which Clang prints without it; and numbers and objects that are arguments, which
/// it rounds.
struct UnnameableFinder : RecursiveASTVisitor<UnnameableFinder> {
  bool found = false, packed = false, rounded = false;
  int packs = 0;
  bool VisitTagType(TagType* type) {
    const TagDecl* decl = type->getDecl();
    found |= decl->getParentFunctionOrMethod() != nullptr || !decl->getDeclName();
    packed |= packs > 0 && !decl->getDeclContext()->getRedeclContext()->isTranslationUnit();
    if (const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(decl))
      for (const TemplateArgument& arg : spec->getTemplateArgs().asArray()) visit(arg);
    for (const DeclContext* parent = decl->getDeclContext(); parent; parent = parent->getParent())
      if (const auto* outer = dyn_cast<ClassTemplateSpecializationDecl>(parent))
        for (const TemplateArgument& arg : outer->getTemplateArgs().asArray()) visit(arg);
    return true;
  }
  void visit(const TemplateArgument& arg) {
    if (arg.getKind() == TemplateArgument::Type) TraverseType(arg.getAsType().getCanonicalType());
#if CLANG_VERSION_MAJOR >= 18
    rounded |= arg.getKind() == TemplateArgument::StructuralValue;
#endif
    if (arg.getKind() == TemplateArgument::Declaration) {
      rounded |= isa<TemplateParamObjectDecl>(arg.getAsDecl());
      const auto* method = dyn_cast<CXXMethodDecl>(arg.getAsDecl());
      found |= method && method->isLambdaStaticInvoker();
    }
    if (arg.getKind() != TemplateArgument::Pack) return;
    ++packs;
    for (const TemplateArgument& inner : arg.getPackAsArray()) visit(inner);
    --packs;
  }
};

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

/// Whether `is` holds for a declaration that the unqualified name finds at file scope; what stands in
/// anonymous namespaces is spelled without them.
bool any_declaration(const DeclContext* scope, DeclarationName name,
                     llvm::function_ref<bool(const NamedDecl*)> is) {
  for (const NamedDecl* d : scope->lookup(name))
    if (is(d)) return true;
  for (const UsingDirectiveDecl* u : scope->using_directives())
    if (u->getNominatedNamespace()->isAnonymousNamespace() &&
        any_declaration(u->getNominatedNamespace(), name, is))
      return true;
  return false;
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

bool copyable(const CXXRecordDecl* record) {
  // What is not declared is deleted where objects move in a way of their own.
  const bool moves = record->hasUserDeclaredMoveConstructor() || record->hasUserDeclaredMoveAssignment();
  if (moves && !record->hasUserDeclaredCopyAssignment()) return false;
  for (const CXXConstructorDecl* ctor : record->ctors())
    if (ctor->isCopyConstructor()) return !ctor->isDeleted();
  return !record->defaultedCopyConstructorIsDeleted() && !moves;
}

TypeTable::TypeTable(Sema& sema) : sema_(sema), context_(sema.Context), policy_(context_.getLangOpts()) {
  policy_.FullyQualifiedName = true;
  policy_.SuppressUnwrittenScope = true;
  policy_.Bool = true;
  policy_.SuppressTagKeyword = true;
  policy_.AnonymousTagLocations = false;
  policy_.SuppressDefaultTemplateArgs = true;
}

bool TypeTable::is_opaque(const CXXRecordDecl* record) const {
  return compat::annotated(record, "clad::opaque");
}

std::set<const void*> TypeTable::described() const {
  std::set<const void*> out = described_;
  for (const auto* list : {&records_, &constants_})
    for (const ir::Type* t : *list) out.insert(t->decl);
  return out;
}

bool TypeTable::names_type(const std::string& name) const {
  return any_declaration(context_.getTranslationUnitDecl(), &context_.Idents.get(name),
                         [](const NamedDecl* d) {
                           return isa<TypeDecl>(d) || isa<NamespaceDecl>(d) || isa<ClassTemplateDecl>(d);
                         });
}

bool TypeTable::taken(const std::string& name) const {
  return any_declaration(context_.getTranslationUnitDecl(), &context_.Idents.get(name),
                         [](const NamedDecl*) { return true; });
}

std::string TypeTable::unique_global(const std::string& base) {
  std::string name = base;
  auto used = [&](const std::string& n) {
    for (const char* suffix : {"_state", "_fwd", "_rev", "_entry", "_code"})
      if (taken(n + suffix)) return true;
    return globals_.count(n) != 0;
  };
  for (int n = 1; used(name); ++n) name = base + "_" + std::to_string(n);
  globals_.insert(name);
  return name;
}

/// The arguments of a class template, each spelled in full; nothing where they are not all types.
std::optional<std::string> TypeTable::spell_arguments(llvm::ArrayRef<TemplateArgument> args) {
  std::string all;
  for (const TemplateArgument& arg : args) {
    std::optional<std::string> one;
    if (arg.getKind() == TemplateArgument::Type) one = spell(arg.getAsType());
    if (arg.getKind() == TemplateArgument::Pack) one = spell_arguments(arg.getPackAsArray());
    if (!one) return std::nullopt;
    all += (all.empty() || one->empty() ? "" : ", ") + *one;
  }
  return all;
}

std::string TypeTable::spell(QualType type) {
  type = type.getCanonicalType();
  UnnameableFinder finder;
  finder.TraverseType(type);
  if (!finder.found && !finder.packed && !finder.rounded)
    return TypeName::getFullyQualifiedName(type, context_, policy_, /*WithGlobalNsPrefix=*/false);
  QualType value = type.getNonReferenceType();
  std::string suffix = type->isLValueReferenceType() ? "&" : type->isRValueReferenceType() ? "&&" : "";
  if (value->isPointerType()) return spell(value->getPointeeType()) + "*" + suffix;
  std::string prefix = value.isConstQualified() ? "const " : "";
  value = value.getUnqualifiedType();
  const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(value->getAsCXXRecordDecl());
  if (spec && !finder.found && spec->getDeclContext()->getRedeclContext()->isFileContext()) {
    const auto args = spell_arguments(spec->getTemplateArgs().asArray());
    if (args || finder.rounded) {
      llvm::raw_string_ostream os(prefix);
      spec->getSpecializedTemplate()->printQualifiedName(os, policy_);
      os << (args ? "<" + *args + ">" : clad::spell_arguments(spec->getTemplateArgs().asArray(), *this))
         << suffix;
      return os.str();
    }
  }
  std::string& name = typedefs_[value.getTypePtr()];
  if (name.empty()) {
    std::string base = "local_type";
    if (const CXXRecordDecl* record = value->getAsCXXRecordDecl(); record && record->getIdentifier())
      base = record->getNameAsString() + "_type";
    for (name = unique_global(base); taken(name);) name = unique_global(base);
    nameless_.emplace_back(value, name);
    TranslationUnitDecl* unit = context_.getTranslationUnitDecl();
    unit->addDecl(TypedefDecl::Create(context_, unit, SourceLocation(), SourceLocation(),
                                      &context_.Idents.get(name), context_.getTrivialTypeSourceInfo(value)));
  }
  return prefix + name + suffix;
}

std::string TypeTable::stand_in(const VarDecl* var) {
  std::string& name = stand_ins_[var->getCanonicalDecl()];
  if (!name.empty()) return name;
  for (name = unique_global(var->getNameAsString()); taken(name);)
    name = unique_global(var->getNameAsString());
  TranslationUnitDecl* unit = context_.getTranslationUnitDecl();
  auto* decl = VarDecl::Create(context_, unit, SourceLocation(), SourceLocation(), &context_.Idents.get(name),
                               var->getType(), context_.getTrivialTypeSourceInfo(var->getType()), SC_Extern);
  decl->setTSCSpec(var->getTSCSpec());
  unit->addDecl(decl);
  statics_[decl] = var;
  return name;
}

std::string TypeTable::declare(QualType type, const std::string& name) {
  QualType value = type.getNonReferenceType();
  const bool wraps = value->isPointerType() && value->getPointeeType()->isArrayType();  // double (*m)[3]
  if (value->isArrayType() || value->isFunctionPointerType() || value->isMemberPointerType() || wraps)
    return "std::type_identity_t<" + spell(type) + "> " + name;
  return spell(type) + " " + name;
}

const ir::Type* TypeTable::get(QualType qualified) {
  QualType type = plain(qualified.getNonReferenceType()).getCanonicalType().getUnqualifiedType();
  if (type->isArrayType()) {
    Qualifiers dropped;
    type = context_.getUnqualifiedArrayType(type, dropped);
  }
  auto [it, fresh] = table_.try_emplace(type.getTypePtr());
  if (!fresh) return it->second.get();
  it->second = std::make_unique<ir::Type>();
  ir::Type& t = *it->second;
  if (type->isVoidType()) {
    t.kind = ir::Type::Void;
    t.name = "void";
  } else if (type->isRealFloatingType()) {
    t.kind = ir::Type::Real;
    t.name = spell(type);
    t.differentiable = true;
    t.zero_by_value_init = true;
  } else if (type->isPointerType()) {
    t.kind = ir::Type::Pointer;
    QualType target = type->getPointeeType();
    while (target->isPointerType()) target = target->getPointeeType();
    t.name = target->isFunctionType() ? "std::type_identity_t<" + spell(type) + ">" : spell(type);
    if (!type->isFunctionPointerType()) {
      in_progress_.insert(&t);
      t.element = get(type->getPointeeType());
      in_progress_.erase(&t);
      t.differentiable = t.element->differentiable || in_progress_.count(t.element) != 0;
      t.reaches_integers = t.element->kind == ir::Type::Scalar && !type->getPointeeType().isConstQualified();
      const bool constant = type->getPointeeType().isConstQualified() && !in_progress_.count(t.element);
      t.changes_through = t.differentiable && (!constant || t.element->changes_through);
    }
    t.zero_by_value_init = true;
  } else if (const ConstantArrayType* array = context_.getAsConstantArrayType(type)) {
    t.kind = ir::Type::Array;
    t.name = spell(type);
    t.element = get(array->getElementType());
    t.extent = array->getSize().getZExtValue();
    t.differentiable = t.element->differentiable;
    t.copies_differ = t.element->copies_differ;
    t.own_zero = t.element->own_zero;
    t.has_pointer = t.element->has_pointer || (t.element->kind == ir::Type::Pointer && t.differentiable);
    t.changes_through = t.element->changes_through;
    t.zero_by_value_init = t.element->zero_by_value_init;
    t.dynamic_shape = t.element->dynamic_shape;
  } else if (const CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    in_progress_.insert(&t);
    fill_class(t, record, type);
    in_progress_.erase(&t);
  } else {
    t.kind = ir::Type::Scalar;
    t.name = spell(type);
    t.zero_by_value_init = true;
  }
  return &t;
}

ir::Type& TypeTable::made(const std::string& name, bool& fresh) {
  std::unique_ptr<ir::Type>& slot = made_[name];
  fresh = !slot;
  if (fresh) {
    slot = std::make_unique<ir::Type>();
    slot->name = name;
    slot->zero_by_value_init = true;
  }
  return *slot;
}

const ir::Type* TypeTable::value_and_pushforward(const ir::Type* type, const ir::Type* tangent) {
  bool fresh = false;
  ir::Type& t = made("clad::ValueAndPushforward<" + type->name + ", " + tangent->name + ">", fresh);
  if (!fresh) return &t;
  t.kind = ir::Type::Record;
  t.fields = {{"value", type}, {"pushforward", tangent}};
  t.differentiable = true;
  t.default_constructible = type->default_constructible;
  t.copyable = type->copyable;
  t.zero_by_value_init = type->zero_by_value_init;
  t.dynamic_shape = type->dynamic_shape;
  t.copies_differ = type->copies_differ;
  t.own_zero = type->own_zero;
  t.has_pointer = type->has_pointer;
  t.changes_through = type->changes_through;
  t.reaches_integers = type->reaches_integers;
  return &t;
}

const ir::Type* TypeTable::vector_of(const ir::Type* element) {
  bool fresh = false;
  ir::Type& t = made("std::vector<" + element->name + ">", fresh);
  if (!fresh) return &t;
  t.kind = ir::Type::Vector;
  t.element = element;
  t.differentiable = element->differentiable;
  t.dynamic_shape = true;
  t.zero_by_value_init = element->zero_by_value_init;
  return &t;
}

const ir::Type* TypeTable::pointer_to(const ir::Type* type) {
  bool fresh = false;
  ir::Type& t = made(type->name + "*", fresh);
  if (!fresh) return &t;
  t.kind = ir::Type::Pointer;
  t.element = type;
  t.differentiable = type->differentiable;
  t.changes_through = type->differentiable;
  t.reaches_integers = type->kind == ir::Type::Scalar;
  return &t;
}

const ir::Type* TypeTable::one_hot(const ir::Type* pointer) {
  bool fresh = false;
  ir::Type& t = made("clad::one_hot<" + pointer->element->name + ">", fresh);
  t.kind = ir::Type::Pointer;
  t.element = pointer->element;
  return &t;
}

const ir::Type* TypeTable::growing(const ir::Type* element) {
  bool fresh = false;
  ir::Type& t = made("clad::growing<" + element->name + ">", fresh);
  t.kind = ir::Type::Pointer;
  t.element = element;
  return &t;
}

const ir::Type* TypeTable::directions(const ir::Type* type, std::uint64_t width) {
  using Kind = ir::Type::Kind;
  if (type->kind == Kind::Record && type->name.starts_with("clad::ValueAndPushforward<")) {
    const ir::Type* value = directions(type->fields[0].type, width);
    const ir::Type* pushforward = directions(type->fields[1].type, width);
    return value && pushforward ? value_and_pushforward(value, pushforward) : nullptr;
  }
  if (type->kind != Kind::Real && !type->element) return nullptr;
  const ir::Type* element = type->element ? directions(type->element, width) : nullptr;
  if (type->element && !element) return nullptr;
  std::string name;
  if (type->kind == Kind::Real)
    name = "clad::directions<" + type->name + ", " + std::to_string(width) + ">";
  else if (type->kind == Kind::Vector)
    name = "std::vector<" + element->name + ">";
  else if (type->kind == Kind::StdArray)
    name = "std::array<" + element->name + ", " + std::to_string(type->extent) + ">";
  else if (type->kind == Kind::Array)
    name = "std::type_identity_t<" + element->name + ">[" + std::to_string(type->extent) + "]";
  else if (type->kind == Kind::Pointer)
    name = element->name + "*";
  else
    return nullptr;
  bool fresh = false;
  ir::Type& t = made(name, fresh);
  t.kind = type->kind;
  t.element = element;
  t.extent = type->extent;
  t.dynamic_shape = type->dynamic_shape;
  return &t;
}

const ir::Type* TypeTable::nothing() { return get(context_.VoidTy); }

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
  t.copyable = copyable(record);
  if (is_opaque(record)) {
    t.kind = ir::Type::Opaque;
    opaques_.push_back(&t);
    t.differentiable = true;
    t.zero_by_value_init = true;
    return;
  }
  if (compat::annotated(record, "non_differentiable") || declared_constant(record)) return;
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  const bool of_arrays =
      spec && llvm::any_of(spec->getTemplateArgs().asArray(), [](const auto& arg) {
        return arg.getKind() == TemplateArgument::Type && is_numeric_array(arg.getAsType());
      });
  if (spec && record->isInStdNamespace() && !of_arrays) {
    const TemplateArgumentList& args = spec->getTemplateArgs();
    llvm::StringRef name = record->getName();
    bool typed = args.size() > 0 && args[0].getKind() == TemplateArgument::Type;
    if (typed && (name == "vector" || name == "array" || name == "initializer_list")) {
      t.kind = name == "vector"  ? ir::Type::Vector
               : name == "array" ? ir::Type::StdArray
                                 : ir::Type::InitializerList;
      t.element = get(args[0].getAsType());
      t.differentiable = t.element->differentiable;
      t.copies_differ = t.element->copies_differ;
      t.own_zero = t.element->own_zero;
      t.has_pointer = t.element->has_pointer || (t.element->kind == ir::Type::Pointer && t.differentiable);
      t.changes_through = t.element->changes_through;
      t.reaches_integers = t.element->reaches_integers;
      t.dynamic_shape = t.kind != ir::Type::StdArray || t.element->dynamic_shape;
      t.zero_by_value_init = t.element->zero_by_value_init;
      if (t.kind == ir::Type::StdArray) t.extent = args[1].getAsIntegral().getZExtValue();
      return;
    }
    if (fill_parts(t, spec)) return;
  }
  // Other library classes and unions cannot be reversed; what may hold differentiable data in them is
  // diagnosed where it would carry a derivative.
  const bool library = compat::in_std(record);
  if (library && record->isEmpty()) return;  // std::plus<double>, an allocator
  if (library || record->isUnion()) {
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
    if (record->isUnion())
      for (const FieldDecl* field : record->fields())
        t.differentiable |= get(field->getType())->differentiable;
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
  t.zero_by_value_init = !has_member_initializers(record) && !record->hasUserProvidedDefaultConstructor();
  auto add = [&](std::string name, QualType field, bool constant = false) {
    const ir::Type* ft = get(field);
    if (ft->kind == ir::Type::Closure && field->getAsCXXRecordDecl()->capture_size() == 0)
      table_.at(field.getCanonicalType().getUnqualifiedType().getTypePtr())->name = spell(field);
    t.fields.push_back(
        {std::move(name), ft, constant, context_.getBaseElementType(field).isConstQualified()});
    t.zero_by_value_init &= ft->zero_by_value_init;
    t.reaches_integers |= ft->reaches_integers;
    if (constant) return;
    t.differentiable |= ft->differentiable;
    t.copies_differ |= ft->copies_differ;
    t.own_zero |= ft->own_zero;
    t.dynamic_shape |= ft->dynamic_shape;
    t.has_pointer |= (ft->kind == ir::Type::Pointer && ft->differentiable) || ft->has_pointer;
    t.changes_through |= ft->changes_through;
  };
  for (const CXXBaseSpecifier& base : record->bases()) add("", base.getType());
  for (const FieldDecl* field : record->fields())
    if (!field->getDeclName() && !field->isBitField())
      t.kind = ir::Type::Other;  // members of an anonymous union or struct
  for (const FieldDecl* field : record->fields()) {
    if (!field->getDeclName()) continue;
    if (is_numeric_array(field->getType())) t.kind = ir::Type::Other;
    const bool reference = field->getType()->isReferenceType();  // has no adjoint, but a place in a list
    add(field->getNameAsString(), reference ? context_.VoidTy : field->getType(),
        compat::annotated(field, "clad::constant") || compat::annotated(field, "non_differentiable"));
  }
  add_derived(t, record);
  if (record->isAbstract()) t.copyable = false;
  const bool pair =
      compat::in_clad(record) && record->getName() == "ValueAndPushforward";  // the runtime has its fields
  if (t.differentiable && t.kind == ir::Type::Record && !pair && !described_.count(t.decl)) {
    records_.push_back(&t);
    find_own_zero(t, type);
  }
}

}  // namespace clad
