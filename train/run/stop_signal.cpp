#include "cladtorch/train/stop_signal.h"

#include <cstddef>

namespace cladtorch::train {
namespace {

volatile sig_atomic_t stop_requested = 0;

extern "C" void request_stop(int number) {
  stop_requested = 1;
  ::signal(number, SIG_DFL);  // the next one is served by the system
}

constexpr std::array<int, 4> signals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

}  // namespace

StopSignal::StopSignal() {
  stop_requested = 0;
  struct sigaction action{};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;  // a save in progress must not see EINTR
  for (size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
}

bool StopSignal::requested() const { return stop_requested != 0; }

}  // namespace cladtorch::train
