// Stands for the header of an installed library: Clang reports nothing in it.
#pragma once
#pragma GCC system_header

namespace installed {

inline double checked(double x) {
  try {
    return x * x;
  } catch (...) {
    return 0;
  }
}
inline double twice_checked(double x) { return checked(x) * checked(x); }

}  // namespace installed
