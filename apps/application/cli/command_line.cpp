#include "apps/application/cli/command_line.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/application/cli/usage_hints.hpp"
#include "apps/application/life/failure.hpp"
#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

const std::vector<FlagText> shared_flags = {
    {"--set", "KEY.PATH=VALUE", "override one value of the YAML file, e.g. time.steps=100 (repeatable)"},
    {"--output", "DIR", "directory of the run (default: runs/<name of the YAML file>)"},
    {"--restart", "auto|FILE",
     "go on from the newest whole checkpoint of the run directory, or from this one"},
    {"--restart-with-changes", "",
     "let --restart go on with other physics (keys that the reference marks so); the results say where"},
    {"--overwrite", "", "replace the run that the directory holds, once the new input has been checked"},
    {"--walltime", "HH:MM:SS", "write a checkpoint and stop (exit code 75) before this much time has passed"},
    {"--threads", "N", "threads of each rank (default: cores / ranks on the node; trainings may take fewer)"},
    {"--validate", "", "parse, build everything, check memory, stop before the first step; writes nothing"},
    {"--print-config", "",
     "print every value in force with unit, default and meaning; starts nothing (=all: also expert keys)"},
    {"--quiet", "", "no lines on the terminal but warnings and errors"}};
const std::vector<FlagText> plain_flags = {
    {"--threads", "N", "threads of each rank (default: cores / ranks on the node)"},
    {"--quiet", "", "no lines on the terminal but warnings and errors"}};

bool takes_several(const Application::Flag& flag) {
  return flag.name.size() > 3 && flag.name.ends_with("...");
}

void add_switch(CLI::App& parser, const char* name, bool& value) { parser.add_flag(name, value); }

void add_shared_flags(CLI::App& parser, CommandLine& words) {
  auto& request = words.request;
  parser.add_option("CASE.yaml", request.input);
  parser.add_option("--set", request.settings)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser.add_option("--without", request.without)->allow_extra_args(false);
  parser.add_option("--output", request.output);
  parser.add_option("--restart", request.restart);
  parser.add_option("--walltime", words.walltime);
  add_switch(parser, "--restart-with-changes", request.restart_with_changes);
  add_switch(parser, "--overwrite", request.overwrite);
  add_switch(parser, "--validate", request.validate);
  parser.add_flag("--print-config{common}", words.print);
}

void add_own_flags(CLI::App& parser, const std::vector<Application::Flag>& flags, CommandLine& words) {
  words.arguments.resize(flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    std::string name = flags[i].name;
    if (takes_several(flags[i])) name.resize(name.size() - 3);
    if (flags[i].is_switch) {
      parser.add_flag_function(name, [&words, i](std::int64_t) { words.arguments[i] = {"true"}; });
      continue;
    }
    auto* option = parser.add_option(name, words.arguments[i]);
    option->allow_extra_args(takes_several(flags[i]));
    if (is_positional(flags[i]))
      option->expected(1, takes_several(flags[i]) ? 1 << 20 : 1);
    else
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

/// Unknown flags first: they are the likelier mistake, and explain a missing or surplus argument. `describe`:
/// of the command's YAML file, if it has one.
void refuse_extras(const std::string& who, const std::vector<std::string>& extras,
                   const std::vector<FlagText>& known, const CommandLine& words,
                   const std::vector<std::string>& given, const Describe* describe) {
  if (extras.empty()) return;
  std::vector<std::string> names;
  for (const auto& flag : known) names.push_back(flag.name);
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const auto& word) { return word.rfind('-', 0) == 0; });
  if (flag == extras.end()) {
    const auto meant = setting_meant(words.request.settings, given, extras);
    refuse_usage(who, fmt::format("unexpected argument '{}'{}", extras.front(),
                                  meant.empty() ? "" : fmt::format("; KEY=VALUE is one word: {}", meant)));
  }
  const std::string name = flag->substr(0, flag->find('='));
  auto hint = did_you_mean(name, names);
  if (hint.empty() && describe != nullptr) {
    const auto equals = flag->find('=');
    const bool has_next = flag + 1 != extras.end() && !(flag + 1)->starts_with("--");
    const auto value = equals != std::string::npos ? flag->substr(equals + 1) : has_next ? *(flag + 1) : "";
    const auto setting = setting_for_flag(name, value, *describe);
    hint = setting.empty() ? "; a key of the YAML file is set by --set KEY.PATH=VALUE"
                           : fmt::format("; a key of the YAML file is set by {}", setting);
  }
  refuse_usage(who, fmt::format("unknown flag '{}'{}", name, hint));
}

}  // namespace

bool is_positional(const Application::Flag& flag) { return flag.name.rfind("--", 0) != 0; }

std::string usage_name(const Application::Flag& flag) {
  return flag.required ? flag.name : fmt::format("[{}]", flag.name);
}

std::string flag_table(const std::vector<FlagText>& flags) {
  std::string table;
  for (const auto& flag : flags)
    table +=
        fmt::format("  {:<24} {}\n", flag.name + (flag.value.empty() ? "" : " " + flag.value), flag.about);
  return table;
}

void refuse_usage(const std::string& who, const std::string& problem) {
  throw UsageError(fmt::format("{}: {}\nTry '{} --help'", who, problem, who));
}

std::vector<FlagText> flag_texts(const CommandGrammar& grammar) {
  std::vector<FlagText> texts;
  if (grammar.describe) texts = shared_flags;
  for (const auto& flag : grammar.flags) {
    const std::string note =
        flag.default_value.empty() ? "" : fmt::format(" (default: {})", flag.default_value);
    const bool takes_value = !is_positional(flag) && !flag.is_switch;
    texts.push_back({flag.name, takes_value ? "VALUE" : "", flag.about + note});
  }
  if (grammar.is_plain) texts.insert(texts.end(), plain_flags.begin(), plain_flags.end());
  texts.push_back(help_flag);
  return texts;
}

CommandLine parse_command_line(const CommandGrammar& grammar, int argc, char** argv) {
  const std::string& who = grammar.who;
  CommandLine words;
  words.request.program = who;
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  parser.add_flag("--help,-h", words.help);
  if (grammar.describe) add_shared_flags(parser, words);
  if (grammar.takes_cost)
    parser.add_option("--cost", words.cost_ranks)->delimiter(',')->check(CLI::PositiveNumber);
  if (grammar.takes_sizes)
    parser.add_option("--step-times", words.step_times)
        ->delimiter(',')
        ->expected(2)
        ->check(CLI::Range(1e-3, 1e4));
  if (grammar.takes_threads) {
    parser.add_option("--threads", words.request.threads)->check(CLI::Range(1, 1 << 20));
    add_switch(parser, "--quiet", words.request.quiet);
  }
  add_own_flags(parser, grammar.flags, words);
  try {
    parser.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    refuse_usage(who, error.what());
  }
  if (words.help) return words;
  refuse_extras(who, parser.remaining(), flag_texts(grammar), words, {argv + 1, argv + argc},
                grammar.describe ? &*grammar.describe : nullptr);
  const bool instead = grammar.has_instead && !words.arguments.front().empty();
  if (instead && !words.request.input.empty())
    refuse_usage(who, fmt::format("{} takes no YAML file", grammar.flags.front().name));
  if (grammar.describe && !instead && words.request.input.empty())
    refuse_usage(who, fmt::format("the YAML file is missing; write '{} CASE.yaml'", who));
  for (std::size_t i = 0; i < grammar.flags.size(); ++i) {
    const auto& flag = grammar.flags[i];
    auto& values = words.arguments[i];
    if (flag.required && values.empty())
      refuse_usage(who, fmt::format("{} is missing ({})", flag.name, flag.about));
    if (values.empty() && !flag.default_value.empty()) values = {flag.default_value};
  }
  const auto& request = words.request;
  if (request.overwrite && request.restart == "auto")
    refuse_usage(who,
                 "--overwrite and --restart auto contradict each other: replace the run, or go on from it");
  if (request.restart_with_changes && request.restart.empty())
    refuse_usage(who, "--restart-with-changes needs --restart");
  if (!words.print.empty() && words.print != "common" && words.print != "all")
    refuse_usage(
        who, fmt::format("--print-config={}: expected --print-config or --print-config=all", words.print));
  words.request.print_configuration = !words.print.empty();
  words.request.print_all = words.print == "all";
  if (!words.walltime.empty()) words.request.walltime_s = parse_walltime(words.walltime);
  return words;
}

}  // namespace quintet
