// Delays signals while files with temporary names exist.
#pragma once

namespace cladtorch::io {

/// While an object of this class lives, the first SIGINT, SIGTERM or SIGHUP that would end the process waits:
/// throw_if_any() throws, so that destructors remove unfinished files, and when the last object ends, the
/// signal takes effect. A second signal does not wait. Signals that the program handles or ignores are not
/// delayed. Objects may live in several threads.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Throws cladtorch::Error if a signal waits.
  static void throw_if_any();
};

}  // namespace cladtorch::io
