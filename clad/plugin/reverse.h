// The reverse transformation of one function: what the forward sweep saves, and the statements of the reverse
// sweep.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "diagnose.h"
#include "ir.h"
#include "passes.h"
#include "print.h"
#include "var_set.h"

namespace clad {

/// One statement of the reverse sweep. Expressions are printed last, when it is known which variables a
/// record keeps.
struct Reverse {
  enum Kind { Line, If, Loop };
  using Part = std::variant<std::string, const ir::Expr*>;
  Kind kind = Line;
  std::vector<Part> parts;
  ir::Loc loc = 0;
  std::string comment;
  std::vector<Reverse> body, other;
  const ir::Stmt* loop = nullptr;      ///< of Loop
  ir::Var* cond = nullptr;             ///< of If: the recorded condition (or null: `parts` is the condition)
  ir::Var* restores = nullptr;         ///< live only if this variable is read later, or
  ir::Var* also_restores = nullptr;    ///< of an exchange: the other one
  bool restores_outside = false;       ///< what is restored belongs to the caller
  bool whole = false;                  ///< nothing of what the variable holds remains
  const ir::Var* loses = nullptr;      ///< never printed: memory that is not put back, see `lost_`
  const ir::Var* starts = nullptr;     ///< never printed: here the forward sweep declared this variable
  bool* restore_live = nullptr;        ///< shared with the save in the forward sweep
  std::vector<const ir::Expr*> adds;   ///< adjoints that it adds to in a way that cannot be atomic
  std::vector<const ir::Expr*> hands;  ///< adjoints that a call is handed, which adds to them atomically
  bool atomic = false;                 ///< other threads may do the same
  bool in_turn = false;                ///< of Loop: no threads, though the loop is parallel
  std::vector<ir::Var*> sums;          ///< of a parallel Loop: what its threads add up
  std::vector<const ir::Expr*> apart;  ///< of a parallel Loop: what must be true, or it runs in turn
  ir::Var* declares = nullptr;         ///< prologue: printed only if this alias or adjoint is used
  bool live = false;
};

/// A value the forward sweep keeps because the next statement overwrites it.
struct Save {
  ir::Var* saved;
  const ir::Expr* what;
  bool contents;  ///< of opaque values, which their copies share
  std::unique_ptr<bool> live = std::make_unique<bool>(false);
};

class ReverseTransform {
 public:
  ReverseTransform(ir::Function& fn, Diagnose& diagnose, const Analyses& analyses)
      : fn_(fn), diagnose_(diagnose), analyses_(analyses) {}

  /// Builds the reverse sweep and decides what is kept.
  void run();
  /// Remarks on what is kept and what is computed again.
  void explain() const;
  /// The generated functions: state, forward sweep, reverse sweep.
  Text state_text() const;
  Text forward_text() const;
  Text reverse_text() const;
  /// The function as it is, without a trace of its derivative.
  Text plain_text() const;
  std::string plain_signature() const;
  std::string forward_signature() const;
  std::string reverse_signature() const;

 private:
  using List = std::vector<Reverse>;

  // reverse.cpp: statements
  void body(const ir::Body& statements, List& out);
  void sequence(const ir::Body& statements, List& out);
  void statement(const ir::Stmt* s, List& out);
  void assign(const ir::Stmt* s, List& out);
  void call(const ir::Stmt* s, List& out);
  void custom_call(const ir::Stmt* s, List& out);
  std::vector<const ir::Expr*> handed_adjoints(const ir::CallInfo& c);
  void generated_call(const ir::Stmt* s, List& out);
  std::string place_state(const ir::Stmt* s, const std::string& name, const std::string& forward, List& out);
  void keep_arguments(const ir::Stmt* s, List& out);
  void save(const ir::Stmt* s, const ir::Expr* what, List& out, bool contents = false);
  void start(const ir::Stmt* s, List& out);
  void prologue(const ir::Body& statements, List& out);
  void add_error(const ir::Expr* adjoint, const ir::Expr* value, List& out);
  void find_returned(const ir::Body& statements);
  const ir::Expr* component(ir::Expr* cotangent, const ir::Type* t);
  void declare_adjoint(ir::Var* v, ir::Loc loc, List& out);
  Reverse line(std::vector<Reverse::Part> parts) const;
  ir::Expr* as_argument(const ir::CallInfo::Arg& a);
  ir::Expr* pass_adjoint(const ir::CallInfo::Arg& arg, List& before, List& after);

  // reverse_kept.cpp: what calls change
  void save_changed(const ir::Stmt* s, ir::Var* v, List& out);
  void save_argument(const ir::Stmt* s, std::size_t i, bool pointers, List& out);
  void save_pointed(const ir::Stmt* s, const ir::Expr* pointer, List& out);
  bool is_of_iteration(const ir::Expr* object) const;
  void save_left(const ir::Stmt* s, List& out);
  void report_lost();
  static bool is_ignored_pointer(const ir::CallInfo& c, std::size_t i);

  // propagate.cpp: expressions
  void propagate(const ir::Expr* e, ir::Expr* seed, List& out);
  void propagate_product(const ir::Expr* e, ir::Expr* seed, List& out);
  void propagate_list(const ir::Expr* e, ir::Expr* seed, List& out);
  ir::Expr* adjoint(const ir::Expr* path);
  ir::Var* shadow(ir::Var* v);
  ir::Expr* bind(ir::Expr* seed, List& out);
  ir::Expr* binary(const char* op, ir::Expr* a, ir::Expr* b);
  ir::Expr* negate(ir::Expr* e);
  bool may_alias(const ir::Expr* target, const ir::Expr* e) const;

  // liveness.cpp
  void decide();
  using Live = VarSet;
  void find_live(List& list, Live& live);
  bool find_live(Reverse& r, Live& live);
  bool line_is_live(Reverse& r, Live& live);
  void read(const ir::Expr* e, Live& live);
  void read_again(const ir::Stmt* loop, Live& live);
  void read_lost(const ir::Expr* e, Live& live) const;
  static void forget(List& list);
  void need(const ir::Expr* e);
  void need(ir::Var* v);
  static bool does_more_than_declare(const List& list);
  bool region_empty(const ir::Region* region) const;

  // sums.cpp
  void find_sums(List& list);
  bool is_unordered(const Reverse& loop) const;

  // parallel.cpp: loops that several threads share
  bool is_shared(const ir::Expr* path) const;
  void share(List& list);
  void share_loop(Reverse& loop);
  void pragma(const Reverse& loop, Text& out) const;
  void forward_pragma(const ir::Stmt* loop, Text& out) const;

  // slice.cpp
  /// Statements to run.
  struct Slice {
    const ir::Stmt* outer = nullptr;  ///< the loop whose iterations they are run for again
    std::set<const ir::Stmt*> run;
    std::set<const ir::Var*> used;
    bool grown = false;
  };
  static bool keeps(const Slice& slice, const ir::Region* region);
  bool is_wanted(const ir::Stmt* s, const Slice& slice) const;
  const ir::Region* state_region(const ir::Stmt* s) const;
  bool add_to_slice(const ir::Body& body, Slice& slice) const;
  bool run(const ir::Stmt* s, Slice& slice) const;
  Slice find_slice(const ir::Stmt* loop) const;
  void decide_with_slices();
  bool may_replay(const ir::Stmt* loop);
  bool can_replay(const ir::Stmt* loop) const;
  bool should_replay(const ir::Stmt* loop) const;
  void find_replayed(const ir::Body& body);

  // sweeps.cpp: text
  void forward(const ir::Body& statements, Text& out) const;
  void forward(const ir::Stmt* s, Text& out) const;
  void forward_decl(const ir::Stmt* s, Text& out) const;
  void forward_call(const ir::Stmt* s, Text& out) const;
  void forward_moment(const ir::Stmt* s, Text& out) const;
  void forward_loop(const ir::Stmt* s, Text& out) const;
  std::string simple(const ir::Stmt* s) const;
  std::string call_text(const ir::Stmt* s) const;
  std::string forward_form_text(const ir::CallInfo& c) const;
  void backward(const List& list, Text& out) const;
  void region_text(const ir::Region* region, Text& out) const;
  bool begins_local(const ir::Stmt* s) const;
  void replay(const ir::Stmt* loop, Text& out) const;
  void set_kept(const ir::Stmt* loop, bool kept) const;
  void backward_loop(const Reverse& r, Text& out) const;
  bool is_flat(const ir::Stmt* loop) const;
  /// Whether the records of a loop are found by its counter.
  bool is_indexed(const ir::Stmt* loop) const { return loop->parallel || is_flat(loop); }
  std::string flat_record(const ir::Stmt* loop) const;
  std::string loop_head(const Reverse& r) const;

  // remarks.cpp
  std::string content(const ir::Region* region) const;
  void explain_loop(const ir::Stmt* loop) const;
  /// Whether the forward sweep leaves anything of the loop for the reverse sweep.
  bool loop_recorded(const ir::Stmt* s) const {
    if (loops_.count(s) == 0 || replayed_.count(s) != 0) return false;
    return !(s->count.counter && region_empty(s->region));
  }

  ir::Function& fn_;
  Diagnose& diagnose_;
  Analyses analyses_;
  List reverse_;
  std::map<const ir::Stmt*, std::vector<Save>> saves_;
  std::set<const ir::Stmt*> loops_;                      ///< those the reverse sweep runs through
  std::set<const ir::Stmt*> replayed_;                   ///< those of them that leave no tape
  std::map<const ir::Stmt*, Slice> slices_;              ///< of each of these; of the function, for null
  std::map<const ir::Stmt*, const ir::Region*> states_;  ///< of calls
  std::map<const ir::Var*, ir::Var*> lost_;  ///< pointers to what calls change for good: the values before
  std::map<const ir::Var*, ir::Loc> lost_read_;  ///< those of these values that something reads
  mutable const Slice* slice_ = nullptr;         ///< being printed; null: all
  ir::Region* region_ = nullptr;
  const ir::Stmt* parallel_ = nullptr;  ///< the parallel loop that is being reversed
  VarNumbers numbers_;
  bool changed_ = false;
  bool pointers_ = false;  ///< variables may be read through others
  ir::Loc loc_ = 0;
};

}  // namespace clad
