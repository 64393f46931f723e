// docs/generated/gpt2_backward.md shows what the compiler writes; it must not go stale.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cladtorch/models/gpt2.h"

namespace cladtorch {
namespace {

std::string document() {
  std::string text =
      "# The backward of GPT-2, as the compiler wrote it\n\n"
      "This is `clad::value_and_gradient(weighted_loss<GPT2>, \"model\")` for the `weighted_loss` of\n"
      "[loss.h](../../include/cladtorch/models/loss.h): the text that the plugin generated from the forward "
      "of\n"
      "[gpt2.h](../../include/cladtorch/models/gpt2.h) and that the same compiler then compiled. Each "
      "function\n"
      "comes as a pair: `f_fwd` computes what `f` does and keeps what its derivative needs in `f_state`; "
      "`f_rev`\n"
      "walks back. A test compares this page with the compiler's output; to renew it, run\n"
      "`CLADTORCH_UPDATE_DOCS=1 ctest -R GPT2BackwardDoc` in the build folder.\n\n"
      "```cpp\n";
  text += loss_gradient_code();
  if (text.back() != '\n') text += '\n';
  return text + "```\n";
}

TEST(GPT2BackwardDoc, IsWhatTheCompilerWrites) {
  if (std::getenv("CLADTORCH_UPDATE_DOCS")) std::ofstream(CLADTORCH_BACKWARD_DOC) << document();
  std::ifstream file(CLADTORCH_BACKWARD_DOC);
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_TRUE(stored.str() == document()) << "docs/generated/gpt2_backward.md is stale; renew it with "
                                             "CLADTORCH_UPDATE_DOCS=1 ctest -R GPT2BackwardDoc";
}

}  // namespace
}  // namespace cladtorch
