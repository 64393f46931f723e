// Reports which C++ the headers need, and ends the compilation there, because countless errors would follow.
#pragma once

#if __cplusplus < 201709L
#ifdef __clang__
#pragma clang diagnostic fatal "-W#warnings"
#warning clad needs C++20: compile with -std=c++20
#endif
#error clad needs C++20: compile with -std=c++20
#include "clad needs C++20"
#endif
