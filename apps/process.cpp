#include "apps/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/ops/instruction_set.h"
#include "cladtorch/quote.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::apps {
namespace {

void (*pipe_handler)(int) = SIG_DFL;  // before it was ignored

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Those below are open, so that this one is the lowest that is free.
    if (::open("/dev/null", O_RDWR) != descriptor)
      throw Error(io::describe_failure("open", "/dev/null", errno));
  }
}

/// Whether `text` is a number of threads, with spaces around it or not.
bool counts_threads(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  text = text.substr(first, text.find_last_not_of(' ') + 1 - first);
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc{} && end == text.data() + text.size() && count >= 1 && count <= most_threads;
}

/// LLVM's OpenMP aborts or starts threads without end on a great number, on a text that is none, and on none
/// at all.
void check_thread_variable() {
  const char* const value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return;
  if (*value == '\0') {
    ::unsetenv("OMP_NUM_THREADS");
    return;
  }
  std::istringstream levels(value);  // one number for each level of nested loops
  for (std::string count; std::getline(levels, count, ',');) {
    if (counts_threads(count)) continue;
    fail("OMP_NUM_THREADS is ", in_quotes(value), ", expected 1 to ", most_threads, " threads");
  }
}

/// Nobody has the other end of the pipe that standard output is.
bool output_has_no_reader() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void prepare_process() {
  open_standard_descriptors();
  pipe_handler = ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  check_thread_variable();
  instruction_set();
}

void print_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_output(errno);
}

void check_output() {
  if (std::fflush(stdout) != 0) fail_output(errno);
  if (std::ferror(stdout) != 0) fail_output(EIO);  // an earlier write, whose own reason is lost
}

void fail_output(int error_number) {
  if (pipe_handler == SIG_DFL && output_has_no_reader()) {
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
  }
  throw Error(io::describe_failure("write", "standard output", error_number));
}

}  // namespace cladtorch::apps
