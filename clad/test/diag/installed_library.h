// Stands for the header of an installed library: Clang reports nothing in it.
#pragma once
#pragma GCC system_header

namespace installed {

inline double checked(double x) {
  if (x > 0) goto done;
  x *= 2;
done:
  return x * x;
}
inline double twice_checked(double x) { return checked(x) * checked(x); }

}  // namespace installed
