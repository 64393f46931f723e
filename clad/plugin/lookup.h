// Custom derivatives: which `f_pullback` and `f_reverse_forw` a call uses, by ordinary overload resolution.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "clang/Sema/Sema.h"
#include "ir.h"
#include "types.h"

namespace clad {

/// What the names of the derivatives of `callee` begin with.
std::string derivative_word(const clang::FunctionDecl* callee);
/// Whether the type is a clad::ValueAndAdjoint.
bool is_value_and_adjoint(clang::QualType type);

class CustomLookup {
 public:
  CustomLookup(clang::Sema& sema, TypeTable& types) : sema_(sema), context_(sema.Context), types_(types) {}

  enum Result { None, Found, Rejected };
  /// Fills the custom derivative of `call`. Rejected: a candidate is meant for this call but does not match;
  /// the reasons are in notes().
  Result find(ir::CallInfo& call, const clang::FunctionDecl* callee, bool returns_value);

  /// Fills the custom pushforward of `call`, f_pushforward(arguments, tangents). Rejected: there is one, but
  /// it returns no tangent.
  Result find_pushforward(ir::CallInfo& call, const clang::FunctionDecl* callee);

  /// The function of clad::library of that name that a library function's call with these arguments is
  /// differentiated as.
  const clang::FunctionDecl* plain_definition(const std::string& name,
                                              llvm::ArrayRef<const clang::Expr*> args);

  /// The function of std of that name for a call with these arguments.
  const clang::FunctionDecl* standard_function(const std::string& name,
                                               llvm::ArrayRef<const clang::Expr*> args);

  /// The call operator of a generic lambda for such arguments; null if it has none.
  const clang::CXXMethodDecl* call_operator(const clang::CXXRecordDecl* lambda,
                                            llvm::ArrayRef<const clang::Expr*> args);

  /// Fills what runs in place of `call` in the forward sweep, where that is in Clad's form:
  /// f_reverse_forw(arguments, adjoints), which returns a clad::ValueAndAdjoint. Rejected: there is one, but
  /// it does not match or returns something else.
  Result find_forward(ir::CallInfo& call, const clang::FunctionDecl* callee);

  /// Whether the user gives a derivative of a library function of which we have one, in forward mode or in
  /// reverse mode: a call of it then is not one of our definition.
  bool given_by_user(const clang::FunctionDecl* callee, bool forward);

  /// Whether the user has, or means, a pullback or a pushforward of `callee`.
  bool derived_by_user(const clang::FunctionDecl* callee);

  /// Whether there is a custom derivative of `callee` with one of these suffixes, or one that is meant to be.
  bool has(const clang::FunctionDecl* callee, std::initializer_list<const char*> suffixes);
  /// Whether there is a pullback, or what runs in the place of `callee` in the forward sweep.
  bool named(const clang::FunctionDecl* callee) { return has(callee, {"_pullback", "_reverse_forw"}); }

  struct Note {
    clang::SourceLocation at;
    std::string text;
  };
  const std::vector<Note>& notes() const { return notes_; }
  /// The name looked for, to name it in a message.
  const std::string& wanted() const { return wanted_; }

 private:
  struct Scope {
    clang::DeclContext* context;
    std::string qualified;  ///< with trailing "::"
  };
  std::vector<Scope> scopes(const clang::FunctionDecl* callee);
  clang::NamespaceDecl* namespace_in(clang::DeclContext* context, llvm::StringRef name);
  clang::FunctionDecl* resolve(const Scope& scope, const std::string& name,
                               llvm::ArrayRef<clang::Expr*> args);
  clang::FunctionDecl* best_of(clang::OverloadCandidateSet& set);
  std::vector<clang::Expr*> placeholders(llvm::ArrayRef<const clang::Expr*> args);
  clang::FunctionDecl* instantiated(clang::FunctionDecl* f, clang::SourceLocation at);
  void complete_result(clang::FunctionDecl* f);
  clang::Expr* placeholder(clang::QualType type, clang::ExprValueKind kind);
  /// A function that takes the arguments of a call, and then for them, or for those that carry derivatives,
  /// others of their types.
  struct Doubled {
    clang::FunctionDecl* function = nullptr;
    bool all = false;                ///< others for every argument
    bool without_const = false;      ///< which it may change
    std::string tag;                 ///< of a constructor: the type of the first argument, before all
    std::vector<clang::Expr*> args;  ///< tried last; none if no tag names the constructor's class
  };
  Doubled resolve_doubled(const Scope& scope, const std::string& name, const char* tag_name,
                          const ir::CallInfo& call, const clang::FunctionDecl* callee,
                          llvm::ArrayRef<clang::Expr*> primals);
  std::vector<clang::Expr*> primal_arguments(const ir::CallInfo& call, const clang::FunctionDecl* callee);
  clang::QualType passed_type(const clang::FunctionDecl* callee, const clang::ParmVarDecl* p);
  clang::QualType without_const(clang::QualType type);
  clang::QualType adjoint_type(clang::QualType param);
  bool is_meant(const clang::NamedDecl* candidate, const clang::FunctionDecl* callee);
  bool returns_value_and_adjoint(ir::CallInfo& call, const clang::FunctionDecl* forward,
                                 const clang::FunctionDecl* callee);
  std::vector<clang::QualType> state_types(const Scope& scope, const std::string& name,
                                           llvm::ArrayRef<clang::Expr*> args);
  clang::QualType constructor_tag(const Scope& scope, const std::string& name, const char* tag,
                                  const clang::CXXRecordDecl* of);
  void explain(const Scope& scope, const std::string& name, const clang::FunctionDecl* callee,
               llvm::ArrayRef<clang::Expr*> primals, llvm::ArrayRef<clang::Expr*> all, bool& meant);
  bool returns_tangent(ir::CallInfo& call, const clang::FunctionDecl* pushforward,
                       const clang::FunctionDecl* callee);
  bool belongs_to_overload(const clang::FunctionDecl* candidate, const clang::FunctionDecl* callee);
  bool reads_parameter(const clang::FunctionDecl* f, unsigned index) const;
  bool finish(ir::CallInfo& call, const Scope& scope, const clang::FunctionDecl* pullback,
              const clang::FunctionDecl* callee, clang::QualType state, bool adjoints_for_all,
              const std::vector<clang::Expr*>& primals, const std::vector<clang::QualType>& adjoints);

  clang::Sema& sema_;
  clang::ASTContext& context_;
  TypeTable& types_;
  std::vector<Note> notes_;
  std::string wanted_;
  bool only_users_ = false;  ///< our own derivatives are not looked for
};

}  // namespace clad
