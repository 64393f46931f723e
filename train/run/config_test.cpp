#include "cladtorch/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/random.h"
#include "io/temporary_folder.h"
#include "train/run/foreign_keys.h"

namespace cladtorch::train {
namespace {

using io::error_of;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of_file(const std::string& toml) {
  io::TemporaryFolder folder;
  io::write_file(folder / "c.toml", toml);
  TrainConfig config;
  return error_of([&] { read_config(config, folder / "c.toml"); });
}

std::string error_of_set(const std::string& assignment) {
  TrainConfig config;
  return error_of([&] {
    set_config(config, assignment);
    check_config(config);
  });
}

TEST(Config, IsReadBackFromItsOwnFile) {
  TrainConfig config;
  config.data.text = "a \"quoted\" \\ path/ä.txt";
  config.optimizer.lr = 0.1 + 0.2;
  config.optimizer.clip = 1.0;
  config.model.gradient_checkpointing = true;
  config.run.seed = std::numeric_limits<int64_t>::max();
  io::TemporaryFolder folder;
  io::write_file(folder / "c.toml", config_toml(config));
  TrainConfig read;
  read_config(read, folder / "c.toml");
  EXPECT_EQ(config_json(read), config_json(config));
  EXPECT_EQ(read.optimizer.lr, 0.1 + 0.2);
}

TEST(Config, IsReadBackWhateverItsStringsHold) {
  Random random(1);
  const io::TemporaryFolder folder;
  for (int trial = 0; trial < 300; ++trial) {
    TrainConfig config, read;
    for (std::string* text : {&config.run.name, &config.data.text, &config.sample.prompt}) {
      const uint64_t length = random.below(8);
      for (uint64_t i = 0; i < length; ++i) {
        *text += random.below(4) == 0 ? "\u20ac" : std::string(1, static_cast<char>(random.below(128)));
      }
    }
    io::write_file(folder / "c.toml", config_toml(config));
    read_config(read, folder / "c.toml");
    ASSERT_EQ(config_json(read), config_json(config)) << config_toml(config);
  }
}

TEST(Config, TakesAnIntegerWhereANumberIsExpected) {
  EXPECT_EQ(error_of_file("[optimizer]\nclip = 1\n"), "");
  TrainConfig config;
  set_config(config, "optimizer.lr=1e-3");
  EXPECT_EQ(config.optimizer.lr, 1e-3);
}

TEST(Config, ReadsAChoice) {
  TrainConfig config;
  for (const bool choice : {true, false}) {
    set_config(config, std::string("model.gradient_checkpointing=") + (choice ? "true" : "false"));
    EXPECT_EQ(config.model.gradient_checkpointing, choice);
  }
}

TEST(Config, SuggestsTheKeyThatWasMeant) {
  EXPECT_THAT(error_of_file("[optimizer]\nlearning = 1\nlr = 1\n"),
              HasSubstr("c.toml:2: unknown key 'optimizer.learning'"));
  EXPECT_THAT(error_of_file("[optimiser]\nlr = 1\n"), HasSubstr("did you mean 'optimizer.lr'?"));
  EXPECT_THAT(error_of_file("steps = 5\n"), HasSubstr("did you mean 'train.steps'?"));
  EXPECT_THAT(error_of_set("train.step=5"),
              HasSubstr("unknown key 'train.step' (did you mean 'train.steps'?)"));
  EXPECT_THAT(error_of_set("Optimizer.LR=5"),
              HasSubstr("unknown key 'Optimizer.LR' (did you mean 'optimizer.lr'?)"));
  EXPECT_THAT(error_of_set("weigth_decay=5"), HasSubstr("did you mean 'optimizer.weight_decay'?"));
  EXPECT_THAT(error_of_set("dropout=0.1"), HasSubstr("did you mean 'model.dropout'?"));
  EXPECT_THAT(error_of_set("laro.dropout=0.1"), HasSubstr("did you mean 'lora.dropout'?"));
}

TEST(Config, KnowsTheNamesOfOtherPrograms) {
  EXPECT_THAT(error_of_set("model.block_size=5"),
              HasSubstr("unknown key 'model.block_size' (did you mean 'model.context'?)"));
  for (const char* name : {"Optimizer.learning_rate", "optimizer.learning_rate", "train.Learning-Rate",
                           "learning_rate", "learning_rat"}) {
    EXPECT_THAT(error_of_set(std::string(name) + "=1"), HasSubstr("(did you mean 'optimizer.lr'?)")) << name;
  }
  EXPECT_THAT(error_of_file("n_embd = 64\n"), HasSubstr("(did you mean 'model.channels'?)"));
  EXPECT_THAT(error_of_file("[TrainingArguments]\nmax_steps = 64\n"),
              HasSubstr("(did you mean 'train.steps'?)"));
  EXPECT_THAT(error_of_set("num_train_epochs=3"),
              HasSubstr("(did you mean 'train.steps', which counts updates, not epochs?)"));
  EXPECT_THAT(error_of_set("train.compile=true"),
              HasSubstr("unknown key 'train.compile': the model is compiled with the program; leave it out"));
}

TEST(Config, ListsTheKeysOfTheSectionWhereNoneIsNear) {
  EXPECT_THAT(
      error_of_set("schedule.zzzzzzz=5"),
      HasSubstr(
          "'schedule.zzzzzzz'; [schedule] has kind, warmup, min_lr, decay_fraction, step_size and gamma"));
  for (const char* key : {"zzzzzzz", "zzzzzzz.lrlrlrlr"}) {
    EXPECT_THAT(error_of_set(std::string(key) + "=5"),
                HasSubstr("; the sections are run, data, model, lora, optimizer, schedule, train, "
                          "distributed, log and sample"));
  }
}

TEST(ForeignKeys, AreAnsweredWithKeysThatExist) {
  TrainConfig config;
  std::set<std::string> keys, names, seen;
  for (const ConfigField& field : config_fields(config)) {
    keys.insert(field.key);
    names.insert(field.key.substr(field.key.find('.') + 1));
  }
  const std::regex dotted("\\b[a-z]+\\.[a-z][a-z_0-9]+");
  for (const ForeignKey& foreign : foreign_keys) {
    const std::string name(foreign.name), note(foreign.note);
    EXPECT_TRUE(seen.insert(name).second) << name << " is there twice";
    EXPECT_FALSE(names.contains(name)) << name << " is a key of ours, so it is never looked up";
    EXPECT_TRUE(foreign.key.empty() ? !note.empty() : keys.contains(std::string(foreign.key))) << name;
    for (std::sregex_iterator key(note.begin(), note.end(), dotted), end; key != end; ++key)
      EXPECT_TRUE(keys.contains(key->str())) << note;
    EXPECT_THAT(error_of_set(name + "=1"), HasSubstr(foreign.key.empty() ? note : std::string(foreign.key)));
  }
}

TEST(Config, RefusesAKeyInQuotesOutsideItsSection) {
  EXPECT_THAT(error_of_file("\"train.steps\" = 5\n"), HasSubstr("must stand in its section"));
}

TEST(Config, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(error_of_file("[train]\nsteps = \n"), HasSubstr("c.toml:2:"));
  TrainConfig config;
  EXPECT_THAT(error_of([&] { read_config(config, "no/such.toml"); }), HasSubstr("no/such.toml"));
}

TEST(Config, NamesTheKeyWhoseValueHasTheWrongType) {
  EXPECT_THAT(error_of_file("[train]\nsteps = \"many\"\n"),
              AllOf(HasSubstr("train.steps expects an integer"), HasSubstr("many")));
  EXPECT_THAT(error_of_file("[train]\nsteps = 1.5\n"), HasSubstr("train.steps expects an integer"));
  EXPECT_THAT(error_of_file("[run]\nname = 5\n"), HasSubstr("run.name expects a string"));
  EXPECT_THAT(error_of_file("[model]\ngradient_checkpointing = 1\n"),
              HasSubstr("model.gradient_checkpointing expects true or false, got 1"));
  EXPECT_THAT(error_of_set("model.gradient_checkpointing=yes"),
              HasSubstr("model.gradient_checkpointing expects true or false, got 'yes'"));
  EXPECT_THAT(error_of_set("train.steps=1.5"), HasSubstr("train.steps expects an integer"));
  EXPECT_THAT(error_of_set("optimizer.lr=fast"), HasSubstr("optimizer.lr expects a number"));
  EXPECT_THAT(error_of_set("optimizer.lr"), HasSubstr("section.key=value"));
}

TEST(Config, RefusesValuesThatCannotWork) {
  EXPECT_EQ(error_of_set("train.steps=1"), "");
  for (const char* bad : {"train.steps=9000000000000000000",
                          "train.batch=1000000",
                          "model.layers=9000000000000000000",
                          "data.story_bytes=9000000000000000000",
                          "train.max_minutes=1e300",
                          "sample.tokens=9000000000000000000",
                          "run.name=../x",
                          "run.name=..",
                          "data.text=caf\xe9",
                          "run.threads=-1",
                          "train.steps=0",
                          "train.steps=-1",
                          "train.batch=0",
                          "model.heads=3",
                          "model.dropout=1",
                          "model.kind=lama",
                          "model.kv_heads=2",
                          "model.hidden=-1",
                          "model.window=8",
                          "optimizer.lr=nan",
                          "optimizer.beta2=1",
                          "optimizer.alpha=1",
                          "schedule.kind=cosin",
                          "schedule.min_lr=1",
                          "schedule.step_size=0",
                          "schedule.gamma=2",
                          "run.device=tpu",
                          "run.dtype=fp16",
                          "train.eval_prefix=1",
                          "sample.top_p=0"}) {
    EXPECT_THAT(error_of_set(bad), HasSubstr(std::string(bad).substr(0, std::string(bad).find('=')))) << bad;
  }
}

TEST(Config, RefusesWhatAKindOfModelHasNot) {
  const auto error_with = [](const char* kind, const std::string& assignment) {
    TrainConfig config;
    config.model.kind = kind;
    set_config(config, assignment);
    return error_of([&] { check_config(config); });
  };
  for (const char* kind : {"llama", "mistral"}) {
    EXPECT_EQ(error_with(kind, "model.kv_heads=2"), "");
    EXPECT_EQ(error_with(kind, "model.hidden=100"), "");
    EXPECT_EQ(error_with(kind, "model.tied=false"), "");
    EXPECT_THAT(error_with(kind, "model.kv_heads=3"), HasSubstr("model.kv_heads = 3 does not divide"));
    EXPECT_THAT(error_with(kind, "model.dropout=0.1"), HasSubstr("has no dropout"));
    EXPECT_THAT(error_with(kind, "model.activation=relu"), HasSubstr("has its own, silu"));
    EXPECT_THAT(error_with(kind, "model.rope_theta=0"), HasSubstr("model.rope_theta is 0"));
    EXPECT_THAT(error_with(kind, "model.channels=12"), HasSubstr("model.channels / model.heads is 3"));
  }
  EXPECT_EQ(error_with("gpt2", "model.hidden=100"), "");
  EXPECT_EQ(error_with("gpt2", "model.activation=gelu"), "");
  EXPECT_THAT(error_with("gpt2", "model.activation=tanh"),
              HasSubstr("model.activation is 'tanh', expected gelu_new, gelu, relu or silu"));
  EXPECT_EQ(error_with("mistral", "model.window=8"), "");
  EXPECT_THAT(error_with("llama", "model.window=8"), HasSubstr("a llama has no window"));
}

TEST(Config, GivesTheMlpTheWidthThatItsKindHas) {
  TrainConfig::Model model{.channels = 128};
  EXPECT_EQ(hidden_size(model), 512);
  model.kind = "llama";
  EXPECT_EQ(hidden_size(model), 352);  // two thirds of 512 are 341.3
  model.channels = 768;
  EXPECT_EQ(hidden_size(model), 2048);
  model.hidden = 100;
  EXPECT_EQ(hidden_size(model), 100);
}

}  // namespace
}  // namespace cladtorch::train
