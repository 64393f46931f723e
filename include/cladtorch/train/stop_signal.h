// Ctrl-C and SIGTERM as a polite request.
#pragma once

namespace cladtorch::train {

/// While one is alive, the first SIGINT or SIGTERM only sets a flag, so that the training loop can finish its
/// step and save; a second one ends the process as if nobody had asked. At most one at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;
};

/// What shells expect of a program that stopped on Ctrl-C.
inline constexpr int interrupted_exit_code = 130;

}  // namespace cladtorch::train
