// The programs without OpenMP.
#include "clad/test/run/openmp_kernels.h"

std::vector<Case> cases_in_turn() { return all_cases(); }
