// A pullback with state replaces the call in the forward sweep; one without state needs nothing kept beyond
// what it reads.
#include "clad/Differentiator/Differentiator.h"

double norm(const double* v, int n);
double scale(double x, double k);
namespace clad::custom_derivatives {
struct NormState {
  double norm;
};
double norm_reverse_forw(const double* v, int n, pullback_state<NormState>& state);
void norm_pullback(const double* v, int n, double d_y, double* d_v, pullback_state<NormState>& state);
void scale_pullback(CLAD_UNUSED double x, double k, double d_y, double* d_x, double* d_k);
}  // namespace clad::custom_derivatives

double f(const double* v, int n) { return scale(norm(v, n), 3); }
auto gradient = clad::gradient(f, "v");
