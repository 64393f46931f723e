#include "ops/linalg/lapack.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "cladtorch/error.h"

#ifdef CLADTORCH_LAPACK

// The Fortran interface: characters have their lengths behind all arguments.
extern "C" {
#define CLADTORCH_LAPACK_FUNCTIONS(p, T)                                                                     \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                        \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*,      \
                 int*, size_t);                                                                              \
  void p##trtrs_(const char*, const char*, const char*, const int*, const int*, const T*, const int*, T*,    \
                 const int*, int*, size_t, size_t, size_t);                                                  \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                                     \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, \
                 int*, size_t, size_t);                                                                      \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                          \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);        \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,    \
                 T*, const int*, int*, int*, size_t);
CLADTORCH_LAPACK_FUNCTIONS(s, float)
CLADTORCH_LAPACK_FUNCTIONS(d, double)
#undef CLADTORCH_LAPACK_FUNCTIONS
/// Only OpenBLAS has it.
__attribute__((weak)) int openblas_get_num_threads();
}
#define CLADTORCH_CALL(T, name, ...)           \
  do {                                         \
    if constexpr (std::is_same_v<T, double>) { \
      d##name##_(__VA_ARGS__);                 \
    } else {                                   \
      s##name##_(__VA_ARGS__);                 \
    }                                          \
  } while (false)

namespace cladtorch::detail::lapack {

bool available() { return true; }
bool has_threads() { return openblas_get_num_threads != nullptr && openblas_get_num_threads() > 1; }

template <class T>
int factor(int n, T* a, int32_t* pivots) {
  const int lead = std::max(1, n);
  int info = 0;
  CLADTORCH_CALL(T, getrf, &n, &n, a, &lead, pivots, &info);
  return info;
}

template <class T>
int solve(int n, int k, bool transposed, const T* lu, const int32_t* pivots, T* x) {
  const int lead = std::max(1, n);
  int info = 0;
  CLADTORCH_CALL(T, getrs, transposed ? "N" : "T", &n, &k, lu, &lead, pivots, x, &lead, &info, 1);
  return info;
}

template <class T>
int solve_triangle(int n, int k, bool upper, bool transposed, bool unit, const T* a, T* x) {
  const int lead = std::max(1, n);
  int info = 0;
  CLADTORCH_CALL(T, trtrs, upper ? "L" : "U", transposed ? "N" : "T", unit ? "U" : "N", &n, &k, a, &lead, x,
                 &lead, &info, 1, 1, 1);
  return info;
}

template <class T>
int cholesky(int n, T* a) {
  const int lead = std::max(1, n);
  int info = 0;
  CLADTORCH_CALL(T, potrf, "U", &n, a, &lead, &info, 1);
  return info;
}

template <class T>
int eigen(int n, T* a, T* values) {
  const int lead = std::max(1, n), query = -1;
  int info = 0, integers = 0;
  T size = 0;
  CLADTORCH_CALL(T, syevd, "V", "U", &n, a, &lead, values, &size, &query, &integers, &query, &info, 1, 1);
  std::vector<T> work(static_cast<size_t>(std::max(T(1), size)));
  std::vector<int> more(static_cast<size_t>(std::max(1, integers)));
  const int work_size = static_cast<int>(work.size()), more_size = static_cast<int>(more.size());
  CLADTORCH_CALL(T, syevd, "V", "U", &n, a, &lead, values, work.data(), &work_size, more.data(), &more_size,
                 &info, 1, 1);
  return info;
}

template <class T>
int qr(int m, int n, T* q, T* r) {
  const int lead = std::max(1, m), query = -1;
  int info = 0;
  T size = 0, other = 0;
  std::vector<T> tau(static_cast<size_t>(std::max(1, n)));
  CLADTORCH_CALL(T, geqrf, &m, &n, q, &lead, tau.data(), &size, &query, &info);
  CLADTORCH_CALL(T, orgqr, &m, &n, &n, q, &lead, tau.data(), &other, &query, &info);
  std::vector<T> work(static_cast<size_t>(std::max({T(1), size, other})));
  const int work_size = static_cast<int>(work.size());
  CLADTORCH_CALL(T, geqrf, &m, &n, q, &lead, tau.data(), work.data(), &work_size, &info);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) r[i * n + j] = j >= i ? q[j * m + i] : T(0);
  CLADTORCH_CALL(T, orgqr, &m, &n, &n, q, &lead, tau.data(), work.data(), &work_size, &info);
  return info;
}

template <class T>
int singular(int m, int n, T* a, T* values, T* u, T* vh) {
  // The transposed matrix [n, m] has the vectors exchanged.
  const int count = std::min(m, n), lead = std::max(1, n), lead_u = std::max(1, count), query = -1;
  const char* const job = u ? "S" : "N";
  int info = 0;
  T size = 0;
  std::vector<int> integers(static_cast<size_t>(8 * std::max(1, count)));
  CLADTORCH_CALL(T, gesdd, job, &n, &m, a, &lead, values, vh, &lead, u, &lead_u, &size, &query,
                 integers.data(), &info, 1);
  std::vector<T> work(static_cast<size_t>(std::max(T(1), size)));
  const int work_size = static_cast<int>(work.size());
  CLADTORCH_CALL(T, gesdd, job, &n, &m, a, &lead, values, vh, &lead, u, &lead_u, work.data(), &work_size,
                 integers.data(), &info, 1);
  return info;
}

#else

namespace cladtorch::detail::lapack {

bool available() { return false; }
bool has_threads() { return false; }

[[noreturn]] static void missing() {
  fail("linalg: this build has no LAPACK; install liblapack-dev and configure again");
}
template <class T>
int factor(int, T*, int32_t*) {
  missing();
}
template <class T>
int solve(int, int, bool, const T*, const int32_t*, T*) {
  missing();
}
template <class T>
int solve_triangle(int, int, bool, bool, bool, const T*, T*) {
  missing();
}
template <class T>
int cholesky(int, T*) {
  missing();
}
template <class T>
int eigen(int, T*, T*) {
  missing();
}
template <class T>
int qr(int, int, T*, T*) {
  missing();
}
template <class T>
int singular(int, int, T*, T*, T*, T*) {
  missing();
}

#endif

#define CLADTORCH_INSTANTIATE(T)                                         \
  template int factor(int, T*, int32_t*);                                \
  template int solve(int, int, bool, const T*, const int32_t*, T*);      \
  template int solve_triangle(int, int, bool, bool, bool, const T*, T*); \
  template int cholesky(int, T*);                                        \
  template int eigen(int, T*, T*);                                       \
  template int qr(int, int, T*, T*);                                     \
  template int singular(int, int, T*, T*, T*, T*);
CLADTORCH_INSTANTIATE(float)
CLADTORCH_INSTANTIATE(double)

}  // namespace cladtorch::detail::lapack
