// Says which C++ the headers need, and lets the compiler end there: what follows would be errors without
// number.
#pragma once

#if __cplusplus < 201709L
#ifdef __clang__
#pragma clang diagnostic fatal "-W#warnings"
#warning clad needs C++20: compile with -std=c++20
#endif
#error clad needs C++20: compile with -std=c++20
#include "clad needs C++20"
#endif
