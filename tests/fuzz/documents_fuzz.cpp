// A text of documents in any of the forms that are read, encoded as `data prepare` does. The first byte
// chooses the form.
#include <zstd.h>

#include <cstdint>
#include <string>

#include "cladtorch/data/token_sequence.h"
#include "cladtorch/error.h"
#include "data/prepare/encode.h"
#include "io/temporary_folder.h"

namespace {

using namespace cladtorch;

/// Checks what every sink relies on.
class Sink final : public data::TokenSink {
 public:
  void begin_document() override { ++documents; }
  void append(std::span<const int32_t> tokens, bool) override {
    if (documents == 0) std::abort();
    for (int32_t token : tokens) {
      if (token < 0 || token > 255) std::abort();
    }
  }

 private:
  int documents = 0;
};

std::string zstd(std::string_view text) {
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  if (size == 0) return 0;
  static const io::TemporaryFolder folder;
  constexpr const char* names[] = {"a.jsonl",      "a.jsonl.zst", "a.jsonl.gz",
                                   "a.ndjson.zst", "a.txt",       "a.txt.gz"};
  const size_t form = input[0] % 6;
  const std::string text(reinterpret_cast<const char*>(input) + 1, size - 1);
  folder.write(names[form], form == 1 ? zstd(text) : text);
  data::PrepareOptions options;
  options.vocabulary = data::Vocabulary::bytes;
  options.validation_share = 0;
  options.split = data::Split::tail;
  options.threads = 1;
  options.text.skip_invalid = input[0] >= 128;
  if (input[0] & 64) options.text.field = "body";
  try {
    Sink train, validation;
    data::TextEncoder(folder / names[form], options).encode(train, validation);
  } catch (const Error&) {
  }
  return 0;
}
