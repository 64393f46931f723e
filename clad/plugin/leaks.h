// Where a number that depends on the parameters is put into something that carries no derivative, and read
// back.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "diagnose.h"
#include "request.h"

namespace clad {

/// The gate that no number passes without its derivative. A value that depends on the parameters may be
/// turned into text, bytes, an element of a std::map or a global: the program prints it, counts it, keeps it
/// for later. But a number that is made from those again has lost its derivative, and that is an error where
/// it is made.
///
/// The program is seen as a graph: its variables, members, and results of functions are the nodes, and an
/// edge leads from one to another that is given its value. It says nothing about order, about which of two
/// objects of a class is meant, or which call of a function.
class Leaks {
 public:
  using Functions = std::set<const clang::FunctionDecl*>;

  /// `known`: whether a function is not looked into, as its derivative is given.
  /// `reached`: the functions that the request's may call.
  /// `contexts`: parameters of type `void*` that are followed.
  Leaks(const Request& request, Functions reached, const std::set<const clang::ParmVarDecl*>& contexts,
        llvm::function_ref<bool(const clang::FunctionDecl*)> known);
  /// Reports each number that is made from what lost its derivative.
  void report(Diagnose& diagnose);

 private:
  using Node = clang::Decl;  ///< a variable, a member, or a function, which is its result
  struct Item {
    const Node* node;
    bool lost;  ///< on the way from there it was something without a derivative
    auto operator<=>(const Item&) const = default;
  };
  using Items = std::set<Item>;
  /// A node; of a parameter by way of which its argument is changed also what is written to it, so that the
  /// arguments of one call are not those of another.
  using Place = std::pair<const Node*, bool>;
  struct Reading {
    clang::SourceLocation at;
    bool lost;
  };

  static clang::QualType type_of(const Node* node);
  /// The standard library, and what headers of C define: these functions are not looked into.
  static bool is_of_library(const clang::Decl* decl);
  static bool is_mixed(const clang::RecordDecl* record);
  void depend(const Request& request);  ///< marks what is differentiated with respect to
  std::string described(const Item& item) const;
  bool carries(clang::QualType type) const;
  bool carries(const Node* node) const;
  bool loses(const Item& item) const;
  static Items lost(Items items);
  static void add(Items& to, const Items& from) { to.insert(from.begin(), from.end()); }

  // Walks over functions, which make the graph.
  void build(const clang::FunctionDecl* function);
  void begin_classes_in(clang::QualType type);
  /// An argument of a function that constructs objects with it.
  struct Given {
    clang::QualType type;
    Items items;
    std::optional<unsigned> index;  ///< of the constructor's parameter, if it is handed on as it is
  };
  void construct(clang::QualType type, llvm::ArrayRef<Given> given, clang::SourceLocation at);
  void construct(const clang::CXXRecordDecl* record, llvm::ArrayRef<Given> given, clang::SourceLocation at);
  void walk(const clang::Stmt* s);
  void declare(const clang::VarDecl* var);
  void initialize(const Node* to, clang::QualType type, const clang::Expr* init);
  void parts(clang::QualType type, Items& to, std::set<const clang::CXXRecordDecl*>& seen);
  // What the value of an expression depends on; edges for what it changes are made on the way.
  Items whole(const clang::Expr* e);
  const Items& items(const clang::Expr* e);
  Items find(const clang::Expr* e);
  Items of_member(const clang::MemberExpr* e);
  void join_names(const clang::FieldDecl* field);
  Items of_member_pointed(const clang::BinaryOperator* e);
  Items of_cast(const clang::CastExpr* e);
  Items of_binary(const clang::BinaryOperator* e);
  Items of_list(const clang::InitListExpr* e);
  Items of_children(const clang::Expr* e);
  Items of_new(const clang::CXXNewExpr* e);
  Items of_call(const clang::CallExpr* e);
  Items of_construction(const clang::CXXConstructExpr* e);
  Items of_visible(const clang::FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> args,
                   const clang::Expr* object);
  bool depends_on_arguments_alone(const clang::FunctionDecl* function);
  Items of_ellipsis(const clang::FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> args);
  Items of_unknown(const clang::Expr* e, const clang::FunctionDecl* callee,
                   llvm::ArrayRef<const clang::Expr*> args, const clang::Expr* object);
  Items of_indirect(llvm::ArrayRef<const clang::Expr*> args, clang::SourceLocation at);
  Items elsewhere(const clang::Expr* object);
  std::vector<const clang::FunctionDecl*> callables(const clang::Expr* e);
  Items places(const clang::Expr* e);
  // Edges, and the places where numbers are made.
  void read(const Items& from, clang::SourceLocation at);
  Place written(const Node* node);
  void flow(const Items& from, const Items& to, clang::SourceLocation at);
  void bind(const Items& from, const Node* to, bool access, clang::SourceLocation at);
  void check(const Item& from, const Node* to, clang::SourceLocation at);
  void connect(const clang::FunctionDecl* callee, const Items& given, clang::SourceLocation at);

  const clang::SourceLocation at_;
  const Functions reached_;
  const std::set<const clang::ParmVarDecl*>& contexts_;
  llvm::function_ref<bool(const clang::FunctionDecl*)> known_;
  mutable std::map<const clang::Type*, bool> carries_;
  const clang::FunctionDecl* within_ = nullptr;  ///< the function that is being looked at
  Functions built_;
  std::set<const clang::CXXRecordDecl*> begun_;   ///< classes of which all constructors were looked at
  std::set<const clang::CXXRecordDecl*> joined_;  ///< unions of which all names are one
  std::map<const clang::Expr*, Items> items_;
  std::map<Place, std::set<Place>> edges_;
  std::map<const Node*, std::vector<Reading>> readings_;
  std::set<const Node*> global_;  ///< functions that return references to globals
  std::set<const Node*> depends_;
  std::map<const clang::FunctionDecl*, bool> pure_;
  Functions escaped_;  ///< those that somebody else may call
  Functions bound_;    ///< those of them that std::bind is given: they get other arguments than the call
  std::set<const Node*> bound_fields_;  ///< members that it is given pointers to
  Items bound_values_;                  ///< what it is given for functions that are not seen
};

}  // namespace clad
