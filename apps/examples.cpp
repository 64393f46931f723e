#include "apps/examples.h"

#include <map>

#include "apps/command_tree.h"

namespace cladtorch::apps {
namespace {

/// By the command's path.
const std::map<std::string, std::vector<std::string>> examples = {
    {"",
     {"cladtorch train", "cladtorch generate --from runs/stories --prompt \"The fox\"",
      "cladtorch finetune --from gpt2 --text my.txt --out runs/mine"}},
    {"train",
     {"cladtorch train", "cladtorch train --text input.txt --config configs/shakespeare.toml --lr 5e-4",
      "cladtorch train --resume runs/stories --steps 9000"}},
    {"finetune",
     {"cladtorch finetune --from gpt2 --text my.txt --out runs/mine",
      "cladtorch finetune --from gpt2 --text my.txt --lora-rank 8 --steps 200"}},
    {"generate",
     {"cladtorch generate --from runs/stories --prompt \"The fox\"",
      "cladtorch generate --from gpt2 --adapter runs/mine --tokens 100 --temperature 0"}},
    {"eval",
     {"cladtorch eval --from runs/stories --text other.txt",
      "cladtorch eval --from gpt2 --text wiki.txt --hellaswag hellaswag_val.jsonl --json"}},
    {"data",
     {"cladtorch data show --text input.txt",
      "cladtorch data prepare --text corpus/ --tokenizer gpt2/ --out tokens"}},
    {"data show", {"cladtorch data show --text input.txt --tokenizer byte"}},
    {"data prepare",
     {"cladtorch data prepare --text corpus/ --tokenizer gpt2/ --out tokens",
      "cladtorch data prepare --text chats.jsonl.gz --validation chats-test.jsonl --out tokens"}},
    {"data export", {"cladtorch data export --text input.txt --tokenizer gpt2/ --out llmc-tokens"}},
    {"data stories", {"cladtorch data stories --bytes 100000 --out stories.txt"}},
    {"tokenizer",
     {"cladtorch tokenizer train --text texts/ --out tokenizer.json",
      "cladtorch tokenizer encode --tokenizer gpt2/ \"The fox\""}},
    {"tokenizer train", {"cladtorch tokenizer train --text texts/ --vocab-size 32000 --out tokenizer.json"}},
    {"tokenizer encode",
     {"cladtorch tokenizer encode --tokenizer gpt2/ \"The fox\"",
      "cladtorch tokenizer encode --tokenizer tokenizer.json --text input.txt"}},
    {"tokenizer decode", {"cladtorch tokenizer decode --tokenizer gpt2/ 464 21831"}},
    {"tokenizer show", {"cladtorch tokenizer show --tokenizer gpt2/"}},
    {"import", {"cladtorch import --from gpt2_124M.bin --out gpt2"}},
    {"export",
     {"cladtorch export --from runs/stories --out stories.gguf --format gguf",
      "cladtorch export --from gpt2 --out gpt2_124M_bf16.bin --format llmc --dtype bf16"}},
    {"merge",
     {"cladtorch merge --from runs/mine --out merged",
      "cladtorch merge --from gpt2 --adapter adapter --out merged"}},
    {"info", {"cladtorch info", "cladtorch info runs/stories"}},
    {"report",
     {"cladtorch report runs/stories", "cladtorch report runs/stories runs/shakespeare --out compare.html"}},
    {"bench",
     {"cladtorch bench --model gpt2 --batch 4 --context 64",
      "cladtorch bench --model gpt2 --device cuda --dtype bf16 --json"}},
    {"plan",
     {"cladtorch plan --model gpt2-xl --ranks 64 --device h100",
      "cladtorch plan --model gpt2 --ranks 8 --network 12.5 --tokens 10B --json"}},
    {"completion",
     {"cladtorch completion bash > ~/.local/share/bash-completion/completions/cladtorch",
      "cladtorch completion zsh > ~/.zfunc/_cladtorch",
      "cladtorch completion fish > ~/.config/fish/completions/cladtorch.fish"}},
};

}  // namespace

std::vector<std::string> examples_of(const CLI::App& command) {
  const auto found = examples.find(path_of(command));
  return found == examples.end() ? std::vector<std::string>() : found->second;
}

}  // namespace cladtorch::apps
