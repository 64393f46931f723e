// Clang types as ir::Type, and how they are spelled in generated code.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/PrettyPrinter.h"
#include "clang/Sema/Sema.h"
#include "ir.h"

namespace clad {

/// Whether the class has a copy constructor, whatever that does.
bool copyable(const clang::CXXRecordDecl* record);
/// Whether objects of the type can be copied, with all that they hold: a std::vector says that it can be
/// copied, whatever its elements are.
bool all_copyable(clang::QualType type);

/// Whether this is a container of the library of which no derivative is known, an iterator into one, or a
/// random distribution.
bool is_constant_class(const clang::CXXRecordDecl* record);
/// Whether a class is an unnamed union whose members have one type, so that each is another name of the
/// first; an unnamed struct, whose members are those of the class around it.
bool names_one_member(const clang::CXXRecordDecl* record);
/// Whether the members of a union are names for the numbers of its first member, which fills it: all are of
/// one type, as of `union { struct { double x, y; }; double v[2]; }`.
bool names_numbers(const clang::CXXRecordDecl* record);
bool is_transparent(const clang::FieldDecl* field);
/// The member of which the union's member is another name; any other as it is.
const clang::FieldDecl* first_name(const clang::FieldDecl* field);

class TypeTable {
 public:
  explicit TypeTable(clang::Sema& sema);

  /// The pointer that an iterator over an array, a vector or the like of numbers is, behind the same
  /// reference; of a std::valarray the std::vector that stands for it, of an element of a std::vector<bool>
  /// bool; any other type as it is. An iterator over what carries no derivative stays an object.
  clang::QualType plain(clang::QualType type);
  /// Whether the type is what a std::vector<bool> has for a reference to an element.
  static bool is_bit(clang::QualType type);
  /// Whether the class is a generator of random numbers of the library: the numbers are kept where they are
  /// needed, their source never is.
  static bool is_random(const clang::CXXRecordDecl* record);
  /// Whether the type is a std::valarray of numbers, or an expression of such.
  static bool is_numeric_array(clang::QualType type);
  /// The type as it is, but for what stands for a std::valarray.
  clang::QualType evaluated(clang::QualType type) { return is_numeric_array(type) ? plain(type) : type; }
  /// Whether the type is a smart pointer that is followed to what it owns.
  bool owns(clang::QualType type);
  /// Whether smart pointers to objects of a class without derivatives are followed: they keep the one they
  /// start with, and it is no part of a list or tree.
  bool follows_owners_of(clang::QualType type);
  /// Whether some owner of objects of the class gets another one.
  bool is_reseated(const clang::CXXRecordDecl* record);
  /// Whether the iterator counts downwards.
  static bool is_reverse(clang::QualType type);
  /// Whether values of the type are numbers side by side, as `__attribute__((vector_size(16)))` makes them.
  static bool is_lanes(clang::QualType type);
  /// The type without reference and top-level const; of an iterator, the pointer's.
  const ir::Type* get(clang::QualType type);
  /// Types that no declaration of the program need have: clad::ValueAndPushforward of a type and its
  /// tangent's, a pointer to it, void.
  const ir::Type* value_and_pushforward(const ir::Type* type, const ir::Type* tangent);
  const ir::Type* pointer_to(const ir::Type* type);
  const ir::Type* vector_of(const ir::Type* element);
  const ir::Type* nothing();
  /// The tangent of a pointer to an array of which one element is the independent variable.
  const ir::Type* one_hot(const ir::Type* pointer);
  /// The tangent of a pointer to an array of unknown length, of elements of type `element`.
  const ir::Type* growing(const ir::Type* element);
  /// The tangents of `type` in `width` directions; null where there is no such type.
  const ir::Type* directions(const ir::Type* type, std::uint64_t width);
  /// How the type is written in generated code; a type without a name gets a typedef injected into the AST.
  std::string spell(clang::QualType type);
  /// The types that got one, and their names.
  const std::vector<std::pair<clang::QualType, std::string>>& nameless() const { return nameless_; }
  /// A name for the anonymous namespace of a function or a variable, where the name alone means another
  /// outside of it; empty otherwise.
  std::string outer_name(const clang::NamedDecl* decl);
  const std::map<const clang::NamespaceDecl*, std::string>& spaces() const { return spaces_; }
  /// A name for a static variable of a function: that of a declaration injected into the AST, which
  /// parse_generated puts the variable itself in the place of.
  std::string stand_in(const clang::VarDecl* var);
  /// The declarations that stand for static variables of functions.
  const std::map<const clang::ValueDecl*, const clang::VarDecl*>& statics() const { return statics_; }
  /// A declaration of `name`, for types whose declarator wraps the name (arrays, function pointers).
  std::string declare(clang::QualType type, const std::string& name);
  const std::vector<const clang::CXXRecordDecl*>& derived_from(const clang::CXXRecordDecl* base);
  /// Whether a class of the translation unit derives from it.
  bool is_base(const clang::CXXRecordDecl* record);
  /// A polymorphic class and those that derive from it, of which an object that is referred to as one may be,
  /// derived ones first, as template arguments; empty where there is no choice.
  std::string classes_of(const ir::Type* type);
  /// Records whose fields the generated code must enumerate (`clad_fields`), in order of first use.
  const std::vector<const ir::Type*>& records() const { return records_; }
  /// Classes without derivatives that are elements of pairs and tuples.
  const std::vector<const ir::Type*>& constants() const { return constants_; }
  /// The classes of both lists, to be left out of them elsewhere once generated text has dealt with them.
  std::set<const void*> described() const;
  void leave_out(std::set<const void*> described) { described_ = std::move(described); }
  /// Classes of which the user says how a zero is made: by clad::zero_like, by clad::zero_init.
  struct OwnZero {
    const ir::Type* type;
    bool like, init;
  };
  const std::vector<OwnZero>& own_zeros() const { return own_zeros_; }
  /// Opaque classes in use.
  const std::vector<const ir::Type*>& opaques() const { return opaques_; }
  const clang::PrintingPolicy& policy() const { return policy_; }
  bool is_opaque(const clang::CXXRecordDecl* record) const;
  /// A name that no declaration of the translation unit and no generated one has yet.
  std::string unique_global(const std::string& base);
  /// Whether a spelled type may start with this name: a variable of that name would hide it.
  bool names_type(const std::string& name) const;
  /// The names given so far.
  const std::set<std::string>& names() const { return globals_; }
  void set_names(std::set<std::string> names) { globals_ = std::move(names); }
  /// Whether the user's code declares the name at file scope.
  bool taken(const std::string& name) const;

 private:
  void enlist(ir::Type& t);
  void settle();
  void fill_class(ir::Type& type, const clang::CXXRecordDecl* record, clang::QualType qualified);
  void add_derived(ir::Type& type, const clang::CXXRecordDecl* base);
  void find_downcasts();
  void each_new_declaration(const clang::Decl*& last, llvm::function_ref<void(clang::Decl*)> visit);
  void add_constants(const ir::Type* type);
  void find_own_zero(ir::Type& t, clang::QualType type);
  bool fill_parts(ir::Type& type, const clang::ClassTemplateSpecializationDecl* spec);
  std::optional<std::string> spell_arguments(llvm::ArrayRef<clang::TemplateArgument> args);
  ir::Type& made(const std::string& name, bool& fresh);

  clang::Sema& sema_;
  clang::ASTContext& context_;
  clang::PrintingPolicy policy_;
  std::map<const clang::Type*, std::unique_ptr<ir::Type>> table_;
  std::map<std::string, std::unique_ptr<ir::Type>> made_;  ///< by their names
  std::map<const clang::Type*, std::string> typedefs_;
  std::vector<std::pair<clang::QualType, std::string>> nameless_;
  std::map<const clang::NamespaceDecl*, std::string> spaces_;  ///< without names, and what they are given
  std::map<const clang::ValueDecl*, const clang::VarDecl*> statics_;
  std::map<const clang::VarDecl*, std::string> stand_ins_;
  std::vector<const ir::Type*> records_, constants_, opaques_;
  std::set<const void*> described_;  ///< their declarations
  std::vector<OwnZero> own_zeros_;
  std::set<const ir::Type*> in_progress_;  ///< classes that point to themselves
  bool unsettled_ = false;                 ///< one of them was asked for
  std::set<std::string> globals_;
  std::optional<std::vector<const clang::CXXRecordDecl*>> polymorphic_;
  std::map<const clang::CXXRecordDecl*, std::vector<const clang::CXXRecordDecl*>> derived_;
  /// The classes that user code casts references and pointers to a class to, and how far it has been looked
  /// at.
  std::map<const clang::CXXRecordDecl*, std::set<const clang::CXXRecordDecl*>> downcasts_;
  const clang::Decl* searched_ = nullptr;
  std::map<const clang::CXXRecordDecl*, bool> are_reseated_;  ///< what has been said of a class
  std::set<const clang::CXXRecordDecl*> reseated_;            ///< classes of objects whose owners get others
  const clang::Decl* reseats_searched_ = nullptr;  ///< the last declaration that was searched for them
  std::optional<std::set<const clang::CXXRecordDecl*>> bases_;
};

}  // namespace clad
