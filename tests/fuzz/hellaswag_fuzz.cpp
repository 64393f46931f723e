// A file of HellaSwag's questions, read in both styles.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cladtorch/data/hellaswag.h"
#include "cladtorch/error.h"
#include "data/text/utf8.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace cladtorch;

void check(const data::ChoiceQuestion& question) {
  if (question.answer >= question.endings.size()) std::abort();
  if (!data::utf8::is_valid(question.context)) std::abort();
  for (const std::string& ending : question.endings) {
    if (ending.empty() || !data::utf8::is_valid(ending)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const fuzz::MemoryFile file({input, size});
  for (const data::HellaSwagStyle style : {data::HellaSwagStyle::harness, data::HellaSwagStyle::llmc}) {
    try {
      for (const data::ChoiceQuestion& question : data::read_hellaswag(file.path(), style)) check(question);
    } catch (const Error&) {
    }
  }
  return 0;
}
