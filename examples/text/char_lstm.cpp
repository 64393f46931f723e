// Trains an LSTM on the characters of a text, and lets it continue.
//
//     char_lstm [FILE [STEPS]]
#include <cstdio>
#include <cstdlib>

#include "training.h"

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3";
  const int64_t steps = argc > 2 ? std::atoll(argv[2]) : 1000;
  if (argc > 3 || steps < 1) {
    std::fprintf(stderr, "usage: char_lstm [FILE [STEPS]]\n");
    return 2;
  }
  try {
    const std::string all = text::read_file(path);
    const text::Alphabet alphabet(all);
    std::printf("%zu characters, %lld different ones\n", all.size(), static_cast<long long>(alphabet.size()));
    const text::CharacterLstm model = text::train_characters(
        alphabet.encode(all), alphabet.size(), steps, 1, [&](int64_t step, double loss) {
          if (step % (steps / 10 + 1) == 0 || step + 1 == steps)
            std::printf("step %5lld  loss %.3f\n", static_cast<long long>(step), loss), std::fflush(stdout);
        });
    std::printf("\n%s\n", text::continued(model, alphabet, all.substr(0, 1), 400, 2).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "char_lstm: %s\n", error.what());
    return 1;
  }
  return 0;
}
