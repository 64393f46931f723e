#include "cladtorch/train/stop_signal.h"

#include <signal.h>

namespace cladtorch::train {
namespace {

volatile sig_atomic_t stop_requested = 0;

extern "C" void request_stop(int number) {
  stop_requested = 1;
  ::signal(number, SIG_DFL);  // the next one is served by the system
}

void install(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // a save in progress must not see EINTR
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  stop_requested = 0;
  install(request_stop);
}

StopSignal::~StopSignal() { install(SIG_DFL); }

bool StopSignal::requested() const { return stop_requested != 0; }

}  // namespace cladtorch::train
