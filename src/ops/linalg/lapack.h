// LAPACK for one matrix of float or double. A matrix whose rows follow one another in memory is the
// transposed one to LAPACK. Each function returns LAPACK's `info`: 0, or i > 0 for the place that failed.
#pragma once

#include <cstdint>

namespace cladtorch::detail::lapack {

/// Whether there is a LAPACK, and whether it is one that starts threads of its own.
bool available();
bool has_threads();

/// `a` [n, n] becomes the factors of LU of the transposed matrix.
template <class T>
int factor(int n, T* a, int32_t* pivots);
/// Each of k rows of x [k, n] becomes the solution of it by the transposed matrix, or by the matrix itself
/// that factor() was given transposed.
template <class T>
int solve(int n, int k, bool transposed, const T* lu, const int32_t* pivots, T* x);
/// The same by a triangular matrix a [n, n] itself, or transposed.
template <class T>
int solve_triangle(int n, int k, bool upper, bool transposed, bool unit, const T* a, T* x);
/// The lower triangle of a [n, n] becomes L; the upper one is left alone.
template <class T>
int cholesky(int n, T* a);
/// The rows of a [n, n] become the eigenvectors of the matrix whose lower triangle it was.
template <class T>
int eigen(int n, T* a, T* values);
/// The rows of q [n, m], m >= n, become the columns of Q, and r [n, n] becomes R.
template <class T>
int qr(int m, int n, T* q, T* r);
/// The min(m, n) singular values of a [m, n], which is overwritten; with the vectors u [m, k] and vh [k, n]
/// unless these are null.
template <class T>
int singular(int m, int n, T* a, T* values, T* u, T* vh);

}  // namespace cladtorch::detail::lapack
