#include "types.h"

#include "ast_visitor.h"
#include "compat.h"
#include "frontend.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/QualTypeNames.h"

using namespace clang;

namespace clad {
namespace {

/// Whether there are literals of the type.
bool has_literals(const BuiltinType* type) {
  switch (type->getKind()) {
    case BuiltinType::Bool:
    case BuiltinType::Int:
    case BuiltinType::UInt:
    case BuiltinType::Long:
    case BuiltinType::ULong:
    case BuiltinType::LongLong:
    case BuiltinType::ULongLong:
      return true;
    default:
      return false;
  }
}

/// The anonymous namespace that declares it, where the namespace around that has the name as well.
const NamespaceDecl* outside_of_anonymous(const NamedDecl* decl) {
  const auto* space = dyn_cast<NamespaceDecl>(decl->getDeclContext()->getRedeclContext());
  if (!space || !space->isAnonymousNamespace() || !decl->getDeclName()) return nullptr;
  return space->getParent()->getRedeclContext()->lookup(decl->getDeclName()).empty() ? nullptr : space;
}

/// Whether a function or a variable has the name too, as with stat() and struct stat, or that of a class
/// around it.
bool is_hidden(const TagDecl* tag) {
  if (outside_of_anonymous(tag)) return true;
  const auto found = tag->getDeclContext()->getRedeclContext()->lookup(tag->getDeclName());
  const auto* outer = dyn_cast<TagDecl>(tag->getDeclContext());
  return std::any_of(found.begin(), found.end(),
                     [](const NamedDecl* d) { return isa<ValueDecl, FunctionTemplateDecl>(d); }) ||
         (outer && is_hidden(outer));
}

/// Finds in a type what cannot be spelled, local classes, those without a name or with a name that means
/// something else; and classes of a namespace in a pack of arguments, which Clang prints without it; and
/// numbers, functions and objects that are arguments, which it rounds, or prints as what is none of them.
struct UnnameableFinder : AstVisitor {
  bool found = false, packed = false, rounded = false;
  int packs = 0;
  bool VisitTagType(TagType* type) override {
    const TagDecl* decl = type->getDecl();
    found |= decl->getParentFunctionOrMethod() != nullptr || !decl->getDeclName() || is_hidden(decl);
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
    if (arg.getKind() == TemplateArgument::Integral) {
      const auto* type = dyn_cast<BuiltinType>(arg.getIntegralType().getCanonicalType().getTypePtr());
      rounded |= type && !has_literals(type);
    }
    if (arg.getKind() == TemplateArgument::Declaration) {
      rounded |= isa<TemplateParamObjectDecl, FunctionDecl>(arg.getAsDecl());
      const auto* method = dyn_cast<CXXMethodDecl>(arg.getAsDecl());
      found |= method && method->isLambdaStaticInvoker();
    }
    if (arg.getKind() != TemplateArgument::Pack) return;
    ++packs;
    for (const TemplateArgument& inner : arg.getPackAsArray()) visit(inner);
    --packs;
  }
};

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

}  // namespace

TypeTable::TypeTable(Sema& sema) : sema_(sema), context_(sema.Context), policy_(context_.getLangOpts()) {
  policy_.FullyQualifiedName = true;
  policy_.SuppressUnwrittenScope = true;
  policy_.Bool = true;
  policy_.SuppressTagKeyword = true;
  policy_.AnonymousTagLocations = false;
  policy_.SuppressDefaultTemplateArgs = true;
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

bool TypeTable::is_lanes(QualType type) {
  const auto* lanes = type.getNonReferenceType()->getAs<VectorType>();
  return lanes && !isa<ExtVectorType>(lanes) && compat::is_generic(lanes) &&
         lanes->getElementType()->isRealFloatingType();
}

std::string TypeTable::spell(QualType type) {
  type = type.getCanonicalType();
  if (is_lanes(type)) {
    const QualType value = type.getNonReferenceType();
    const auto* lanes = value->castAs<VectorType>();
    return std::string(value.isConstQualified() ? "const " : "") + "clad::lanes<" +
           spell(lanes->getElementType()) + ", " + std::to_string(lanes->getNumElements()) + ">" +
           (type->isLValueReferenceType()   ? "&"
            : type->isRValueReferenceType() ? "&&"
                                            : "");
  }
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
    const CXXRecordDecl* record = value->getAsCXXRecordDecl();
    if (record && record->getIdentifier())
      base = record->getNameAsString() + "_type";
    else if (record && !record->isLambda())
      base = record->isUnion() ? "unnamed_union" : "unnamed_class";
    for (name = unique_global(base); taken(name);) name = unique_global(base);
    nameless_.emplace_back(value, name);
    TranslationUnitDecl* unit = context_.getTranslationUnitDecl();
    unit->addDecl(TypedefDecl::Create(context_, unit, SourceLocation(), SourceLocation(),
                                      &context_.Idents.get(name), context_.getTrivialTypeSourceInfo(value)));
  }
  return prefix + name + suffix;
}

std::string TypeTable::outer_name(const NamedDecl* decl) {
  const NamespaceDecl* space = outside_of_anonymous(decl);
  if (!space) return "";
  std::string& name = spaces_[space];
  if (name.empty()) {
    for (name = unique_global("clad_unnamed"); taken(name);) name = unique_global("clad_unnamed");
    TranslationUnitDecl* unit = context_.getTranslationUnitDecl();
    unit->addDecl(NamespaceAliasDecl::Create(context_, unit, SourceLocation(), SourceLocation(),
                                             &context_.Idents.get(name), NestedNameSpecifierLoc(),
                                             SourceLocation(), const_cast<NamespaceDecl*>(space)));
  }
  return name;
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
  if (!fresh) {
    unsettled_ |= in_progress_.count(it->second.get()) != 0;
    return it->second.get();
  }
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
      t.reaches_state = t.is_followed() && !t.differentiable && !type->getPointeeType().isConstQualified();
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
  } else if (is_lanes(type)) {
    const auto* lanes = type->castAs<VectorType>();
    t.kind = ir::Type::StdArray;
    t.name = spell(type);
    t.element = get(lanes->getElementType());
    t.extent = lanes->getNumElements();
    t.lanes = true;
    t.differentiable = true;
    t.zero_by_value_init = true;
  } else if (const CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    in_progress_.insert(&t);
    fill_class(t, record, type);
    in_progress_.erase(&t);
    if (in_progress_.empty() && std::exchange(unsettled_, false)) settle();
  } else {
    t.kind = ir::Type::Scalar;
    t.name = spell(type);
    t.zero_by_value_init = true;
    const auto* choice = type->getAs<EnumType>();
    if (type->isBooleanType() || (choice && !choice->getDecl()->isFixed())) {
      bool fresh = false;
      ir::Type& bits = made("clad::kept_bits<" + t.name + ">", fresh);
      bits.kind = ir::Type::Scalar;
      t.bits = &bits;
    }
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
  t.reaches_state = type->reaches_state;
  return &t;
}

const ir::Type* TypeTable::vector_of(const ir::Type* element) {
  bool fresh = false;
  const bool packed = element->name == "bool";
  ir::Type& t = made(packed ? "clad::library::bools" : "std::vector<" + element->name + ">", fresh);
  if (!fresh) return &t;
  t.kind = ir::Type::Vector;
  t.element = element;
  t.is_state = true;
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
  t.reaches_state = t.is_followed() && !t.differentiable;
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
    name =
        (element->kind == Kind::Array ? "std::type_identity_t<" + element->name + ">" : element->name) + "*";
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

}  // namespace clad
