// All derivatives of one translation unit: which functions are differentiated for which parameters, and their
// text.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "clang/AST/Decl.h"
#include "diagnose.h"
#include "globals.h"
#include "ir.h"
#include "lookup.h"
#include "outline.h"
#include "passes.h"
#include "print.h"
#include "request.h"
#include "reverse.h"
#include "rules.h"
#include "types.h"

namespace clad {

/// For which of its parameters a function is differentiated.
using Mask = std::vector<bool>;

/// What is generated of a function: forward in turn for each of `tangents`, then in reverse for `adjoints`.
struct DerivativeKey {
  const clang::FunctionDecl* function = nullptr;
  std::vector<ir::Tangents> tangents;
  bool reverse = true;
  Mask adjoints;       ///< of the function that `tangents` lead to
  bool error = false;  ///< the reverse sweep estimates the rounding error too
  bool value = true;   ///< the function's value is wanted, not only what the reverse sweep needs
  std::vector<const void*> targets = {};       ///< the functions that are passed as its parameters
  bool concurrent = false;                     ///< other threads may add to the same adjoints meanwhile
  const clang::CXXRecordDecl* heir = nullptr;  ///< of a method, the object's class if that inherits it

  bool operator<(const DerivativeKey& o) const {
    return std::tie(function, tangents, reverse, adjoints, error, value, targets, concurrent, heir) <
           std::tie(o.function, o.tangents, o.reverse, o.adjoints, o.error, o.value, o.targets, o.concurrent,
                    o.heir);
  }
};

class Module {
 public:
  /// Numbers to differentiate for, of one parameter.
  struct Independent {
    std::size_t parameter;
    const ir::Type* type;
    std::uint64_t offset;  ///< of the first among all
    std::uint64_t first;   ///< its index in the array
    std::uint64_t count;
    std::string member = {};  ///< of an object, the one number: ".position.x"
  };

  /// A quiet one keeps to itself what there is to say.
  Module(clang::Sema& sema, TypeTable& types, const Analyses& analyses, bool quiet)
      : sema_(sema),
        types_(types),
        analyses_(analyses),
        diagnose_(sema, quiet),
        lookup_(sema, types),
        rules_(sema, types, diagnose_, lookup_) {}

  void add(const Request& request);
  /// The uses of clad::differentiate and the like: a function that is differentiated may execute one.
  void set_uses(const RequestTable* uses) { uses_ = uses; }
  void set_globals(Globals* globals) { globals_ = globals; }
  /// The derivatives are constexpr functions in a namespace of this name, without entries.
  void set_constants(const std::string& space) { constants_ = space; }
  /// The functions marked as patterns of fusion rules.
  void set_patterns(const std::vector<const clang::FunctionDecl*>& patterns);
  /// Reports the opaque classes in use that lack what an adjoint needs.
  void check_opaques();
  bool failed() const { return diagnose_.failed(); }
  /// The whole generated text; `locations` gets one entry per line.
  std::string text(std::vector<ir::Loc>& locations) const;
  /// Functions of the user's program that the text may call.
  const std::set<const clang::FunctionDecl*>& callees() const { return callees_; }
  Diagnose& diagnose() { return diagnose_; }
  const TypeTable& types() const { return types_; }

 private:
  struct Instance {
    ir::Function fn;
    std::unique_ptr<ReverseTransform> sweeps;
    Loops loops;  ///< those of it that are checkpointed
    std::vector<Instance*> uses;
    /// Which parameters carry a derivative in each step: those asked for, and those that change with them.
    std::vector<Mask> reached;
    std::uint64_t width = 0;  ///< of the forward step that is being taken
    bool done = false;
    bool failed = false;
  };
  Instance* instance(const DerivativeKey& key, clang::SourceLocation use);
  Instance* instance(DerivativeKey key, const Request& request);
  bool lower(const DerivativeKey& key, clang::SourceLocation use, Instance& in);
  bool activate(const ir::Tangents& of, clang::SourceLocation use, Instance& in);

  // resolve.cpp
  using Resolve = void (Module::*)(ir::Stmt*, Instance&);
  bool resolve_calls(ir::Body& body, Instance& in, Resolve resolve);
  void resolve_reverse(ir::Stmt* s, Instance& in);
  void resolve_forward(ir::Stmt* s, Instance& in);
  bool by_differences(const ir::Stmt* s);
  bool has_callee(const ir::Stmt* s);
  void without_pullback(ir::CallInfo& call, clang::SourceLocation at);
  void rejected(clang::SourceLocation at, const clang::FunctionDecl* callee);
  bool has_derivative(const ir::CallInfo& call, clang::SourceLocation at,
                      const clang::FunctionDecl*& definition, const std::string& wanted);
  bool instantiate(const clang::FunctionDecl* function, clang::SourceLocation at,
                   const clang::FunctionDecl*& definition);
  void use_instance(ir::Stmt* s, const DerivativeKey& key, Instance& in);
  std::string base_name(const clang::FunctionDecl* function) const;
  Text gradient_text(const Request& request, Instance& in, const std::string& name, bool puts_back);
  void keep_globals(Instance& in, Text& after_forward, Text& after_reverse) const;
  void write_gradient(const Request& request, const clang::FunctionDecl* definition, const Mask& mask);
  void write_gradient(const Request& request, const clang::FunctionDecl* definition, Mask mask,
                      const std::string& alone);
  bool reach(const Request& request, const Instance& in, std::size_t step, Mask& mask, bool growing = false);
  // entry_forward.cpp
  void write_pushforward(const Request& request, const clang::FunctionDecl* definition, Mask mask);
  void write_derivative(const Request& request, const clang::FunctionDecl* definition, const Mask& mask);
  // entry_hessian.cpp
  void write_hessian(const Request& request, const clang::FunctionDecl* definition, const Mask& mask);
  void write_hessian_diagonal(const Request& request, const clang::FunctionDecl* definition, const Mask& mask,
                              const std::vector<Independent>& of);
  void write_hessian_rows(const Request& request, const clang::FunctionDecl* definition, const Mask& mask,
                          const std::vector<Independent>& of);
  Text hessian_text(const Request& request, ir::Function& fn, std::size_t params,
                    const std::vector<Independent>& of, const Text& before, const std::string& row,
                    const std::string& matrix, const Text& of_row) const;
  void finish_hessian(const Request& request, ir::Function& fn, std::size_t params,
                      const std::string& matrix);
  void write_hessian_vector(const Request& request, const clang::FunctionDecl* definition, Mask mask);
  // entry_directions.cpp
  void write_directions(const Request& request, const clang::FunctionDecl* definition, const Mask& mask);
  void write_jacobian(const Request& request, const clang::FunctionDecl* definition, const Mask& mask);
  std::optional<std::vector<Independent>> independents(const Request& request,
                                                       const clang::FunctionDecl* definition,
                                                       const Mask& mask);
  std::optional<std::vector<Mask>> steps(const Request& request, const clang::FunctionDecl* definition,
                                         const std::vector<Independent>& of, std::size_t params,
                                         unsigned order);
  static std::uint64_t number_of(const std::vector<Independent>& of);
  Instance* in_directions(const Request& request, const clang::FunctionDecl* definition,
                          const std::vector<Independent>& of, std::uint64_t width, Mask& reached);
  const ir::Type* parameter_type(const clang::FunctionDecl* definition, std::size_t i, std::size_t params);
  std::vector<std::string> declare_tangents(Text& text, ir::Function& fn, const std::vector<Independent>& of,
                                            std::uint64_t width, const Mask& reached, ir::Loc loc);
  static std::string call_text(const ir::Function& fn, const Mask& reached,
                               const std::vector<std::string>& tangents);
  // entry.cpp
  void write_choice(const Request& request);
  void write_dispatch(const Request& request, const std::string& frame);
  void write_code(const Request& request, const std::vector<const Instance*>& instances,
                  const Text& function);
  /// How the entry names what it passes on.
  struct EntryArguments {
    std::string frame, adjoint_frame, wanted;
    std::vector<std::string> primals, adjoints;
    std::string lengths;             ///< of what pointers point to of which elements are named
    std::vector<std::string> parts;  ///< those of the adjoints of which only some elements are the caller's
    Mask pointers;                   ///< which of the adjoints the function takes as pointers
    /// The primals, then the adjoints as references.
    std::vector<std::string> as_arguments() const;
  };
  EntryArguments write_arguments(const Request& request, ir::Function& fn, const Mask& active,
                                 std::size_t wanted, bool one_more = false, const std::string& alone = "");
  void write_places(const Request& request, ir::Function& fn, const Mask& active, std::size_t expected,
                    EntryArguments& given);
  /// Of an adjoint, the elements that the request names; none if it is the whole one.
  struct Part {
    std::string elements, how;
  };
  void write_adjoint(EntryArguments& given, const ir::Var* v, const std::string& name,
                     const std::string& which, const std::string& shape, ir::Loc loc, const Part& part = {});
  // entry_elements.cpp
  std::string named_elements(const Request& request, const ir::Function& fn, std::size_t parameter,
                             std::size_t hidden, const std::string& lengths) const;
  std::string declare_lengths(const Request& request, ir::Function& fn, std::size_t hidden,
                              const std::vector<std::string>& primals);
  bool check_ranges(const Request& request, const clang::FunctionDecl* definition);
  void no_derivative_of(const Request& request, const clang::ParmVarDecl* p);
  bool check_range(const Request& request, const clang::ParmVarDecl* p, const Range& range);
  bool find_lengths(const Request& request, const clang::FunctionDecl* definition, const Mask& mask,
                    std::vector<const Instance*>& code, Text& text);
  void finish_entry(const Request& request, const EntryArguments& given, const ir::Type* result,
                    const std::string& call);
  std::optional<Mask> mask_of(const Request& request, const clang::FunctionDecl* definition);
  const clang::FunctionDecl* call_of(const Request& request);
  Text code_of(const Instance& in) const;
  void collect(const Instance& in, std::vector<const Instance*>& order,
               std::set<const Instance*>& seen) const;
  Text fields_text() const;

  clang::Sema& sema_;
  TypeTable& types_;
  Analyses analyses_;
  Diagnose diagnose_;
  CustomLookup lookup_;
  const RequestTable* uses_ = nullptr;
  Globals* globals_ = nullptr;
  std::string constants_;
  Rules rules_;
  std::map<DerivativeKey, std::unique_ptr<Instance>> instances_;
  std::vector<Instance*> roots_;  ///< those that requests name
  std::set<const clang::FunctionDecl*> callees_;
  std::map<const clang::FunctionDecl*, const clang::FunctionDecl*> calls_;
  Text entries_;
};

}  // namespace clad
