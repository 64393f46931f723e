// The commands of the program. Each registers its options and, when chosen, leaves in `action` what to do.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "cladtorch/tensor/parallel.h"

namespace cladtorch::apps {

/// Stories are made in memory.
inline constexpr int64_t most_story_bytes = 1'000'000'000;

/// For options of whole numbers: CLI11 would take -1 for a large unsigned number and cut off what is too
/// large.
inline CLI::Validator whole_number(int64_t least = 0, int64_t most = std::numeric_limits<int64_t>::max()) {
  const std::string range = most == std::numeric_limits<int64_t>::max()
                                ? fmt::format("of at least {}", least)
                                : fmt::format("from {} to {}", least, most);
  return {[=](const std::string& text) {
            int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool fits =
                error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
            return fits ? std::string() : fmt::format("'{}' is not a whole number {}", text, range);
          },
          ""};
}

/// For options of numbers; NaN is none.
inline CLI::Validator number_between(double least, double most) {
  return {[=](const std::string& text) {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool fits =
                error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
            return fits ? std::string()
                        : fmt::format("'{}' is not a number from {:g} to {:g}", text, least, most);
          },
          ""};
}

/// For options that name a value of `names`; the option's help says what they are.
template <class Value>
CLI::Validator name_of(std::map<std::string, Value> names) {
  return {[names = std::move(names)](const std::string& text) {
            if (names.contains(text)) return std::string();
            std::string known;
            for (const auto& [name, value] : names) known += (known.empty() ? "" : ", ") + name;
            return "'" + text + "' is not one of " + known;
          },
          ""};
}

/// Runs a command after all of the command line was understood; returns the exit code.
using Action = std::function<int()>;

void add_train(CLI::App& app, Action& action);
void add_finetune(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
/// `prepare`, a part of `data`.
void add_data_prepare(CLI::App& data, Action& action);
void add_tokenizer(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);

}  // namespace cladtorch::apps
