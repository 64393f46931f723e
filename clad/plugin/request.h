// What the user asks for: the uses of clad::gradient and its like.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace clang {
class Sema;
}

namespace clad {

class TypeTable;

/// Elements `first` to `last` of a parameter; of one without elements, both are absent.
struct Range {
  std::optional<std::uint64_t> first, last;
  std::string member;  ///< of an object, the number in it: ".position.x"
};

/// One use of clad::gradient or another function that asks for a derivative.
struct Request {
  enum Kind {
    Gradient,
    ValueAndGradient,
    ErrorEstimate,
    Pushforward,
    Derivative,
    Hessian,
    HessianVector,
    Jacobian
  };
  Kind kind = Gradient;
  unsigned order = 1;     ///< of Derivative
  bool diagonal = false;  ///< of Hessian
  bool vector = false;    ///< of Derivative: in all directions at once
  bool assign = false;    ///< the derivative replaces what it is added to otherwise
  bool all = false;       ///< every parameter that can be
  const clang::FunctionDecl* function = nullptr;
  const clang::CXXRecordDecl* functor = nullptr;  ///< of a function object: its class
  static constexpr unsigned object = ~0U;         ///< among parameters, the object of a method
  std::vector<unsigned> parameters;               ///< to differentiate with respect to
  std::vector<Range> ranges;                      ///< the elements of each
  std::uint64_t options = 0;                      ///< the template arguments, joined
  std::string entry;                              ///< name of the function bound to the call
  const clang::CallExpr* call = nullptr;          ///< null of a derivative that only another request's needs
  /// The entries for objects of classes that override a virtual function, derived classes first.
  std::vector<std::pair<const clang::CXXRecordDecl*, std::string>> overriders;
  clang::SourceLocation at;

  bool with_value() const { return kind == ValueAndGradient; }
  /// Of a function object that inherits its operator(), its class; null of any other.
  const clang::CXXRecordDecl* heir() const;
  /// Of the generated function that the entry calls.
  std::string name() const { return entry.substr(0, entry.size() - std::string("_entry").size()); }
};

/// What the arguments of a call ask for; nothing, after an error, if they do not fit.
std::optional<Request> read_request(clang::Sema& sema, TypeTable& types, const clang::CallExpr& call,
                                    Request::Kind kind);
/// The class of the object that a method is differentiated for: that of the method, or one that inherits it.
const clang::CXXRecordDecl* class_of_object(const clang::CXXMethodDecl* method,
                                            const clang::CXXRecordDecl* heir);
/// The function that the user called.
std::string asked(const Request& request);
/// What the name of the generated function ends in.
std::string suffix_of(const Request& request);

/// The requests of a translation unit, by their calls.
using RequestTable = std::map<const clang::CallExpr*, Request>;

}  // namespace clad
