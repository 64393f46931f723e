#include "carriers.h"

#include "clang/AST/DeclTemplate.h"
#include "compat.h"
#include "frontend.h"
#include "globals.h"
#include "types.h"

using namespace clang;

namespace clad::carriers {
namespace {

/// Classes of the library whose numbers the derivatives follow. All others hold constants.
bool is_followed(const CXXRecordDecl* record) {
  if (!record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  return name.starts_with("_") || name.contains("iterator") ||
         llvm::is_contained(
             {"vector", "deque", "array", "initializer_list", "pair", "tuple", "optional", "complex", "span",
              "valarray", "unique_ptr", "shared_ptr", "weak_ptr", "reference_wrapper", "allocator"},
             name);
}

/// Streams and their buffers.
bool is_stream(const CXXRecordDecl* record) {
  llvm::StringRef name = record->getName();
  return name.consume_front("basic_") && (name.contains("stream") || name.ends_with("buf"));
}

}  // namespace

QualType behind(QualType type) {
  type = type.getNonReferenceType().getCanonicalType();
  for (;;) {
    if (type->isPointerType())
      type = type->getPointeeType();
    else if (type->isArrayType())
      type = QualType(type->getArrayElementTypeNoTypeQual(), 0);
    else
      return type.getCanonicalType().getUnqualifiedType();
  }
}

bool is_void(QualType type) { return behind(type)->isVoidType(); }

bool is_opaque(QualType type) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  return record && record->hasDefinition() && compat::annotated(record->getDefinition(), "clad::opaque");
}

QualType held_in(QualType type) {
  for (;;) {
    type = behind(type);
    const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (!spec || !compat::in_std(spec) || !is_followed(spec) || spec->getTemplateArgs().size() == 0 ||
        spec->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
      return type;
    type = spec->getTemplateArgs()[0].getAsType();
  }
}

bool is_empty(QualType type) {
  type = behind(type);
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return type->isFunctionType() || type->isMemberPointerType() ||
         (record && record->hasDefinition() &&
          (record->isLambda() || record->isEmpty() || Frontend::is_bound(type) ||
           compat::is_constant(record->getDefinition())));
}

bool is_iterator(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName().contains("iterator");
}

/// Whether nothing is changed by way of an iterator: a const_iterator, or one that goes the other way.
static bool only_reads(QualType iterator) {
  const auto* spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(iterator->getAsCXXRecordDecl());
  return spec && compat::in_std(spec) &&
         llvm::any_of(spec->getTemplateArgs().asArray(), [](const TemplateArgument& a) {
           if (a.getKind() != TemplateArgument::Type) return false;
           const QualType to = a.getAsType()->getPointeeType();
           return to.isNull() ? is_iterator(a.getAsType()) && only_reads(a.getAsType())
                              : to.isConstQualified();
         });
}

bool is_access(QualType type) {
  while (type->isArrayType()) type = QualType(type->getArrayElementTypeNoTypeQual(), 0);
  if (gives_access(type)) return true;
  if (is_iterator(type)) return !only_reads(type);
  if (type->isReferenceType()) {
    const QualType referred = type->getPointeeType().getUnqualifiedType();
    return referred->isRecordType() && is_access(referred);
  }
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !compat::in_std(record) || !record->getIdentifier()) return false;
  // A stream that is made on the buffer of another, what std::get_money makes, an element of a
  // std::vector<bool>.
  if (is_stream(record) ||
      llvm::is_contained({"_Get_money", "_Get_time", "_Bit_reference", "__bit_reference"}, record->getName()))
    return true;
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  if (!spec) return false;
  const llvm::StringRef name = spec->getName();
  const llvm::ArrayRef<TemplateArgument> args = spec->getTemplateArgs().asArray();
  if (llvm::is_contained({"span", "reference_wrapper", "shared_ptr", "weak_ptr", "mdspan"}, name))
    return !args.empty() && args[0].getKind() == TemplateArgument::Type &&
           !args[0].getAsType().isConstQualified();
  if (name.ends_with("_view") || name.ends_with("_array") || name == "subrange") return true;
  // As the std::tuple of references that std::tie makes, or a vector of pointers.
  const auto part = [](const TemplateArgument& a) {
    return a.getKind() == TemplateArgument::Type && is_access(a.getAsType());
  };
  return llvm::any_of(args, [&](const TemplateArgument& a) {
    return part(a) || (a.getKind() == TemplateArgument::Pack && llvm::any_of(a.getPackAsArray(), part));
  });
}

bool is_file(QualType type) {
  const auto* record = behind(type)->getAsRecordDecl();
  if (!record || !record->getIdentifier()) return false;
  return llvm::is_contained({"basic_ofstream", "basic_ifstream", "basic_fstream", "basic_filebuf", "_IO_FILE",
                             "directory_iterator", "recursive_directory_iterator"},
                            record->getName());
}

bool is_generator(QualType type) {
  const CXXRecordDecl* record = behind(type)->getAsCXXRecordDecl();
  return TypeTable::is_random(record) && !record->getName().ends_with("_distribution");
}

bool holds_numbers(QualType type, std::set<const CXXRecordDecl*>& seen) {
  type = behind(type);
  if (type->isRealFloatingType() || TypeTable::is_lanes(type)) return true;
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || !seen.insert(record->getDefinition()).second) return false;
  record = record->getDefinition();
  if (compat::annotated(record, "clad::opaque")) return true;
  if (compat::is_constant(record) || record->isLambda()) return false;
  const auto holds = [&](QualType part) { return holds_numbers(part, seen); };
  const auto argument = [&](const TemplateArgument& a) {
    return a.getKind() == TemplateArgument::Type && holds(a.getAsType());
  };
  if (!compat::in_std(record))
    return llvm::any_of(record->bases(),
                        [&](const CXXBaseSpecifier& base) { return holds(base.getType()); }) ||
           llvm::any_of(record->fields(), [&](const FieldDecl* field) { return holds(field->getType()); });
  const auto* spec = dyn_cast<ClassTemplateSpecializationDecl>(record);
  return spec && is_followed(record) &&
         llvm::any_of(spec->getTemplateArgs().asArray(), [&](const TemplateArgument& a) {
           return argument(a) ||
                  (a.getKind() == TemplateArgument::Pack && llvm::any_of(a.getPackAsArray(), argument));
         });
}

}  // namespace clad::carriers
