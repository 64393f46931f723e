// tokenizers_bench <tokenizer> <text> <file for the tokens> <repetitions>
// Encodes the text on one thread, writes the tokens as little-endian int32, and prints the seconds of
// processor time of each repetition, a line each. compare.py checks the tokens and reads the times.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string_view>

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/io/atomic_file.h"

namespace {

int run(char** argv) {
  const auto tokenizer = cladtorch::data::load_tokenizer(argv[1]);
  const std::string text = cladtorch::io::read_file(argv[2]);
  const int repetitions = std::atoi(argv[4]);
  for (int i = 0; i < repetitions; ++i) {
    const std::clock_t start = std::clock();
    const std::vector<int32_t> tokens = tokenizer->encode(text);
    std::printf("%.9f\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (i == 0) {
      cladtorch::io::write_file(argv[3], {reinterpret_cast<const char*>(tokens.data()), 4 * tokens.size()});
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "tokenizers_bench: expected <tokenizer> <text> <file for the tokens> <repetitions>\n");
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tokenizers_bench: %s\n", error.what());
    return 1;
  }
}
