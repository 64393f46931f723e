// Signals that wait while files under temporary names are about.
#pragma once

namespace cladtorch::io {

/// While an object of this class lives, the first SIGINT, SIGTERM or SIGHUP that would end the process waits:
/// throw_if_any() throws, so that destructors remove unfinished files, and with the last object the signal
/// does what it would have done at once. A second signal does not wait. Signals that the program handles or
/// ignores are left alone. Objects may live in several threads.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Throws cladtorch::Error when a signal waits.
  static void throw_if_any();
};

}  // namespace cladtorch::io
