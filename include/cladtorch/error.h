// The one exception type of the library and the helpers that build its one-line messages.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace cladtorch {

/// Thrown when a caller or the environment is at fault: a shape, a file, a flag. The message is one line that
/// names the operation, what it expected, what it got, and the way out if there is one.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the parts written one after the other by operator<<.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  throw Error(out.str());
}

/// Throws Error made of `parts` unless `condition` holds. The parts are formatted only on failure.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace cladtorch
