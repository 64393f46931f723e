// Lowers one function from Clang's AST to the IR.
//
// Expressions become pure trees: every call, assignment and other side effect inside one is hoisted into a
// statement of its own, in evaluation order. References and never-reassigned pointers become aliases of
// lvalue paths; a lambda is not an object but the list of its captures, which are passed to its lifted body.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "changes.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Sema/Sema.h"
#include "diagnose.h"
#include "globals.h"
#include "ir.h"
#include "lookup.h"
#include "request.h"
#include "types.h"

namespace clad {

/// What a lambda object stands for: its captures, in order. What a function pointer stands for: the function,
/// or one of two.
struct Closure {
  struct Capture {
    const clang::ValueDecl* decl = nullptr;  ///< null: the object of `this`, or a copy of it
    ir::Expr* path = nullptr;
    ir::Expr* size = nullptr;          ///< of a captured view, whose pointer is `path`
    std::shared_ptr<Closure> closure;  ///< of a captured lambda
    bool by_reference = false;
    bool constant = false;  ///< the body cannot change what is captured
    bool moves = false;     ///< it is a pointer that the body moves
  };
  const clang::CXXRecordDecl* record = nullptr;
  std::vector<Capture> captures;
  const clang::FunctionDecl* function = nullptr;
  const clang::FieldDecl* member = nullptr;  ///< of a pointer to it
  ir::Expr* choice = nullptr;
  std::shared_ptr<Closure> yes, no;
  bool shared = false;  ///< std::ref(f): another name of f, and so are its copies
};

bool is_lambda(clang::QualType type);
bool moves_pointers(const Closure& closure);
bool returns_early(const clang::FunctionDecl* f);  ///< has a return statement
/// Whether evaluating the expression may change anything: it assigns, or calls what is not an accessor.
bool has_effects(const clang::Stmt* s);
/// Whether it calls this member of what a view of the library remembers, which a derivative finds again.
bool is_view_cache(const clang::Expr* e, llvm::StringRef member);
const clang::Expr* of_memory(const clang::Expr* e);
const clang::Expr* aligned(const clang::Expr* e);
bool manages_memory(const clang::FunctionDecl* f);  ///< allocates integers or frees what it is given
/// What to tell of code of a kind that nothing here knows.
std::string cannot(const char* what, llvm::StringRef kind);
bool is_whole(clang::QualType type);  ///< integers, without bool

class Frontend {
 public:
  Frontend(clang::Sema& sema, TypeTable& types, Diagnose& diagnose, CustomLookup& lookup,
           ir::Function& function, const RequestTable* uses, Globals* globals)
      : sema_(sema),
        context_(sema.Context),
        types_(types),
        diagnose_(diagnose),
        lookup_(lookup),
        fn_(function),
        uses_(uses),
        globals_(globals) {}

  /// Fills `function` from the definition `decl`, for calls that pass these functions and lambdas as its
  /// parameters. Errors are reported; the result is then not to be used.
  /// `asked`: which of the result's parameters a derivative is asked for, integers among them.
  /// `forward`: for its tangents, which the bodies of functions say where their pullbacks do not.
  /// `heir`: of a method, the class of its object, if that inherits it.
  void lower(const clang::FunctionDecl* decl, const std::vector<const clang::Decl*>& targets = {},
             const std::vector<bool>& asked = {}, bool forward = false,
             const clang::CXXRecordDecl* heir = nullptr);
  /// Functions that the primal code calls: the generated code may resolve to these and no others.
  const std::set<const clang::FunctionDecl*>& callees() const { return callees_; }
  /// Whether every return gives back the same parameter (`return *this`): the call's value is that argument.
  static std::optional<unsigned> returned_parameter(const clang::FunctionDecl* decl);
  static bool is_bound(clang::QualType type);
  static bool is_callable(clang::QualType type);

 private:
  using Frame = std::map<const clang::ValueDecl*, ir::Expr*>;
  using Closures = std::map<const clang::ValueDecl*, std::shared_ptr<Closure>>;

  // Function level: frontend.cpp
  void add_parameters(const clang::FunctionDecl* decl);
  ir::Var* add_parameter(const std::string& name, clang::QualType type, bool force_reference);
  std::shared_ptr<Closure> target(const clang::Decl* decl);
  std::shared_ptr<Closure> add_closure(const clang::CXXRecordDecl* lambda);
  ir::Expr* as_base(clang::QualType base);
  ir::Expr* numbers_of(const clang::CastExpr* e);
  bool construct_abstract(const clang::Expr* init, clang::QualType base);
  void lower_initializers(const clang::CXXConstructorDecl* ctor);
  void initialize_array(ir::Expr* target, const clang::Expr* init);
  void initialize_member(ir::Expr* member, const clang::Expr* init, const clang::CXXCtorInitializer* source);
  ir::Loc loc(const clang::Stmt* s) const { return s->getBeginLoc().getRawEncoding(); }
  ir::Loc loc(const clang::Expr* e) const { return e->getExprLoc().getRawEncoding(); }
  std::string source(clang::SourceRange range) const;
  ir::Stmt* emit(ir::Stmt::Kind kind, ir::Loc at);
  ir::Expr* fail(clang::SourceLocation at, const std::string& message);

  // Statements: frontend_stmt.cpp
  void stmt(const clang::Stmt* s);
  void block(const clang::Stmt* s, ir::Body& into);
  void declare(const clang::VarDecl* var);
  bool declare_static(const clang::VarDecl* decl);
  void check_object(clang::QualType type, clang::SourceLocation at);
  void check_deleter(const clang::CXXRecordDecl* owner, llvm::ArrayRef<const clang::Expr*> args,
                     clang::SourceLocation at);
  bool check_swap(llvm::ArrayRef<const clang::Expr*> args, clang::SourceLocation at);
  void check_elements(const clang::FunctionDecl* of_library, clang::SourceLocation at);
  void declare_bindings(const clang::DecompositionDecl* decl);
  void bind_parts(const clang::DecompositionDecl* decl, ir::Expr* whole);
  ir::Expr* name_pointer(const clang::VarDecl* decl, ir::Expr* target);
  void declare_pointer(const clang::VarDecl* var);
  void lower_if(const clang::IfStmt* s);
  void lower_for(const clang::ForStmt* s);
  /// `fixed`: what the condition compares the counter with is computed once, before the loop.
  ir::Stmt* lower_for(const clang::ForStmt* s, const std::function<void()>& body, bool fixed = false);
  void lower_while(const clang::Expr* cond, const clang::Stmt* body, bool post_test,
                   const clang::Stmt* whole);
  void lower_while_declared(const clang::WhileStmt* s);
  void lower_range_for(const clang::CXXForRangeStmt* s, const std::function<void()>& body);
  void lower_switch(const clang::SwitchStmt* s);
  void lower_return(const clang::ReturnStmt* s);
  void begin_loop(ir::Stmt* loop);
  void finish_loop(ir::Stmt* loop, const clang::Expr* cond, const std::function<void()>& body,
                   const clang::Expr* increment, bool fixed = false);
  // OpenMP: frontend_openmp.cpp
  struct Worksharing;
  void lower_directive(const clang::OMPExecutableDirective* d);
  void lower_parallel(const clang::OMPExecutableDirective* d);
  void lower_worksharing(Worksharing& loop);
  bool read_clauses(const clang::OMPExecutableDirective* d, Worksharing& loop);
  bool read_clause(const clang::OMPClause* c, Worksharing& loop);
  void make_private(Worksharing& loop);
  void begin_reductions(Worksharing& loop);
  void begin_iteration(Worksharing& loop);
  void end_reductions(Worksharing& loop, ir::Body& before);
  void reduce(Worksharing& loop);
  void check_private(const Worksharing& loop, const ir::Body& body);
  void write_back(Worksharing& loop);
  bool count_iterations(Worksharing& loop);
  void check_shared(const Worksharing& loop);

  bool moves_over_numbers(clang::QualType begin);
  bool moves_over_constants(const clang::CXXForRangeStmt* s);
  void lower_range_for_moving(const clang::CXXForRangeStmt* s, const std::string& header);
  void record_condition(ir::Stmt* s, ir::Expr* cond);
  void initialize(ir::Var* var, const clang::Expr* init, ir::Loc at);
  void start(ir::Var* var, const clang::Expr* init);

  // Expressions: frontend_expr.cpp
  ir::Expr* value(const clang::Expr* e);
  ir::Expr* value_of(const clang::StmtExpr* e);
  ir::Expr* read(const clang::Expr* e);
  void discard(const clang::Expr* e);
  ir::Expr* constant(const clang::Expr* e);
  ir::Expr* unary(const clang::UnaryOperator* e, bool used);
  ir::Expr* binary(const clang::BinaryOperator* e, bool used);
  ir::Expr* logical(const clang::BinaryOperator* e);
  ir::Expr* conditional(const clang::AbstractConditionalOperator* e);
  static bool outlives(ir::Expr* path, const ir::Body& body);
  ir::Expr* cast(const clang::CastExpr* e);
  ir::Expr* assign(ir::Expr* lhs, const std::string& op, ir::Expr* rhs, ir::Loc at);
  void start_as(ir::Expr* target, ir::Expr* value, ir::Loc at);
  ir::Var* result_of_one(const ir::Type* type, ir::Loc at);
  std::vector<ir::Expr*> values(llvm::ArrayRef<const clang::Expr*> list);
  void append_value(std::vector<ir::Expr*>& operands, const clang::Expr* e);
  std::set<const ir::Var*> changed_since(std::size_t position) const;
  ir::Expr* settle(ir::Expr* e, std::size_t& position, const std::set<const ir::Var*>& changed);
  ir::Expr* settle_path(ir::Expr* path, std::size_t& position, const std::set<const ir::Var*>& changed);
  ir::Expr* value_after(ir::Expr*& object, const clang::Expr* e);
  ir::Expr* literal(const std::string& text, clang::QualType type);
  ir::Expr* raw(const clang::Expr* e);
  ir::Expr* condition(const clang::Expr* e);

  // Vectors of the language's extension: frontend_lanes.cpp
  std::vector<ir::Expr*> lanes(ir::Expr* whole);
  ir::Expr* from_lanes(const ir::Type* type, std::vector<ir::Expr*> lanes);
  ir::Expr* each_lane(const ir::Type* type, const std::vector<ir::Expr*>& operands,
                      const std::function<ir::Expr*(const std::vector<ir::Expr*>&)>& operation);
  ir::Expr* splat(const ir::Type* type, ir::Expr* number);
  ir::Expr* lanes_binary(const clang::BinaryOperator* e);
  ir::Expr* lanes_unary(const clang::UnaryOperator* e);
  ir::Expr* lane(const clang::ArraySubscriptExpr* e);
  ir::Expr* lanes_value(const clang::Expr* e);
  ir::Expr* shuffled(const ir::Type* type, const std::vector<ir::Expr*>& operands,
                     const std::vector<int>& which);
  ir::Expr* lanes_conditional(const clang::AbstractConditionalOperator* e);
  ir::Expr* chosen_lane(const std::string& op, const std::vector<ir::Expr*>& lane);
  struct Intrinsic;
  ir::Expr* intrinsic(const clang::CallExpr* e, const clang::FunctionDecl* callee);
  ir::Expr* lanes_arithmetic(const clang::CallExpr* e, const Intrinsic& known);
  ir::Expr* paired_lanes(const clang::CallExpr* e, const Intrinsic& known);
  ir::Expr* made_lanes(const clang::CallExpr* e, const Intrinsic& known);
  ir::Expr* stored_lanes(const clang::CallExpr* e, const Intrinsic& known);
  ir::Expr* memory_of_lanes(const clang::Expr* e, const ir::Type* type);
  ir::Expr* square_root(ir::Expr* number, const clang::CallExpr* at);
  ir::Expr* shuffling_builtin(const clang::CallExpr* e, llvm::StringRef name);

  // Names: frontend_name.cpp
  ir::Expr* reference_to(const clang::DeclRefExpr* e);
  void find_numbers(const clang::FunctionDecl* decl);
  bool is_number(const clang::Expr* e) const;
  clang::QualType type_of(const clang::VarDecl* var) const;
  ir::Expr* as_number(const clang::Expr* e);
  ir::Expr* returned_number(const clang::Expr* e);
  ir::Expr* assign_number(const clang::BinaryOperator* e);
  ir::Expr* refuse_integer(const clang::Expr* e);
  ir::Expr* global(const clang::ValueDecl* decl);
  ir::Var* changing_global(const clang::VarDecl* decl, const std::string& text);
  std::vector<ir::Var*> globals_changed(const clang::FunctionDecl* callee,
                                        llvm::ArrayRef<const clang::Expr*> args);
  ir::Expr* member(const clang::MemberExpr* e);
  ir::Expr* through(ir::Expr* object, const std::function<ir::Expr*(ir::Expr*)>& select);
  ir::Expr* brought_out(ir::Expr* path, ir::Body& body);
  ir::Expr* address_of(ir::Expr* object, const ir::Type* pointer);
  ir::Expr* deref(ir::Expr* pointer);
  ir::Expr* hoist(ir::Expr* e, ir::Loc at, const char* hint = "t");
  using Reindex = std::function<ir::Expr*(ir::Expr* index, bool of_length)>;
  ir::Expr* with_indices(ir::Expr* e, const Reindex& index);
  ir::Expr* freeze(ir::Expr* e, ir::Loc at, bool pointer = false);
  ir::Expr* kept_target(ir::Expr* e, ir::Loc at, bool reads);
  void check_elements_of_deques(const ir::CallInfo& info, clang::SourceLocation at);
  bool may_dangle(const ir::Expr* path) const;
  bool copies(const ir::Expr* path, bool temporary_changes) const;

  // Pointers and iterators: frontend_pointer.cpp
  /// Where a pointer points: an element of what `base` is or points to.
  struct Position {
    ir::Expr* base;
    ir::Expr* index;
  };
  /// A pointer that moves: one of `bases`, the one that `which` says if they are several, and an index.
  struct Cursor {
    const ir::Type* type = nullptr;
    std::vector<ir::Expr*> bases;
    ir::Var* index = nullptr;
    ir::Var* which = nullptr;
    bool reverse = false;
  };
  Position position(ir::Expr* pointer, bool follow);
  ir::Expr* sum(ir::Expr* a, bool minus, ir::Expr* b);
  ir::Expr* pointer_at(const Position& at, const ir::Type* type);
  ir::Expr* moved(ir::Expr* pointer, bool minus, ir::Expr* by);
  ir::Expr* element(ir::Expr* pointer, ir::Expr* index);
  ir::Expr* pointers(const std::string& op, ir::Expr* a, ir::Expr* b, const ir::Type* result);
  ir::Expr* pointer_binary(const std::string& op, const clang::Expr* left, const clang::Expr* right,
                           clang::QualType result, bool reverse = false);
  ir::Expr* iterator_operator(const clang::CXXOperatorCallExpr* e);
  ir::Expr* iterator_function(const clang::CallExpr* e, const clang::FunctionDecl* callee);
  ir::Expr* ends(ir::Expr* container, llvm::StringRef which, clang::QualType result);
  static bool is_cursor_type(const ir::Type* t) { return t->is_followed(); }
  bool is_pointer(const clang::Expr* e) const { return is_cursor_type(types_.get(e->getType())); }
  bool names_objects(const clang::VarDecl* decl);
  bool declare_cursor(const clang::ValueDecl* decl, ir::Expr* start, bool optional = false);
  bool names_undeclared(const clang::Expr* e) const;
  bool add_range(Cursor& cursor, const clang::Expr* range);
  bool add_origins(Cursor& cursor, const clang::Expr* e, std::set<const clang::ValueDecl*>& seen);
  bool add_bases(Cursor& cursor, ir::Expr* pointer, bool fixed);
  ir::Expr* cursor_value(const Cursor& cursor, ir::Expr* index);
  const Cursor* cursor_of(const clang::Expr* e);
  bool start_cursor(Cursor& cursor, const std::string& name, ir::Expr* start);
  bool is_constructed(const ir::Expr* object) const;

  // Arrays of pointers: frontend_table.cpp
  bool is_table(clang::QualType type) const;
  static bool holds_table(const ir::Expr* object);
  ir::Expr* assign_table(const clang::Expr* to, const clang::Expr* from);
  ir::Expr* new_table(const ir::Type* type);
  void append(ir::Expr* table, ir::Expr* element);
  ir::Expr* table_from(clang::QualType type, const clang::Expr* init);
  ir::Expr* copy_table(ir::Expr* source, clang::QualType type);
  ir::Expr* element_value(const clang::Expr* e);
  ir::Expr* table_member(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  bool declare_table(const clang::VarDecl* decl);
  const std::vector<ir::Expr*>* table_of(const clang::Expr* e);
  ir::Expr* table_element(const std::vector<ir::Expr*>& table, ir::Expr* index);
  bool holds_functions(clang::QualType type) const;
  ir::Expr* constant_part(clang::QualType type, const clang::Expr* init, ir::Expr* path);
  ir::Expr* constant_table(const clang::ValueDecl* decl);
  std::optional<Position> place(const Cursor& cursor, ir::Expr* pointer);
  ir::Expr* move_cursor(const Cursor& cursor, const std::string& op, ir::Expr* by, ir::Loc at);
  ir::Expr* assign_cursor(const Cursor& cursor, ir::Expr* pointer, clang::SourceLocation at);
  ir::Expr* increment(const Cursor& cursor, bool up, bool postfix, bool used, ir::Loc at);

  // The standard library: frontend_library.cpp
  ir::Expr* library_call(const clang::Expr* at, const clang::FunctionDecl* callee,
                         std::vector<const clang::Expr*> args);
  ir::Expr* call_plain(const clang::Expr* at, const clang::FunctionDecl* plain,
                       const std::vector<const clang::Expr*>& args);
  ir::Expr* library_member(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  ir::Expr* held_in(ir::Expr* optional);
  ir::Expr* library_operator(const clang::CXXOperatorCallExpr* e);
  void convert_parts(ir::Expr* list);
  ir::Expr* construct_library(const ir::Type* type, llvm::ArrayRef<const clang::Expr*> args, ir::Loc at);
  ir::Expr* extreme(const clang::CallExpr* e, bool largest);
  ir::Expr* object(const clang::Expr* e);
  ir::Expr* part(ir::Expr* object, std::size_t i);
  static bool is_library(const ir::Type* type, llvm::StringRef name);

  // std::ranges: frontend_ranges.cpp
  const clang::Expr* call_of(const clang::FunctionDecl* f, llvm::ArrayRef<const clang::Expr*> args,
                             clang::SourceLocation at);
  const clang::Expr* standard_call(const std::string& name, llvm::ArrayRef<const clang::Expr*> args,
                                   clang::SourceLocation at);
  ir::Expr* range_call(const clang::CXXOperatorCallExpr* e, const clang::CXXMethodDecl* method);

  // std::valarray: frontend_array.cpp
  ir::Expr* no_array_operation(const clang::Expr* at);
  ir::Expr* array_operator(const clang::CXXOperatorCallExpr* e, const clang::FunctionDecl* callee);
  ir::Expr* array_member(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  ir::Expr* no_bit(const clang::ValueDecl* decl);
  ir::Expr* bit_place(const clang::Expr* e);
  ir::Expr* bit_member(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  ir::Expr* construct_array(const clang::CXXConstructExpr* e, llvm::ArrayRef<const clang::Expr*> args);

  // Objects on the heap: frontend_memory.cpp
  clang::ExprResult construction(clang::QualType type, llvm::ArrayRef<const clang::Expr*> args,
                                 clang::SourceLocation at);
  ir::Expr* allocate(const ir::Type* type, ir::Expr* init, const ir::Type* pointer, ir::Loc at);
  ir::Expr* allocate_array(clang::QualType element, ir::Expr* count, const ir::Type* pointer, ir::Loc at);
  ir::Expr* allocate(const clang::CXXNewExpr* e);
  void declare_of_variable_length(const clang::VarDecl* decl);
  ir::Expr* variable_size(const clang::UnaryExprOrTypeTraitExpr* e);
  ir::Expr* allocate(const clang::Expr* e, clang::QualType pointer);
  ir::Expr* deallocate(const clang::Expr* pointer, clang::SourceLocation at);
  ir::Expr* pointer_function(const clang::CallExpr* e, const clang::FunctionDecl* callee);
  ir::Expr* held(ir::Expr* path, clang::QualType type);
  void leave_empty(const clang::Expr* moved);
  ir::Expr* taken(const clang::Expr* e, ir::Expr* object);
  void leave_empty_containers(ir::Expr* object, clang::QualType type, const clang::Expr* e);
  bool asks_moved(const clang::Expr* pointer);

  // Functions behind names: frontend_callable.cpp; what may be null: frontend_optional.cpp
  bool computes(clang::QualType type) const;
  std::shared_ptr<Closure> function_in(const ir::Expr* part);
  static const clang::Decl* fixed_target(const clang::VarDecl* var);
  std::shared_ptr<Closure> callable(const clang::Expr* e);
  bool declare_callable(const clang::VarDecl* decl);
  bool add_null(ir::CallInfo& info, const clang::Expr* e, const clang::FunctionDecl* callee,
                unsigned position);
  bool may_be_null(const clang::FunctionDecl* callee, unsigned position);
  void drop_nulls(ir::CallInfo& info, const clang::FunctionDecl* callee);
  bool is_null_here(const clang::Expr* e);
  bool is_object_here(const clang::Expr* e);
  bool is_null_function(const clang::Expr* e);
  bool is_no_function(const ir::Expr* part) const;
  bool are_functions(const ir::Expr* part) const;
  ir::Expr* function_test(const clang::Expr* e);
  ir::Expr* function_chosen(const clang::Expr* e);
  ir::Expr* copied_functions(ir::Expr* part);
  bool leaves(const clang::Stmt* s);
  std::optional<bool> known_condition(const clang::Expr* e);
  std::shared_ptr<Closure> passed_target(const clang::FunctionDecl* callee, unsigned position,
                                         const clang::Expr* e);
  const clang::ParmVarDecl* context_named(const clang::Expr* e) const;
  const clang::Expr* context_passed(const clang::FunctionDecl* callee, unsigned position,
                                    const clang::Expr* e);
  bool passes_context(const clang::FunctionDecl* callee, const std::vector<const clang::Expr*>& args);
  ir::Expr* context_again(const clang::CastExpr* e);
  ir::Expr* address_of_target(const clang::ValueDecl* decl);
  bool carries_derivatives(const clang::FunctionDecl* f) const;
  bool add_target(ir::CallInfo& info, const clang::Expr* e, const clang::FunctionDecl* callee,
                  unsigned position);
  const clang::FunctionDecl* operator_called(const clang::CallExpr* e, const clang::CXXRecordDecl* lambda,
                                             const std::vector<const clang::Expr*>& args);
  const clang::Expr* converted(const clang::Expr* arg, clang::QualType param);
  ir::Expr* converted(ir::Expr* result, clang::QualType from, const clang::CallExpr* e);
  ir::Expr* call_closure(const clang::CallExpr* e, const Closure& closure,
                         std::vector<const clang::Expr*> args);
  ir::Expr* call_pointed(const clang::CallExpr* e, const Closure& closure,
                         const std::vector<const clang::Expr*>& args, const clang::Expr* object);
  ir::Expr* indirect_call(const clang::CallExpr* e);
  ir::Expr* invoke_member(const clang::CallExpr* e);
  const clang::FieldDecl* member_pointed(const clang::Expr* e) const;
  ir::Expr* member_of(const clang::FieldDecl* field, const clang::Expr* of, bool pointer);
  ir::Expr* pointed_member(const clang::BinaryOperator* e);
  ir::Expr* virtual_call(const clang::CallExpr* e, const clang::CXXMethodDecl* method,
                         const std::vector<const clang::Expr*>& args, const clang::Expr* object);
  bool check_class_is_not_asked(const clang::CXXConstructorDecl* ctor);
  const clang::CXXMethodDecl* only_overrider(const clang::CXXMethodDecl* method,
                                             const clang::Expr* object) const;
  ir::Expr* call_overrider(const clang::CallExpr* e, const clang::CXXMethodDecl* method,
                           const std::vector<const clang::Expr*>& args, const clang::Expr* object);
  ir::Expr* call_checked(const clang::CallExpr* e, const clang::CXXMethodDecl* method,
                         const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                         ir::Expr* self);
  bool can_ask_class(const clang::Expr* object);
  ir::Expr* given_up(ir::Expr* value);
  ir::Expr* handed_over(const clang::Expr* e, ir::Expr* value);

  // Views: frontend_view.cpp
  struct View {
    ir::Expr* data;
    ir::Expr* size;
  };
  bool is_view(clang::QualType type) const;
  clang::QualType view_pointer(clang::QualType type) const;
  std::optional<View> view_of_all(ir::Expr* container, const ir::Type* pointer);
  std::optional<View> view_of(const clang::Expr* e);
  std::optional<View> fixed_view(const clang::Expr* e);
  bool declare_view(const clang::VarDecl* decl);
  ir::Expr* returned_value(const clang::Expr* e);
  View add_view_parameter(const clang::VarDecl* p);
  void add_view_argument(ir::CallInfo& info, const View& view, clang::QualType pointer);
  ir::Expr* length(ir::Expr* size, clang::QualType type);
  ir::Expr* view_part(const clang::Expr* of, llvm::StringRef name, const clang::Expr* index,
                      const clang::Expr* at);

  // Objects that hold pointers: frontend_parts.cpp
  bool leads_to_numbers(clang::QualType type) const;
  bool in_parts(clang::QualType type) const;
  static bool is_parts(const ir::Expr* e);
  static ir::Expr* as_class(ir::Expr* object, const clang::CXXRecordDecl* record);
  static std::size_t place_of(const clang::FieldDecl* field);
  ir::Expr* part_of(ir::Expr* object, const clang::FieldDecl* field);
  ir::Expr* parts_named(const clang::Expr* e);
  bool names_parts(const clang::Expr* e);
  static bool captures_parts(const Closure& closure);
  bool captures_parts(const clang::Expr* e);
  bool handles_parts(const clang::FunctionDecl* callee, const std::vector<const clang::Expr*>& args,
                     const clang::Expr* object);
  ir::Expr* new_parts(clang::QualType type);
  ir::Expr* function_part(const ir::Type* type, std::shared_ptr<Closure> function);
  ir::Expr* part_variable(const clang::FieldDecl* field);
  void start_part(ir::Expr*& part, const clang::FieldDecl* field, const clang::Expr* init);
  void start_parts(ir::Expr* parts, const clang::CXXRecordDecl* record,
                   const std::set<const clang::FieldDecl*>& later, bool zeros);
  const clang::Expr* zero(const clang::FieldDecl* field);
  void finish_parts(ir::Expr* parts);
  void start_part_cursor(ir::Expr* parts, std::size_t i, const std::vector<ir::Expr*>& given);
  ir::Expr* start_base(const clang::CXXRecordDecl* base, const clang::Expr* init);
  bool run_constructor(ir::Expr* parts, const clang::CXXConstructExpr* e);
  ir::Expr* construct_parts(const clang::CXXConstructExpr* e);
  ir::Expr* library_parts(clang::QualType type, llvm::ArrayRef<const clang::Expr*> members);
  ir::Expr* aggregate_parts(clang::QualType type, llvm::ArrayRef<const clang::Expr*> inits);
  ir::Expr* copy_parts(ir::Expr* source, const clang::CXXRecordDecl* record);
  ir::Expr* swap_parts(ir::Expr* a, ir::Expr* b, clang::SourceLocation at);
  ir::Expr* assign_function(const clang::Expr* member, const clang::Expr* to);
  ir::Expr* assign_parts(const clang::Expr* to, ir::Expr* target, ir::Expr* source);
  std::optional<std::pair<ir::Expr*, std::size_t>> part_named(const clang::Expr* e);
  std::optional<std::pair<ir::Expr*, std::size_t>> pointer_part(const clang::Expr* e);
  ir::Expr* repoint(ir::Expr* object, std::size_t i, ir::Expr* pointer, clang::SourceLocation at);
  ir::Expr* no_part_reference(const clang::Expr* e);
  void check_parts();
  const ir::Type* behind_handle(ir::Expr* pointer);
  static const ir::Type* changed_behind(const ir::Expr* path);
  void note_change(const ir::Expr* path);
  void note_handle(ir::Expr* pointer, clang::SourceLocation at);
  void check_handles();

  // Construction: frontend_construct.cpp
  ir::Expr* elements(const clang::Expr* e);
  ir::Expr* init_list(const clang::InitListExpr* e);
  ir::Expr* aggregate(const ir::Type* type, llvm::ArrayRef<const clang::Expr*> inits);
  ir::Expr* construct_reversed(const clang::CXXConstructExpr* e, const std::vector<const clang::Expr*>& args);
  ir::Expr* construct(const clang::CXXConstructExpr* e);
  ir::Expr* construct_in_place(const clang::CXXConstructExpr* e);
  ir::Expr* construct_inherited(const clang::CXXInheritedCtorInitExpr* e);
  ir::Expr* emplace_back(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  ir::Expr* swap(const clang::Expr* first, const clang::Expr* second, ir::Loc at);
  ir::Expr* exchange(ir::Expr* a, ir::Expr* b, ir::Loc at);

  // Derivatives inside the function: frontend_derivative.cpp
  const Request* derivative_of(const clang::Expr* object) const;
  ir::Expr* execute(const clang::CXXMemberCallExpr* e);
  ir::Expr* execute_derivative(const clang::CXXMemberCallExpr* e, const Request& request);
  void execute_gradient(const clang::CXXMemberCallExpr* e, const Request& request);
  std::unique_ptr<ir::CallInfo> derivative_call(const clang::CXXMemberCallExpr* e, const Request& request,
                                                const clang::Expr* function);
  ir::Expr* call_derivative(std::unique_ptr<ir::CallInfo> info, const Request& request,
                            const std::vector<std::vector<double>>& directions, ir::Loc at);

  // Checkpoints: frontend_checkpoint.cpp
  ir::Expr* checkpoint(const clang::CallExpr* e);
  ir::Expr* loop_mark(const clang::CallExpr* e);
  std::unique_ptr<ir::Stmt::Checkpoint> marked(const clang::Stmt* loop, const clang::Stmt* body);
  bool has_pragma(const clang::Stmt* loop) const;

  // Calls that are replaced by the callee's body: frontend_inline.cpp
  /// What the return statements of such a body name, in variables and paths of the caller.
  struct Places {
    ir::Body* before = nullptr;
    ir::Region* region = nullptr;
    ir::Var* which = nullptr;  ///< the number of the return statement
    std::vector<ir::Expr*> paths;
    ir::Var* result = nullptr;  ///< what is returned by value
  };
  bool hands_on_pointer(const clang::FunctionDecl* f);  // frontend_inplace.cpp
  bool names_storage(clang::QualType result);
  bool can_inline(const clang::FunctionDecl* callee, const clang::Expr* call, bool always);
  bool gives_place(const clang::Expr* call, clang::QualType result) const;
  ir::Expr* inline_call(const clang::Expr* call, const clang::FunctionDecl* callee,
                        const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                        const Closure* closure = nullptr, ir::Expr* self = nullptr);
  ir::Expr* inline_return(const clang::Expr* call, const clang::FunctionDecl* callee,
                          const clang::Expr* returned);
  ir::Expr* inline_body(const clang::CompoundStmt* body, clang::QualType result);
  ir::Expr* inline_either(const clang::Expr* call, const clang::FunctionDecl* callee,
                          const std::vector<const clang::Expr*>& args, const clang::Expr* object,
                          ir::Expr* self);
  void exchange_targets(Closures& targets, const clang::FunctionDecl* callee);
  bool bind_parameters(Frame& frame, Closures& targets, ir::Expr** self, const clang::FunctionDecl* callee,
                       const std::vector<const clang::Expr*>& args, bool changes);
  ir::Expr* bound(const clang::Expr* e, clang::QualType param, bool changes);
  void copy_changed_parameters(const clang::FunctionDecl* callee);
  void copy_parameter(const clang::ParmVarDecl* p);
  ir::Var* outer_variable(const char* name, const ir::Type* type);
  ir::Expr* kept(ir::Expr* e);
  ir::Expr* kept_value(ir::Expr* e);
  void return_place(const clang::ReturnStmt* s);
  ir::Expr* chosen(const Places& places);

  // Calls: frontend_call.cpp, frontend_argument.cpp
  const clang::FunctionDecl* without_builtin(const clang::FunctionDecl* f);
  ir::Expr* call(const clang::CallExpr* e);
  ir::Expr* call_function(const clang::CallExpr* e, const clang::FunctionDecl* callee,
                          const std::vector<const clang::Expr*>& args, const clang::Expr* object);
  ir::Expr* finish_method(std::unique_ptr<ir::CallInfo> info, const clang::CallExpr* e,
                          const clang::CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                          const clang::Expr* object);
  ir::Expr* call_method(std::unique_ptr<ir::CallInfo> info, const clang::CallExpr* e,
                        const clang::CXXMethodDecl* method, const std::vector<const clang::Expr*>& args,
                        ir::Expr* object);
  static bool is_downcast(const ir::Type* to, const ir::Type* from);
  bool may_be_sliced(ir::Expr* object, const ir::Type* as);
  ir::Expr* operator_call(const clang::CXXOperatorCallExpr* e, const clang::FunctionDecl* callee);
  ir::Expr* container_member(const clang::CXXMemberCallExpr* e, const clang::CXXMethodDecl* method);
  ir::Expr* finish_call(std::unique_ptr<ir::CallInfo> info, const clang::FunctionDecl* callee,
                        clang::QualType result, const clang::Expr* at, bool object_mutable);
  ir::Expr* finish_constant_call(std::unique_ptr<ir::CallInfo> info, const clang::FunctionDecl* callee,
                                 clang::QualType result, std::optional<unsigned> returned,
                                 const std::vector<ir::Var*>& touched, const clang::Expr* at);
  ir::Expr* call_either(const ir::CallInfo& info, const ir::Expr* test, const clang::FunctionDecl* callee,
                        clang::QualType result, const clang::Expr* at, bool object_mutable);
  // What a call returns a reference or a pointer to: frontend_returned.cpp
  struct Search;
  bool names_argument(ir::CallInfo& info, const clang::FunctionDecl* callee, clang::QualType result,
                      clang::SourceLocation at);
  ir::Expr* named_argument(std::unique_ptr<ir::CallInfo> info, const clang::FunctionDecl* callee,
                           clang::QualType result, const std::vector<ir::Var*>& touched,
                           const clang::Expr* at);

  ir::Expr* argument_value(const clang::Expr* e, clang::QualType param);
  void add_argument(ir::CallInfo& info, const clang::Expr* e, clang::QualType param, bool library = false);
  void add_arguments(ir::CallInfo& info, const clang::FunctionDecl* callee,
                     llvm::ArrayRef<const clang::Expr*> args, unsigned first = 0);
  bool add_assignment(ir::CallInfo& info, const clang::FunctionDecl* callee, const clang::Expr* left,
                      const clang::Expr* right);
  void settle_arguments(ir::CallInfo& info, std::size_t count, std::size_t position);
  bool add_object(ir::CallInfo& info, const clang::Expr* object, const clang::CXXMethodDecl* method);
  bool add_object(ir::CallInfo& info, ir::Expr* self, ir::Loc at, const clang::CXXMethodDecl* method);
  ir::Expr* as_overload(ir::Expr* e, const ir::CallInfo& info, const clang::FunctionDecl* callee,
                        std::size_t k);
  void add_closure_arguments(ir::CallInfo& info, const Closure& closure);
  std::shared_ptr<Closure> returned_closure(const clang::FunctionDecl* callee,
                                            std::vector<const clang::Expr*> args,
                                            const clang::Expr* object = nullptr);
  static bool is_unnamed(const Closure::Capture& c);
  std::shared_ptr<Closure> closure_of(const clang::Expr* e);
  std::shared_ptr<Closure> copy_closure(std::shared_ptr<Closure> closure, ir::Loc at);
  static bool is_constant(const clang::LambdaCapture& c, const Changes& inside);
  std::shared_ptr<Closure> make_closure(const clang::LambdaExpr* e);
  ir::Expr* captured_pointer(const clang::LambdaExpr* lambda, const clang::VarDecl* var, ir::Expr* pointer);

  bool modified(const clang::ValueDecl* decl) const { return changes_.modified.count(decl) != 0; }
  /// Whether the variable keeps its value for as long as it lives.
  bool is_fixed(const clang::ValueDecl* decl) const {
    auto it = bindings_.find(decl);
    if (modified(decl) || changes_.counters.count(decl) || decl->getType()->isReferenceType()) return false;
    return it != bindings_.end() && it->second->kind == ir::Expr::VarRef &&
           it->second->var->kind != ir::Var::Alias;
  }
  clang::Sema& sema_;
  clang::ASTContext& context_;
  TypeTable& types_;
  Diagnose& diagnose_;
  CustomLookup& lookup_;
  ir::Function& fn_;
  const RequestTable* uses_;
  Globals* globals_;
  std::map<const clang::VarDecl*, ir::Var*> global_vars_;  ///< those that change
  const clang::FunctionDecl* decl_ = nullptr;
  const clang::CXXRecordDecl* heir_ = nullptr;  ///< the class of the object, if it inherits the method

  ir::Body* out_ = nullptr;
  ir::Region* region_ = nullptr;
  ir::Loc at_ = 0;           ///< statement being lowered
  std::string source_;       ///< its text
  std::string record_name_;  ///< of the variable that denotes a loop iteration's record
  Frame bindings_;
  std::map<const clang::ParmVarDecl*, clang::QualType> contexts_;  ///< what a `void*` points to in truth
  Closures closures_;
  std::vector<bool> asked_;                    ///< by parameter of the result
  std::set<const clang::ValueDecl*> numbers_;  ///< integers that the derivative takes for numbers
  std::map<const clang::ValueDecl*, Cursor> cursors_;
  std::map<const clang::ValueDecl*, View> views_;
  std::map<std::pair<const ir::Expr*, std::size_t>, Cursor> part_cursors_;  ///< by object and member
  std::map<const ir::Expr*, std::shared_ptr<Closure>> part_functions_;      ///< what members stand for
  std::map<const clang::VarDecl*, ir::Expr*> constant_tables_;              ///< null: none
  std::map<const ir::Expr*, const ir::Body*> homes_;  ///< where such an object is declared
  mutable std::map<const clang::CXXRecordDecl*, bool> in_parts_;
  std::map<const clang::FunctionDecl*, bool> hands_on_;  ///< known to, or not to, by hands_on_pointer
  std::vector<const clang::Decl*> targets_;              ///< of the parameters that stand for functions
  std::map<const clang::ValueDecl*, const ir::Body*> pointer_homes_;  ///< where it is declared
  std::set<const clang::ValueDecl*> maybe_moved_;                     ///< smart pointers, in a branch
  std::map<const clang::Expr*, ir::Expr*> lengths_;  ///< what such an expression was at the declaration
  std::set<const ir::Var*> allocated_;               ///< what stands for objects on the heap
  ir::Expr* self_ = nullptr;                         ///< the object of `this`
  std::optional<unsigned> returned_;
  Changes changes_;
  const clang::Expr* reading_ = nullptr;  ///< the call whose result is only read, or dropped, at once
  std::set<const ir::Var*> unstable_;     ///< variables whose value may differ between two statements
  std::set<const clang::FunctionDecl*> callees_;
  std::set<const clang::FunctionDecl*> inlining_;
  std::set<std::pair<const clang::FunctionDecl*, const ir::Expr*>> entered_;  ///< those, by such an object
  Places* places_ = nullptr;                    ///< of the call whose body is lowered in its place
  std::set<const clang::Expr*> checkpoints_;    ///< calls that clad::checkpoint is put around
  std::set<const clang::Expr*> marks_;          ///< calls that mark a loop, in their place
  std::unique_ptr<ir::Stmt::Checkpoint> mark_;  ///< of the loop that begins
  std::set<const clang::ValueDecl*> refused_;   ///< declarations that an error has been reported for
  int parallel_depth_ = 0;                      ///< parallel loops around this statement
  bool testing_ = false;                        ///< lowering a condition, through which no derivative flows
  std::set<const ir::Type*> changed_behind_;    ///< of objects behind handles, those that are changed
  std::vector<std::pair<const ir::Type*, clang::SourceLocation>> handed_;  ///< those that calls are given
  const clang::Expr* dropped_ = nullptr;  ///< the expression whose value nobody uses
  bool forward_ = false;                  ///< tangents are taken, not adjoints
  bool tainted_ = false;                  ///< this statement uses one: what else is wrong follows from it
  int inline_depth_ = 0;
};

/// The expression without parentheses, cleanups, temporaries and elidable copies around it.
const clang::Expr* strip(const clang::Expr* e);
/// Whether every call of the function is a checkpoint (CLAD_CHECKPOINT).
bool is_checkpointed(const clang::FunctionDecl* f);
/// Whether a copy of an object may be of another class than the object.
bool is_polymorphic(const ir::Type* type);
/// The one returned expression of a body that is nothing but a return statement; null of any other.
const clang::Expr* only_return(const clang::FunctionDecl* f);
/// The object that a reference or a pointer that does not move stands for, as it is named where it is
/// declared.
ir::Expr* named_object(ir::Expr* e);
/// Whether this is a variable that holds an object, whatever it is named as elsewhere.
bool is_local_object(const ir::Var* v);
/// The object itself, where it is named as its base class.
const clang::Expr* without_base(const clang::Expr* e);
/// The class of an object, and its members that have a name.
const clang::CXXRecordDecl* class_of(const ir::Type* type);
std::vector<const clang::FieldDecl*> named_fields(const clang::CXXRecordDecl* record);
/// Whether the function's plain name is one of these.
bool named(const clang::FunctionDecl* f, std::initializer_list<llvm::StringRef> names);
/// clad::checkpoint, the identity that is put around a call.
bool is_checkpoint(const clang::FunctionDecl* f);
/// clad::checkpoint_loop and clad::checkpoint_bytes, which mark the loop they stand in.
bool is_loop_mark(const clang::FunctionDecl* f);
/// Spelling of an operator function in names of custom derivatives: "operator_plus".
std::string operator_word(const clang::FunctionDecl* decl);
/// Qualified spelling of a function in generated code, template arguments included.
std::string spell_function(const clang::FunctionDecl* decl, TypeTable& types);
/// The arguments of a template between angle brackets.
std::string spell_arguments(llvm::ArrayRef<clang::TemplateArgument> args, TypeTable& types);
std::string spell_constant(const clang::APValue& value, clang::QualType type, TypeTable& types);
/// One line for an error message: name with its class or namespace.
std::string display_name(const clang::FunctionDecl* decl);

}  // namespace clad
