// Which sanitizers the code is compiled with: GCC tells by macros, Clang by features.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CLADTORCH_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CLADTORCH_THREAD_SANITIZER 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CLADTORCH_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define CLADTORCH_THREAD_SANITIZER 1
#endif
#endif
#ifndef CLADTORCH_ADDRESS_SANITIZER
#define CLADTORCH_ADDRESS_SANITIZER 0
#endif
#ifndef CLADTORCH_THREAD_SANITIZER
#define CLADTORCH_THREAD_SANITIZER 0
#endif
