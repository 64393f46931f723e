// Turns Ctrl-C, SIGTERM, SIGUSR1 and a closed terminal into a request to stop.
#pragma once

#include <signal.h>

#include <array>

namespace cladtorch::train {

/// While an object of this class lives, the first SIGINT, SIGTERM, SIGHUP or SIGUSR1, which Slurm sends
/// before the end of a job's time if it is asked to, only sets a flag, so that the training loop can finish
/// its step and save; a second one ends the process at once. A signal that the process was started to ignore
/// (nohup, a script's background job) stays ignored. There may be only one object at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const;

 private:
  std::array<struct sigaction, 4> before_{};
};

/// The exit code that shells expect of a program that stopped on Ctrl-C.
inline constexpr int interrupted_exit_code = 130;

}  // namespace cladtorch::train
