// Variables with static storage that change while what is differentiated runs.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include "types.h"

namespace clad {

/// A global that something within reach of the differentiated functions changes is not the same in the
/// reverse sweep as when it was read. If a differentiated function names it, the IR treats it as memory of
/// the caller: what is overwritten is put back. All others are left to the functions that use them.
///
/// So are those that are only counted or written, never read, and generators of random numbers.
///
/// Which ones are named is known when everything is lowered: then it is lowered once more, until no new one
/// is.
class Globals {
 public:
  explicit Globals(TypeTable& types) : types_(types) {}

  /// Looks at a function to differentiate, and at all that it reaches.
  void reach(const clang::FunctionDecl* function);
  /// The function, and all that it reaches.
  std::set<const clang::FunctionDecl*> reached_from(const clang::FunctionDecl* function) {
    std::set<const clang::FunctionDecl*> seen;
    collect(function, seen);
    return seen;
  }
  /// A differentiated function names the variable. Whether it is treated as memory of the caller.
  bool name(const clang::VarDecl* var);
  /// From now on those named are treated so; whether there are more of them than before.
  bool track_named();
  bool tracks() const { return !tracked_.empty(); }
  struct Unconst {
    const clang::FunctionDecl* function;
    const clang::Expr* at;
    const clang::FieldDecl* member;  ///< null of a cast
  };
  /// Where functions that are reached by calls change what a caller takes to be constant, and what is read.
  /// `known`: whether a function is not looked into, as its derivative is given.
  std::vector<Unconst> unconst(llvm::function_ref<bool(const clang::FunctionDecl*)> known) const;
  /// Of those, the ones that a call of the function may change, in the order of the source; all of them where
  /// it is not known which function is called.
  std::vector<const clang::VarDecl*> changed_by(const clang::FunctionDecl* function);

  /// Parameters of type `void*` by way of which the pointers that callers pass are followed.
  std::set<const clang::ParmVarDecl*> contexts;

  /// What the body of a function names, by itself.
  struct Function {
    std::set<const clang::FunctionDecl*> names;
    std::set<const clang::VarDecl*> changed, read;
    /// Where it may change what a caller takes to be constant: by a cast that takes away a const, and not
    /// only to read, or by a mutable member that carries numbers.
    std::map<const clang::Expr*, const clang::FieldDecl*> unconst;
    std::set<const clang::FieldDecl*> read_members;  ///< of the mutable ones
    bool unknown = false;                            ///< its definition is not visible
  };

 private:
  const Function& look(const clang::FunctionDecl* function);
  void collect(const clang::FunctionDecl* function, std::set<const clang::FunctionDecl*>& seen);
  bool is_changed(const clang::VarDecl* var) const;

  TypeTable& types_;
  std::map<const clang::FunctionDecl*, Function> functions_;
  std::set<const clang::FunctionDecl*> reached_, roots_;
  std::set<const clang::VarDecl*> changed_, read_, named_, tracked_;
  bool unknown_ = false;
};

/// Whether something may be changed through a value of the type.
bool gives_access(clang::QualType type);
/// A pointer as it was before it became a `void*`.
const clang::Expr* without_void(const clang::Expr* e);
/// The cast that an address or lvalue is computed from by indices and members, if it takes away a const.
const clang::ExplicitCastExpr* unconst_in(const clang::Expr* e);

}  // namespace clad
