// A variable of its own for each value of a variable that is assigned again: `x = f(x); x = g(x);` as
// `x_1 = f(x); x_2 = g(x_1);`.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "ir.h"

namespace clad {

class Versions {
 public:
  /// Splits the variables whose assignments all stand where they are declared.
  explicit Versions(ir::Function& fn);
  /// Makes the function what it was. Nothing else may have changed it.
  void undo();

 private:
  struct Uses {
    const ir::Body* declared_in = nullptr;
    int assigned = 0;
    bool plain = true;  ///< it is only declared, assigned as a whole in the same body, and read
  };
  void find(const ir::Body& body);
  void rename(ir::Body& body);
  void rename(ir::Stmt* s);
  ir::Var* version(const ir::Var* v);
  template <class T>
  void set(T& place, T value) {
    undo_.push_back([&place, old = place] { place = old; });
    place = value;
  }

  ir::Function& fn_;
  std::map<const ir::Var*, Uses> uses_;
  std::map<const ir::Var*, ir::Var*> current_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace clad
