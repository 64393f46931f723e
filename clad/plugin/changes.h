// What a function's body changes, found before it is lowered.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace clad {

struct Changes {
  std::set<const clang::ValueDecl*> modified;  ///< anywhere but in the increment of its own loop
  std::set<const clang::ValueDecl*> counters;  ///< only there
  bool resizes = false;                        ///< a vector may change its length
  bool shifts = false;                         ///< elements of a deque may get other numbers
  std::set<std::string> names;                 ///< of local variables
  /// What pointers and iterators are assigned after their declaration; a null pointer where that is unknown.
  std::map<const clang::ValueDecl*, std::vector<const clang::Expr*>> assigned;
  /// Objects with containers inside that are moved from and may be read again.
  std::set<const clang::Expr*> taken;
};

Changes changes_of(const clang::FunctionDecl* decl);
/// Of a lambda; of a generic one what any of its instances changes.
Changes changes_of(const clang::CXXRecordDecl* lambda);

/// Whether the function, whose body must be visible, does nothing with a parameter that points to numbers but
/// read them, whatever the parameter's type allows.
bool only_reads(const clang::FunctionDecl* function, unsigned parameter);

/// Whether the end of an object of the class changes what a member refers to, as that of a guard does, or
/// what one points to: not if it only counts owners, frees with the last, and nobody asks for the count.
bool ends_with_changes(const clang::CXXRecordDecl* record);
/// Whether a function that a smart pointer calls at its end may change what is read elsewhere.
bool does_more_than_free(const clang::FunctionDecl* deleter);
/// Whether a function makes or assigns a copy of an object, or moves it.
bool is_copy(const clang::CXXMethodDecl* method);
/// Whether a copy of an object calls what changes an object that a member points to.
bool copies_with_changes(const clang::CXXRecordDecl* record);

/// Whether a function that copies or moves an object may give a member another value than it had there.
bool gives_another_value(const clang::CXXMethodDecl* copy);
/// Whether a copy of an object of the class, made or assigned, may have other numbers than the object.
bool copies_differ(const clang::CXXRecordDecl* record);

/// Whether elements that a container makes by this allocator are what it was given for them.
bool constructs_plainly(clang::QualType allocator);

/// Whether an exchange of two objects of the class by its own moves, or its copies if it has none, may do
/// more than exchange their members.
bool moves_differ(const clang::CXXRecordDecl* record);

/// Whether an object of this type has a container of the library inside, which is empty once it is moved
/// from.
bool left_empty(clang::QualType type);
/// Whether it is one.
bool is_container(clang::QualType type);
/// Adds what a function moves from.
void find_moves(const clang::FunctionDecl* f, Changes& changes);

/// Whether such a value has a vector, or a deque, somewhere inside.
bool holds_vector(clang::QualType type);
bool holds_deque(clang::QualType type);

/// Reports a pointer that is used after the vector it points into has exchanged or handed over its elements.
void check_handovers(const clang::FunctionDecl* decl,
                     const std::function<void(clang::SourceLocation, const std::string&)>& report);

}  // namespace clad
