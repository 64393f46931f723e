// What the shell and the system hand to the program, descriptors, signals and a number of threads, and how
// what it says gets out.
#pragma once

#include <string_view>

namespace cladtorch::apps {

/// Call before anything else. A closed standard descriptor becomes /dev/null, or the next file to be opened
/// would receive what is printed. A write that nobody reads, or that the file size limit (ulimit -f) forbids,
/// fails instead of ending the program. Throws Error where OMP_NUM_THREADS or CLADTORCH_SIMD is nothing that
/// it can be.
void prepare_process();

/// Writes to standard error. Where that is full or nobody reads it, the text is lost: there is no place to
/// say so.
void print_error(std::string_view text);

/// Writes to standard output, or fails as check_output() does.
void print_output(std::string_view text);

/// Throws Error where standard output did not take all that was printed. Where that is because its reader has
/// ended, the program ends without a word, as the system ends others.
void check_output();

/// The same for a failure with the error number `error_number`.
[[noreturn]] void fail_output(int error_number);

}  // namespace cladtorch::apps
