#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/safetensors.h"
#include "train/bench/bench_step.h"

namespace cladtorch::train {
namespace {

io::StoredTensor stored(const Tensor& tokens) {
  return {io::StoredType::i32,
          {tokens.shape().begin(), tokens.shape().end()},
          {static_cast<const std::byte*>(tokens.data()), tokens.nbytes()}};
}

}  // namespace

void dump_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model,
                const std::filesystem::path& folder) {
  for (const char* part : {dump_weights, dump_gradient}) io::create_writable_folder(folder / part);
  BenchStep step(options, std::move(model));
  const double loss = step.forward_backward();
  formats::save_model(*step.master().to(Device{}), folder / dump_weights);
  formats::save_model(*step.gradient().to(Device{}), folder / dump_gradient);
  io::write_safetensors(folder / dump_batch,
                        {{"tokens", stored(step.tokens())},
                         {"targets", stored(step.targets())},
                         {"loss", {io::StoredType::f64, {}, std::as_bytes(std::span(&loss, 1))}}});
}

}  // namespace cladtorch::train
