// The plugin's intermediate representation: typed expressions and structured statements of one function.
//
// Nothing here knows about Clang. The frontend lowers a function body into it (calls hoisted into
// temporaries, early exits still as Break/Continue/Return), `structure` removes early exits, `activity` finds
// what carries derivatives, and `reverse` writes the forward and reverse sweeps.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clad::ir {

/// An encoded source location (clang::SourceLocation's raw encoding); 0 is unknown.
using Loc = std::uint32_t;

struct Type;

struct Field {
  std::string name;  ///< empty for a base class
  const Type* type;
  bool constant = false;  ///< carries no derivative
  bool is_const = false;  ///< declared const: an adjoint of it is changed all the same
};

/// What the transformations need to know of a C++ type (without reference and top-level const).
struct Type {
  enum Kind {
    Void,
    Scalar,    ///< integers, bool, enumerations: never carry derivatives
    Real,      ///< float, double, long double
    Pointer,   ///< element: the pointee
    Array,     ///< C array; element
    Vector,    ///< std::vector and std::deque; element
    StdArray,  ///< std::array; element
    InitializerList,
    Opaque,   ///< declared CLAD_OPAQUE
    Record,   ///< class with fields
    Closure,  ///< lambda; never an object in generated code, its captures are passed instead
    Other     ///< a class without derivative information (std::string, ...)
  };
  Kind kind = Void;
  std::string name;               ///< spelled in the generated code, without const or reference
  const Type* element = nullptr;  ///< of Pointer, Array, Vector, StdArray, InitializerList
  const Type* bits = nullptr;     ///< of bool and enumerations: keeps one that need not have a value yet
  std::uint64_t extent = 0;       ///< of Array and StdArray
  std::vector<Field> fields;      ///< of Record: bases first; a reference is a field of type void
  bool differentiable = false;    ///< contains a Real or an Opaque
  bool default_constructible = true;
  bool copyable = true;
  bool zero_by_value_init = false;  ///< T{} is all zero (no member initializers, no user constructor)
  bool dynamic_shape = false;    ///< contains a std::vector: a zero adjoint takes its shape from the primal
  bool own_zero = false;         ///< has a class of which the user says how a zero is made
  bool own_assignment = false;   ///< the program says how it is assigned: it is made anew instead
  bool overlaps = false;         ///< some of its members are names of the same numbers: of a union
  bool copies_differ = false;    ///< has a class of which a copy is another value than the object
  bool has_end = false;          ///< a class whose destructor does something
  bool has_pointer = false;      ///< a class with pointers to differentiable data
  bool changes_through = false;  ///< a pointer to such data that is not const, or a class with such pointers
  bool reaches_state = false;  ///< a pointer to what has none and is not const, or a class with such pointers
  bool has_closure = false;    ///< a class with a lambda
  bool is_state = false;   ///< a class whose objects can be put back as they were: no handle of a C library
  bool constant = false;   ///< a class that the user marked: numbers in it carry no derivative
  bool shifts = false;     ///< std::deque: an element gets another number where one comes or goes before it
  bool lanes = false;      ///< numbers side by side in a register: no function gives one back
  bool is_random = false;  ///< a generator of random numbers of the library: of these, what they gave is kept
  const void* decl = nullptr;  ///< the frontend's class declaration

  bool is_real() const { return kind == Real; }
  bool is_value() const { return kind != Pointer && kind != Void; }
  bool is_class() const { return kind >= Vector; }
  /// A pointer that is followed to what it points into: to what has derivatives, to integers, or to objects.
  bool is_followed() const {
    if (kind != Pointer || !element) return false;
    return differentiable || element->kind == Scalar || element->is_state || element->is_random ||
           element->has_closure;
  }
  /// Whether memory that the object only points to may be changed through it, constant or not.
  bool leads_elsewhere() const {
    return (kind != Pointer && changes_through) || (is_class() && reaches_state) ||
           (kind == Other && differentiable);
  }
};

struct Expr;
struct Region;

/// A variable of the generated function: parameter, local, temporary, alias of an lvalue path, or saved
/// value.
struct Var {
  enum Kind { Param, Local, Temp, Alias, Saved, Adjoint };
  Kind kind = Local;
  std::string name;
  const Type* type = nullptr;
  bool reference = false;       ///< reference parameter, or an alias
  bool is_const = false;        ///< bound const (reference to const, pointer to const)
  bool active = false;          ///< carries a derivative
  bool needed = false;          ///< the reverse sweep reads its primal
  bool optional = false;        ///< kept in a clad::slot (not default constructible)
  bool unset = false;           ///< not every way through the function gives it a value
  bool maybe = false;           ///< optional, and not every way through the function makes it
  bool raw = false;             ///< object under construction: kept in a clad::storage
  bool modified = false;        ///< assigned after its declaration
  bool adjoint_used = false;    ///< of Adjoint: the reverse sweep names it
  bool returned = false;        ///< a temporary used only as the function's result: its adjoint is the seed
  bool reference_copy = false;  ///< a temporary that holds what a returned reference named: not to be written
  bool by_pointer = false;      ///< a temporary bound to a reference returned by a call: kept as a pointer
  Expr* names = nullptr;        ///< of such a one: what it is a part of, if that may be changed through it
  Expr* origin = nullptr;       ///< of a handle on data without derivatives: the object that it was asked of
  bool unbounded = false;       ///< a pointer to an array of unknown length, whose tangent is an object
  bool growing = false;         ///< that object is a clad::growing, not a clad::one_hot
  bool local_now = false;       ///< while printing: still a local variable, stored in its record later
  bool external = false;        ///< names memory that the caller owns (reference or pointer parameter)
  std::string global;           ///< how a variable that lives outside of the function is written
  std::string adjoint;          ///< name of its adjoint
  Var* shadow = nullptr;        ///< its adjoint, once named
  Var* primal = nullptr;        ///< of Adjoint
  Expr* adjoint_path = nullptr;  ///< of Alias: the adjoint of `path`
  Region* region = nullptr;      ///< record that keeps it if needed
  Loc loc = 0;                   ///< where it is declared
  Expr* path = nullptr;          ///< of Alias: the lvalue it names (pointer expression for pointer aliases)
  mutable unsigned number = 0;   ///< in a VarSet
};

/// Records what the reverse sweep needs: the function's state, or one iteration of a loop.
struct Region {
  Region* parent = nullptr;
  std::string record;      ///< name of the variable that denotes the record ("s", "r0")
  std::string type;        ///< name of its type
  std::vector<Var*> vars;  ///< candidates for storage, in order of declaration
  struct Member {
    std::string type, name;
    const bool* live = nullptr;  ///< printed when null or true
  };
  std::vector<Member> members;  ///< callee states, tapes, counters
  bool replayed = false;        ///< of a loop that leaves no tape
  bool kept = true;             ///< while printing: what is in it, not what would be computed without it
};

struct Expr {
  enum Kind {
    Literal,    ///< text
    Global,     ///< text: qualified name of something with static storage, a function or enumerator
    VarRef,     ///< var
    Member,     ///< args[0] . text
    Deref,      ///< * args[0]
    Index,      ///< args[0] [ args[1] ]
    AddressOf,  ///< & args[0]
    Unary,      ///< text args[0]
    Binary,     ///< args[0] text args[1]
    Conditional,
    Cast,       ///< to type; explicit_cast: printed always, else only as a call argument
    Call,       ///< text ( args ): no derivative wanted
    Method,     ///< args[0] . text ( args[1..] )
    Construct,  ///< type ( args ) or type { args }
    InitList,   ///< { args }
    Parts,      ///< an object that is taken apart: its bases and members; stands in no statement
    Raw,        ///< text, with args substituted for '\1'
  };
  Kind kind;
  const Type* type = nullptr;
  std::string text;
  Var* var = nullptr;
  std::vector<Expr*> args;
  bool braces = false;
  bool explicit_cast = false;
  bool to_reference = false;  ///< Cast to a reference (derived to base): still an lvalue
  bool fixed = false;         ///< Global: never changes
  bool accessor = false;      ///< Method that names an element: `at`, `front`, `back`, `data`, `get`
  Loc loc = 0;
};

/// What kind of tangent each parameter of a function has in forward mode. OneHot: of an array of unknown
/// length, with one element that is 1 and zeros elsewhere, never to be written. Growing: of such an array, as
/// long as what is written needs; no further derivative is taken of it.
enum class Tangent : char { None, Full, OneHot, Growing };
struct Tangents {
  std::vector<Tangent> kinds;
  std::uint64_t width = 0;  ///< how many directions at once, as clad::directions; 0: one, as plain numbers
  bool again = false;       ///< they are the same numbers as those of the step before
  auto operator<=>(const Tangents&) const = default;
};

struct Function;
struct Stmt;
using Body = std::vector<Stmt*>;

/// How the derivative of a call is taken.
struct CallInfo {
  /// Mirrored: of a library container, repeated on its tangent.
  enum Kind { Inactive, Custom, Generated, Mirrored };
  Kind kind = Inactive;
  const void* callee = nullptr;   ///< the frontend's function declaration
  const void* filling = nullptr;  ///< of a Mirrored `resize`: the one that says what new elements are
  /// The frontend's declarations of functions that are passed to it; that of a parameter where a null pointer
  /// is.
  std::vector<const void*> targets;
  std::vector<Tangents> tangents;  ///< it is `callee` differentiated forward, in turn, for these
  std::string name;                ///< primal spelling for a free function, method name for a method
  bool is_method = false;          ///< args[0] is the object
  bool is_operator = false;        ///< print as an operator expression; `name` holds the operator
  bool is_constructor = false;
  bool reversible = false;  ///< inactive, but reversed to put back what it changes
  bool constant = false;    ///< what it computes counts as a constant
  bool lifted = false;      ///< a lambda's operator(): captures are passed first
  bool visible = false;     ///< a function of the user's with a body, which is looked at by itself
  bool checkpoint =
      false;  ///< the user wants it to run again in the reverse sweep instead of keeping a state
  struct Arg {
    Expr* expr = nullptr;
    const Type* param_type = nullptr;
    bool reference = false;  ///< passed by reference
    bool copied = false;     ///< likewise, though the function takes a copy of it
    bool mutable_ = false;   ///< callee may write through it (non-const reference or pointer)
    bool active = false;
    bool object = false;   ///< the object of a method
    bool moved = false;    ///< passed to an rvalue reference
    bool unconst = false;  ///< a cast takes a const away from what it points or refers to
    std::string
        given;  ///< the class of the iterator that the primal is called with, of which `expr` is the pointer
  };
  std::vector<Arg> args;
  Expr* primal = nullptr;  ///< the call as an expression
  std::string problem;     ///< why the body cannot be differentiated (virtual call, ...)

  // Filled in when the derivative is resolved.
  Function* generated = nullptr;
  std::string forward_name, reverse_name;  ///< of Custom: qualified reverse_forw (or empty) and pullback
  std::string tag;                         ///< of a constructor's pushforward: the type of its first argument
  const void* derivative = nullptr;        ///< of Custom: the declaration of the pullback or pushforward
  bool is_pushforward = false;             ///< of Custom: `reverse_name` is a pushforward
  bool tangent_only = false;               ///< which returns no value, only its tangent
  bool mutable_tangents = false;           ///< which takes the tangents of constants as variables
  std::string state_type, state_name;
  std::vector<bool> unused;       ///< of Custom: primal arguments that the pullback never reads
  bool adjoints_for_all = false;  ///< of Custom: Clad's form, an adjoint pointer for every parameter
  bool value_cotangent = true;    ///< the callee returns a differentiable value
  bool forward_takes_adjoints = false;
  /// How the forward sweep calls `forward_name`: with the arguments, pointers to adjoints or a state; in
  /// Clad's form, with an object in place of each adjoint; and there it returns a clad::ValueAndAdjoint.
  enum Form { Plain, Adjoints, Pair } forward_form = Plain;
  std::string forward_tag;         ///< of a constructor's, in Clad's form: the type of its first argument
  bool forward_takes_all = false;  ///< an adjoint for every parameter
  const void* forward = nullptr;   ///< its declaration
  bool names = false;              ///< it returns a reference or pointer, of which the result is the address
  bool selects = false;            ///< and it changes nothing

  // Filled in by the reverse transformation.
  bool concurrent = false;  ///< other threads may add to the same adjoints meanwhile
  bool recomputed = false;  ///< the primal runs now, the forward sweep with a state of its own later
  std::string moment;       ///< of a recomputed call: the member that says when it ran
};

/// What `#pragma omp parallel for` says of a loop.
struct Parallel {
  struct Clause {
    std::string name;
    Expr* value;
  };
  std::vector<Clause> clauses;                           ///< schedule, num_threads, if
  std::vector<std::pair<std::string, Var*>> reductions;  ///< operator and variable; of numbers, sums alone
  std::vector<const Var*>
      own;  ///< objects that are only read, of whose adjoint each thread has one to add to
};

struct Stmt {
  enum Kind {
    Decl,       ///< var = expr (expr may be null)
    AliasDecl,  ///< var names var->path
    Assign,     ///< lhs text expr; with "swap", the two objects change places
    CallStmt,   ///< var (may be null) = call
    Eval,  ///< expr for its effect on inactive data; `touched` are changed. text: "check" if it only throws
    If,
    Loop,
    Breakable,  ///< body; Break leaves it (a switch)
    Block,
    Return,
    Break,
    Continue
  };
  Kind kind;
  Loc loc = 0;
  std::string source;  ///< the user's text, one line
  Var* var = nullptr;
  Expr* lhs = nullptr;
  Expr* expr = nullptr;
  std::string text;
  std::unique_ptr<CallInfo> call;
  Body body, other;          ///< If: then / else; Loop: body / increment
  Var* cond_var = nullptr;   ///< If: the recorded condition
  bool post_test = false;    ///< Loop: do-while
  Region* region = nullptr;  ///< Loop: its iteration record
  std::string tape;          ///< Loop: name of the tape or counter
  std::vector<Var*> touched;
  Body init;  ///< Loop: for-init, part of the enclosing region
  /// Loop: for (counter = first; ...; counter += step), which leaves the counter at `end` if it runs at all.
  /// `counter` is null where that is not known.
  struct {
    Var* counter = nullptr;
    Expr *first = nullptr, *end = nullptr;
    bool up = true;
    bool wraps = false;  ///< it may pass the end of its type on the way: only `!=` tells that it is not there
    std::string step;    ///< without its sign
  } count;
  /// Loop: how the user wants it checkpointed.
  struct Checkpoint {
    Expr* limit = nullptr;  ///< of snapshots, or of their bytes; null: as the runtime chooses
    bool bytes = false;
    std::vector<std::pair<Expr*, Expr*>> arrays;  ///< pointers and how many elements they stand for
  };
  std::unique_ptr<Checkpoint> checkpoint;
  std::unique_ptr<Parallel> parallel;  ///< Loop: several threads share its iterations
};

/// A parameter of a differentiated function.
struct Parameter {
  Var* var = nullptr;
  std::string type_text;  ///< full spelling in a parameter list
  bool active = false;
  const Type* user_type = nullptr;  ///< the function's own, of an integer that is taken for a number
};

/// One function to differentiate for one activity mask.
struct Function {
  std::string name;         ///< base of the generated names
  std::string primal_name;  ///< for messages
  const Type* result = nullptr;
  std::vector<Parameter> params;
  Body body;
  Body last;  ///< runs after the body, and is undone before anything of the body is looked at
  Region* region = nullptr;
  Var* seed = nullptr;  ///< cotangent of the result
  Var* return_slot = nullptr;
  bool recursive = false;
  bool is_constructor = false;
  bool wants_value = true;    ///< not only the derivative
  bool concurrent = false;    ///< other threads may add to the adjoints of its parameters meanwhile
  Var* error = nullptr;       ///< where the reverse sweep adds up rounding errors, if it is to
  bool is_tangent = false;    ///< only run forward: printed under its own name
  bool is_constexpr = false;  ///< its derivative is run by the compiler
  std::string attributes;  ///< of the user's function, which its derivatives must have: with a space after it
  Var* constructed = nullptr;  ///< of a constructor: the object under construction
  Loc loc = 0;

  // Results of the transformation.
  bool has_state = false;
  bool has_reverse = false;
  bool writes_outside = false;    ///< changes memory of the caller
  bool pure = false;              ///< depends on its arguments alone, and changes nothing but them
  std::vector<bool> leaves;       ///< the parameters of whose memory it does not put back what it changes
  std::vector<bool> changes;      ///< the parameters whose memory it may change
  bool always_forward = false;    ///< the primal cannot be called in its place (lifted lambda, constructor)
  std::vector<bool> needs_param;  ///< the reverse sweep reads the primal parameter

  std::deque<std::unique_ptr<Var>> vars;
  std::deque<std::unique_ptr<Expr>> exprs;
  std::deque<std::unique_ptr<Stmt>> stmts;
  std::deque<std::unique_ptr<Region>> regions;
  std::set<std::string> names;                         ///< taken
  std::map<std::string, int> numbers;                  ///< by how they begin, the last one that was taken
  std::function<bool(const std::string&)> names_type;  ///< a variable of that name would hide a type

  /// How the generated functions are declared.
  std::string specifiers() const { return attributes + (is_constexpr ? "static constexpr " : "static "); }
  std::string unique(std::string_view base);
  Var* make_var(Var::Kind kind, std::string_view name, const Type* type, Region* in);
  Expr* make(Expr::Kind kind, const Type* type, std::string_view text = {},
             std::initializer_list<Expr*> args = {});
  Expr* ref(Var* v);
  /// A cast that is always printed.
  Expr* cast(const Type* type, std::string_view name, Expr* e);
  /// A constant, or a pointer to one, as a variable: for functions that are called with either.
  Expr* as_mutable(Expr* e);
  /// What the callee is handed.
  Expr* passed(const CallInfo::Arg& a) { return a.unconst ? as_mutable(a.expr) : a.expr; }
  /// The path or pointer expression `e` with what it leads through replaced: `p[i]` becomes `part(p)[i]`.
  Expr* mirror(const Expr* e, const std::function<Expr*(const Expr*)>& part);
  Stmt* stmt(Stmt::Kind kind, Loc loc, const std::string& source);
  Region* make_region(Region* parent, std::string_view record, std::string_view type);
};

/// Why a variable of the type can have no adjoint and no tangent; empty if it can.
std::string no_shadow(const Type* type);
/// What to tell the user of an expression that has no derivative.
std::string not_differentiated(const Expr* e);
/// The variable an lvalue path starts from, or null (a temporary, a global).
Var* root(const Expr* e);
/// Whether an expression names a member that is declared const.
bool names_const_member(const Expr* e);
/// A variable of the function that a path without derivatives leads through to elsewhere: an iterator, a
/// pointer to objects, a reference that a call returned. What is there, the reverse sweep may not find again.
const Var* handle_in(const Expr* e);
/// Whether writing to an lvalue path may change memory that belongs to the caller.
bool is_outside(const Expr* path);
/// Whether an lvalue path starts from a variable outside of functions.
bool is_global(const Expr* path);
/// Calls `visit(var)` for every variable named in `e`.
template <class F>
void each_var(const Expr* e, F&& visit) {
  if (!e) return;
  if (e->var) {
    visit(e->var);
    if (e->var->kind == Var::Alias) each_var(e->var->path, visit);
    if (e->var->kind == Var::Adjoint && e->var->primal->kind == Var::Alias)
      each_var(e->var->primal->adjoint_path, visit);
  }
  for (const Expr* a : e->args) each_var(a, visit);
}
/// Whether `e` names the variable.
bool reads(const Expr* e, const Var* v);
/// Whether a derivative flows through the value of `e`.
bool active(const Expr* e);
/// What kind of tangent an argument has.
Tangent tangent_kind(const Expr* e, bool active);
/// Whether `e` is an lvalue path (variable, member, element, dereference).
bool is_path(const Expr* e);
/// Whether a reference to `e`, one path or one of several, sees what becomes of an object.
bool names_object(const Expr* e);
/// Whether evaluating `e` is so cheap and plain that it may be written more than once.
bool is_atomic(const Expr* e);
/// Whether two atomic expressions are written alike.
bool same(const Expr* a, const Expr* b);
/// Whether two expressions are written alike.
bool alike(const Expr* a, const Expr* b);

/// d times the derivative of a call of a function of <cmath>, from its value, where that says it; null for
/// others.
Expr* by_value(Function& fn, const Stmt* call, Expr* d);

}  // namespace clad::ir
