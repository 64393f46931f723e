// Loops that the user wants checkpointed (clad::checkpoint_loop). Each becomes two functions, which are
// differentiated like any other: `step`, one iteration, and `loop`, which runs them. The variables from
// outside are parameters of both. Where the loop stood is a call of `loop`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diagnose.h"
#include "ir.h"
#include "passes.h"
#include "print.h"
#include "reverse.h"

namespace clad {

struct CheckpointedLoop {
  ir::Function step, loop;
  std::unique_ptr<ReverseTransform> step_sweeps, loop_sweeps;
  std::vector<std::string> carried;        ///< what the iterations change, as the snapshots are handed it
  std::vector<std::string> carried_types;  ///< their types
  std::string more;                        ///< whether there is another iteration
  std::string trips;                       ///< how many there are
  std::string limit;                       ///< of the snapshots
  bool post_test = false;

  Text text() const;

 private:
  std::string step_call(const char* suffix, const std::string& more_arguments) const;
  std::string reverse_call() const;
  Text head(const std::string& signature) const;
};

using Loops = std::vector<std::unique_ptr<CheckpointedLoop>>;

/// Takes the marked loops that carry derivatives out of `fn`, whose activity is known and whose calls are
/// resolved; inner ones come first. `unique` makes a name that nothing in the translation unit has.
Loops outline_loops(ir::Function& fn, const ir::Type* none, Diagnose& diagnose, const Analyses& analyses,
                    const std::function<std::string(const std::string&)>& unique);

}  // namespace clad
