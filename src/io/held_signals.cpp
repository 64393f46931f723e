#include "cladtorch/io/held_signals.h"

#include <signal.h>

#include <array>
#include <cstddef>
#include <mutex>

#include "cladtorch/error.h"

namespace cladtorch::io {
namespace {

constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t held_signal = 0;

extern "C" void hold_signal(int number) {
  held_signal = number;
  for (const int signal : signals) {  // the next one is served by the system
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == hold_signal)
      ::signal(signal, SIG_DFL);
  }
}

std::mutex mutex;
int objects = 0;

void replace_handlers(void (*from)(int), void (*to)(int)) {
  for (const int signal : signals) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != from) continue;
    action = {};
    action.sa_handler = to;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

HeldSignals::HeldSignals() {
  const std::lock_guard lock(mutex);
  if (objects++ == 0) replace_handlers(SIG_DFL, hold_signal);
}

HeldSignals::~HeldSignals() {
  const std::lock_guard lock(mutex);
  if (--objects > 0) return;
  replace_handlers(hold_signal, SIG_DFL);
  if (const int number = held_signal; number != 0) {
    held_signal = 0;
    ::raise(number);
  }
}

void HeldSignals::throw_if_any() {
  if (held_signal != 0) fail("interrupted");
}

}  // namespace cladtorch::io
