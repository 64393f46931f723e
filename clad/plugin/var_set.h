// Sets of variables as bits: the analyses of a large function copy and join many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir.h"

namespace clad {

/// Numbers variables as they come.
class VarNumbers {
 public:
  unsigned operator()(const ir::Var* v) {
    if (v->number < known_.size() && known_[v->number] == v) return v->number;
    v->number = static_cast<unsigned>(known_.size());
    known_.push_back(v);
    return v->number;
  }

 private:
  std::vector<const ir::Var*> known_;
};

class VarSet {
 public:
  explicit VarSet(VarNumbers& numbers) : numbers_(&numbers) {}

  bool contains(const ir::Var* v) const {
    const unsigned n = (*numbers_)(v);
    return n / 64 < bits_.size() && (bits_[n / 64] >> n % 64 & 1) != 0;
  }
  void insert(const ir::Var* v) {
    const unsigned n = (*numbers_)(v);
    if (n / 64 >= bits_.size()) bits_.resize(n / 64 + 1);
    bits_[n / 64] |= std::uint64_t{1} << n % 64;
  }
  void erase(const ir::Var* v) {
    if (contains(v)) bits_[v->number / 64] &= ~(std::uint64_t{1} << v->number % 64);
  }
  /// Adds the others; true if there are any new ones.
  bool insert(const VarSet& others) {
    if (bits_.size() < others.bits_.size()) bits_.resize(others.bits_.size());
    bool grown = false;
    for (std::size_t i = 0; i < others.bits_.size(); ++i) {
      grown |= (others.bits_[i] & ~bits_[i]) != 0;
      bits_[i] |= others.bits_[i];
    }
    return grown;
  }

 private:
  VarNumbers* numbers_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace clad
