// The passes between the frontend and the reverse transformation.
#pragma once

#include "ir.h"

namespace clad {
class Diagnose;

/// What finds out what need not be computed or kept. Without one of them the derivative does more; its
/// numbers are the same.
struct Analyses {
  bool counters = true;  ///< loops run backwards by their counter, not by a count of iterations
  bool liveness = true;  ///< overwritten values are put back only where they are read again
  bool slices = true;    ///< the forward sweep computes only what is wanted
  bool replay = true;    ///< independent iterations are computed again, not kept
  bool flat = true;      ///< records of loops that say how often they run lie side by side
  bool fusion = true;    ///< patterns of fusion rules are replaced
  bool steps = true;     ///< an index that is stepped where it is read needs no copy
  bool equal = true;     ///< a variable that always equals another is not computed
  bool sums = true;      ///< adjoints that loops only add to are summed up apart, in any order
};

/// Removes Break, Continue and Return from the middle of bodies: what follows a branch that leaves moves into
/// the other branch; where that is not possible a flag guards it. Afterwards Return stands only where control
/// ends anyway.
void structure(ir::Function& fn, const ir::Type* boolean);

/// Reads a variable that has just been stepped, as `x[next++]` does, in place of a copy of what it was.
void read_after_steps(ir::Function& fn);

/// Of the tangents of two steps in the same direction, by their primals, removes one where both are found to
/// be equal. Returns the tangents of the second step, with those that stand for removed ones.
std::map<ir::Var*, ir::Var*> merge_equal(ir::Function& fn, const std::map<ir::Var*, ir::Var*>& first,
                                         std::map<ir::Var*, ir::Var*> second);

/// Finds the variables that depend on active parameters, and marks the active arguments of every call.
void find_active(ir::Function& fn, Diagnose& diagnose);

/// Finds the loops whose counter can be run backwards without being kept.
void find_counters(ir::Function& fn);
/// Finds the counter of one loop.
bool find_counter(ir::Function& fn, ir::Stmt* loop);

/// Marks the calls whose adjoints other threads may add to at the same time.
void find_concurrent(ir::Function& fn, Diagnose& diagnose);

}  // namespace clad
