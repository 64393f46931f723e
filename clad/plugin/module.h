// All derivatives of one translation unit: which functions are differentiated for which parameters, and their
// text.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/Decl.h"
#include "diagnose.h"
#include "ir.h"
#include "lookup.h"
#include "print.h"
#include "reverse.h"
#include "types.h"

namespace clad {

/// One use of clad::gradient or clad::value_and_gradient.
struct Request {
  const clang::FunctionDecl* function = nullptr;
  const clang::CXXRecordDecl* functor = nullptr;  ///< of a function object: its class
  std::vector<unsigned> parameters;               ///< to differentiate with respect to
  std::string entry;                              ///< name of the function bound to the call
  clang::SourceLocation at;
  bool with_value = false;
};

class Module {
 public:
  Module(clang::Sema& sema, TypeTable& types)
      : sema_(sema), types_(types), diagnose_(sema), lookup_(sema, types) {}

  void add(const Request& request);
  /// Reports the opaque classes in use that lack what an adjoint needs.
  void check_opaques();
  bool failed() const { return diagnose_.failed(); }
  /// The whole generated text; `locations` gets one entry per line.
  std::string text(std::vector<ir::Loc>& locations) const;
  /// Functions of the user's program that the text may call.
  const std::set<const clang::FunctionDecl*>& callees() const { return callees_; }
  Diagnose& diagnose() { return diagnose_; }

 private:
  struct Instance {
    ir::Function fn;
    std::unique_ptr<ReverseTransform> sweeps;
    std::vector<Instance*> uses;
    bool done = false;
    bool failed = false;
  };
  Instance* instance(const clang::FunctionDecl* function, const std::vector<bool>& mask,
                     clang::SourceLocation use);
  void resolve_calls(ir::Body& body, Instance& in);
  void resolve(ir::Stmt* s, Instance& in);
  std::string base_name(const clang::FunctionDecl* function) const;
  Text gradient_text(const Request& request, ir::Function& fn, const std::string& name) const;
  void write_entry(const Request& request, Instance& in);
  Text code_of(const Instance& in) const;
  void collect(const Instance& in, std::vector<const Instance*>& order,
               std::set<const Instance*>& seen) const;
  Text fields_text() const;

  clang::Sema& sema_;
  TypeTable& types_;
  Diagnose diagnose_;
  CustomLookup lookup_;
  std::map<std::pair<const clang::FunctionDecl*, std::vector<bool>>, std::unique_ptr<Instance>> instances_;
  std::vector<Instance*> order_;
  std::set<const clang::FunctionDecl*> callees_;
  Text entries_;
};

}  // namespace clad
