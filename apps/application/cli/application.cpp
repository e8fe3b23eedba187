#include "apps/application/cli/application.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include "apps/application/cli/command_line.hpp"
#include "apps/application/cli/launch.hpp"
#include "apps/application/cli/option_flags.hpp"
#include "apps/application/cli/pages.hpp"
#include "apps/application/cli/usage_hints.hpp"
#include "apps/application/cli/warm.hpp"
#include "apps/application/life/context.hpp"
#include "apps/application/life/failure.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/suggest.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/line_counts.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/library_threads.hpp"
#include "io/runtime/signals.hpp"

namespace quintet {
namespace {

constexpr auto exit_codes_text =
    "Exit codes: 0 done, 1 usage, 2 configuration or input, 3 numerical failure (an emergency checkpoint is\n"
    "written), 4 out of a resource, 75 stopped early (run again with --restart auto), 70 a bug.\n";

/// Whether work is shared out over threads of OpenMP: torch's, or Kokkos's own.
bool uses_openmp(const std::vector<Subsystem>& subsystems) {
#ifdef KOKKOS_ENABLE_OPENMP
  if (std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::OpenMP>) return true;
#endif
  return std::any_of(subsystems.begin(), subsystems.end(),
                     [](const Subsystem& subsystem) { return subsystem.name.starts_with("torch"); });
}

}  // namespace

struct Application::Implementation {
  struct Command {
    std::string name, about;
    std::vector<Flag> flags;
    std::function<Bound()> bind;  ///< with `body`: a command with a YAML file
    std::function<void(Context&, const void*)> body;
    std::function<void(const Comm&, const Arguments&)> plain;
    std::function<void(const Arguments&)> local;
    /// With a YAML file: what flags[0] asks for in its place.
    std::function<void(const std::string&, const std::string&)> instead{};
    /// Index of the flag that makes a plain command a local one.
    std::optional<std::size_t> local_with{};
    std::function<Bound()> options{};     ///< of a plain command that describes its flags
    Cost cost{};                          ///< with a YAML file: what --cost prints
    Sizes sizes{};                        ///< likewise: of what --step-times are printed
    std::vector<Subsystem> subsystems{};  ///< of this one, beside those of all

    [[nodiscard]] bool configured() const { return static_cast<bool>(bind); }
    [[nodiscard]] CommandGrammar grammar(const std::string& who) const;
  };

  std::string name, about;
  std::vector<Subsystem> subsystems;
  bool may_load_torch = false;
  bool is_warm = false;  ///< forked of a program that was loaded once
  std::vector<Command> commands;
  std::vector<Command> hidden;                              ///< man, completion, schema, ...
  std::function<std::string()> page;                        ///< that reference begins with
  std::vector<std::pair<std::string, std::string>> absent;  ///< commands of other builds, and what they need

  [[nodiscard]] std::vector<std::string> command_names() const;
  [[nodiscard]] const Command& find(const std::string& command) const;
  [[nodiscard]] const Command& configured(const std::string& command) const;
  [[nodiscard]] std::string help() const;
  [[nodiscard]] std::string help(const Command& command) const;
  [[nodiscard]] std::string version() const;
  [[nodiscard]] ProgramText text() const;
  void add_page_commands();    ///< man, completion
  void add_hidden_commands();  ///< of programs with a YAML file: schema, schemas, reference
  int run(const Command& command, CommandLine words, ProgramArguments arguments) const;
  int dispatch(int argc, char** argv) const;
};

CommandGrammar Application::Implementation::Command::grammar(const std::string& who) const {
  CommandGrammar grammar{.who = who, .flags = flags};
  if (configured()) grammar.describe = bind().describe;
  grammar.is_plain = static_cast<bool>(plain);
  grammar.takes_threads = !local || plain;
  grammar.takes_cost = static_cast<bool>(cost);
  grammar.takes_sizes = static_cast<bool>(sizes);
  grammar.has_instead = static_cast<bool>(instead);
  return grammar;
}

std::vector<std::string> Application::Implementation::command_names() const {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.name);
  return names;
}

const Application::Implementation::Command& Application::Implementation::find(
    const std::string& command) const {
  for (const auto* list : {&commands, &hidden})
    for (const auto& entry : *list)
      if (entry.name == command) return entry;
  for (const auto& [absentee, lacks] : absent)
    if (absentee == command)
      refuse_usage(name, fmt::format("this build has no '{}': it lacks {}", command, lacks));
  const auto names = command_names();
  if (command.rfind('-', 0) == 0)
    refuse_usage(name, fmt::format("unknown flag '{}'{}\nA command comes first: {}", command,
                                   did_you_mean(command, {"--help", "--version"}), name_list(names)));
  if (const auto near = did_you_mean(command, names); near.empty() && looks_like_input(command)) {
    const auto line = command_line_for(name, command);
    refuse_usage(name,
                 fmt::format("the command is missing before '{}'{}\nThere are: {}", command,
                             line.empty() ? "" : fmt::format("; did you mean {}?", line), name_list(names)));
  }
  refuse_usage(name, fmt::format("unknown command '{}'{}\nThere are: {}", command,
                                 did_you_mean(command, names), name_list(names)));
}

/// The described command of this name, or the only one with a YAML file if the name is empty.
const Application::Implementation::Command& Application::Implementation::configured(
    const std::string& command) const {
  std::vector<std::string> names;
  for (const auto& entry : commands)
    if (entry.configured()) names.push_back(entry.name);
  const std::string& wanted = command.empty() && names.size() == 1 ? names.front() : command;
  for (const auto& entry : commands)
    if ((entry.configured() || entry.options) && entry.name == wanted) return entry;
  throw UsageError(fmt::format("{} schema: {}{}\nCommands with a YAML file: {}", name,
                               command.empty() ? "name a command" : fmt::format("no command '{}'", command),
                               did_you_mean(command, names), name_list(names)));
}

std::string Application::Implementation::help() const {
  std::string text = fmt::format("{} - {}\n\nUsage: {} COMMAND ...\n\nCommands:\n", name, about, name);
  for (const auto& command : commands) text += fmt::format("  {:<24} {}\n", command.name, command.about);
  for (const auto& [absentee, lacks] : absent)
    text += fmt::format("  {:<24} not in this build, which lacks {}\n", absentee, lacks);
  text += "\nOptions:\n" + flag_table({help_flag, {"--version", "", "version, git hash and build"}});
  return text + fmt::format(
                    "\n'{0} COMMAND --help' says more about a command; '{0} man' and '{0} completion bash' "
                    "print a page "
                    "of the\nmanual and what completes words in a shell.\n",
                    name);
}

std::string Application::Implementation::help(const Command& command) const {
  const std::string who = name + " " + command.name;
  std::string usage = who, arguments;
  if (command.configured()) usage += " CASE.yaml";
  const std::string aside = command.instead ? fmt::format(" | {} FILE", command.flags.front().name) : "";
  for (const auto& flag : command.flags)
    if (!command.instead && (is_positional(flag) || flag.required))  // the others are among the options
      usage += " " + usage_name(flag) + (is_positional(flag) || flag.is_switch ? "" : " VALUE");
  std::string text = fmt::format("{} - {}\n\nUsage: {}{} [options]\n\nOptions:\n{}", who, command.about,
                                 usage, aside, flag_table(flag_texts(command.grammar(who))));
  if (command.configured())
    text +=
        fmt::format("\n{}\n'{} --print-config CASE.yaml' and '{} reference' explain the keys of CASE.yaml.\n",
                    exit_codes_text, who, name);
  return text;
}

std::string Application::Implementation::version() const {
  const auto provenance = hdf5::current_provenance();
  std::string text =
      fmt::format("{} {} (git {})\n{}\nKokkos {}.{}.{} {}\n", name, provenance.version, provenance.git_hash,
                  provenance.build, KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100,
                  Kokkos::DefaultExecutionSpace::name());
  for (const auto& [absentee, lacks] : absent)
    text += fmt::format("without '{}', which needs {}\n", absentee, lacks);
  return text;
}

ProgramText Application::Implementation::text() const {
  ProgramText program{name, about, hdf5::current_provenance().version, {}};
  for (const auto& command : commands) {
    CommandText entry{command.name, command.about, flag_texts(command.grammar(command.name)), {}};
    if (command.configured()) entry.keys = key_paths(command.bind().describe);
    program.commands.push_back(std::move(entry));
  }
  return program;
}

// Schemas and the reference come from the declarations themselves, so every program has them; a program of
// its own page names it.
void Application::Implementation::add_hidden_commands() {
  for (const auto& command : hidden)
    if (command.name == "reference") return;
  Command schema{"schema",
                 "Print the JSON Schema of a command's YAML file",
                 {{"COMMAND", "the command", false, ""}},
                 {},
                 {},
                 {},
                 {}};
  schema.local = [this](const Arguments& arguments) {
    const auto& command = configured(arguments[0].empty() ? "" : arguments[0].front());
    const Bound bound = command.configured() ? command.bind() : command.options();
    std::puts(to_json(json_schema(bound.describe, name + " " + command.name)).c_str());
  };
  Command reference{"reference", "Print a Markdown page of all keys and flags", {}, {}, {}, {}, {}};
  reference.local = [this](const Arguments&) {
    if (page) std::puts(page().c_str());
    for (const auto& command : commands)
      if (command.configured())
        std::puts(reference_page(command.bind().describe, name + " " + command.name).c_str());
    for (const auto& command : commands)
      if (!command.configured())
        std::puts(flag_reference(name + " " + command.name, command.about, command.flags).c_str());
  };
  Command schemas{"schemas", "Print the JSON Schemas of all commands with a YAML file", {}, {}, {}, {}, {}};
  schemas.local = [this](const Arguments&) {
    Tree all = Tree::map();
    for (const auto& command : commands)
      if (command.configured())
        all.set(command.name, json_schema(command.bind().describe, name + " " + command.name));
    std::puts(to_json(all, 0).c_str());
  };
  for (auto* command : {&schema, &schemas, &reference}) hidden.push_back(std::move(*command));
}

void Application::Implementation::add_page_commands() {
  Command manual{"man", "Print the page of the manual, for man", {}, {}, {}, {}, {}};
  manual.local = [this](const Arguments&) { std::fputs(manual_page(text()).c_str(), stdout); };
  Command completion{"completion",
                     "Print what completes commands, flags and keys in a shell",
                     {{"SHELL", "bash or zsh", true, ""}},
                     {},
                     {},
                     {},
                     {}};
  completion.local = [this](const Arguments& arguments) {
    const auto& shell = arguments[0].front();
    QUINTET_CHECK(shell == "bash" || shell == "zsh",
                  "{} completion: no completion for '{}'; there is bash and zsh", name, shell);
    std::fputs((shell == "bash" ? bash_completion(text()) : zsh_completion(text())).c_str(), stdout);
  };
  for (auto* command : {&manual, &completion}) hidden.push_back(std::move(*command));
}

// The ways of a command, the cheapest first: on this machine alone, on MPI without an input, a question
// (costs, step times) in the place of the run, the run.
int Application::Implementation::run(const Command& command, CommandLine words,
                                     ProgramArguments arguments) const {
  auto all_subsystems = subsystems;
  all_subsystems.insert(all_subsystems.end(), command.subsystems.begin(), command.subsystems.end());
  const bool stays_local = !command.local_with || !words.arguments[*command.local_with].empty();
  if (command.local && stays_local) return launch_local([&] { command.local(words.arguments); });
  const auto& request = words.request;
  if (command.instead && !words.arguments.front().empty())
    return launch_local([&] { command.instead(words.arguments.front().front(), request.output); });
  if (!is_warm && request.threads != 1 && (may_load_torch || uses_openmp(all_subsystems)))
    wait_passively(arguments.argv);
  if (command.plain)
    return launch_plain(request.threads, request.quiet, arguments, all_subsystems,
                        [&](const Comm& comm) { command.plain(comm, words.arguments); });
  const Bound bound = command.bind();
  if (!words.cost_ranks.empty()) {
    words.request.validate = words.request.measures = words.request.quiet = true;
    return launch(request, arguments, all_subsystems, bound.describe, [&](Context& context) {
      const auto model = command.cost(context, bound.options.get(), words.cost_ranks);
      if (context.comm().is_root()) std::puts(to_json(planning::to_tree(model)).c_str());
    });
  }
  if (!words.step_times.empty()) {
    words.request.validate = words.request.measures = words.request.quiet = true;
    const SizeQuestion question{.rounds = std::max<int>(1, words.step_times[0]),
                                .seconds = words.step_times[1]};
    return launch(request, arguments, all_subsystems, bound.describe, [&](Context& context) {
      const auto series = command.sizes(context, bound.options.get());
      const auto times = measure_sizes(context.comm(), series, question);
      if (context.comm().is_root()) std::puts(to_json(to_tree(times)).c_str());
    });
  }
  return launch(request, arguments, all_subsystems, bound.describe,
                [&](Context& context) { command.body(context, bound.options.get()); });
}

int Application::Implementation::dispatch(int argc, char** argv) const {
  const std::string word = argc > 1 ? argv[1] : "";
  const bool speaks = launcher_rank() == 0;
  const auto show = [speaks](const std::string& text) {
    return launch_local([&] {
      if (speaks) std::fputs(text.c_str(), stdout);
    });
  };
  if (word.empty())
    refuse_usage(name, fmt::format("a command is missing; there are: {}", name_list(command_names())));
  if (word == "--help" || word == "-h" || word == "help") return show(help());
  if (word == "--version") return show(version());
  const auto& command = find(word);
  CommandLine words = parse_command_line(command.grammar(name + " " + word), argc, argv);
  if (words.help) return show(help(command));
  return run(command, std::move(words), {argc, argv});
}

Application::Application(std::string name, std::string about, std::vector<Subsystem> subsystems)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->name = std::move(name);
  implementation_->about = std::move(about);
  implementation_->subsystems = std::move(subsystems);
  implementation_->add_page_commands();
}

Application::~Application() = default;

Application& Application::add_configured(const std::string& name, const std::string& about,
                                         std::function<Bound()> bind,
                                         std::function<void(Context&, const void*)> body) {
  implementation_->commands.push_back({name, about, {}, std::move(bind), std::move(body), {}, {}});
  implementation_->add_hidden_commands();
  return *this;
}

Application& Application::may_load_torch() {
  implementation_->may_load_torch = true;
  return *this;
}

Application& Application::starts(Subsystem subsystem) {
  implementation_->commands.back().subsystems.push_back(std::move(subsystem));
  return *this;
}

Application& Application::add_cost(Cost body) {
  implementation_->commands.back().cost = std::move(body);
  return *this;
}

Application& Application::add_sizes(Sizes body) {
  implementation_->commands.back().sizes = std::move(body);
  return *this;
}

Application& Application::instead(Flag flag,
                                  std::function<void(const std::string&, const std::string&)> body) {
  auto& command = implementation_->commands.back();
  command.flags = {std::move(flag)};
  command.instead = std::move(body);
  return *this;
}

Application& Application::plain_command(const std::string& name, const std::string& about,
                                        std::vector<Flag> flags,
                                        std::function<void(const Comm&, const Arguments&)> body) {
  implementation_->commands.push_back({name, about, std::move(flags), {}, {}, std::move(body), {}});
  return *this;
}

Application& Application::local_command(const std::string& name, const std::string& about,
                                        std::vector<Flag> flags, std::function<void(const Arguments&)> body) {
  implementation_->commands.push_back({name, about, std::move(flags), {}, {}, {}, std::move(body)});
  return *this;
}

Application& Application::add_described(const std::string& name, const std::string& about,
                                        std::vector<Word> words, const std::function<Bound()>& bind,
                                        std::function<void(const Comm*, const void*)> body, bool is_local) {
  auto flags = flags_of(bind().describe, words);
  const auto run = [bind, words = std::move(words), body = std::move(body)](const Comm* comm,
                                                                            const Arguments& arguments) {
    const Bound bound = bind();
    parse_flags(arguments, 0, bound.describe, words);
    body(comm, bound.options.get());
  };
  if (is_local)
    local_command(name, about, std::move(flags),
                  [run](const Arguments& arguments) { run(nullptr, arguments); });
  else
    plain_command(name, about, std::move(flags),
                  [run](const Comm& comm, const Arguments& arguments) { run(&comm, arguments); });
  implementation_->commands.back().options = bind;
  implementation_->add_hidden_commands();
  return *this;
}

Application& Application::page(std::function<std::string()> text) {
  implementation_->page = std::move(text);
  return *this;
}

Application& Application::local_with(const std::string& flag, std::function<void(const Arguments&)> body) {
  auto& command = implementation_->commands.back();
  const auto found = std::find_if(command.flags.begin(), command.flags.end(),
                                  [&](const Flag& other) { return other.name == flag; });
  command.local_with = static_cast<std::size_t>(found - command.flags.begin());
  command.local = std::move(body);
  return *this;
}

Application& Application::absent_command(const std::string& name, const std::string& lacks) {
  implementation_->absent.emplace_back(name, lacks);
  return *this;
}

int Application::execute(int argc, char** argv) {
  hear_of_children();
  std::vector<std::string> words;
  std::vector<char*> pointers;
  const int exit_code = [&] {
    try {
      if (argc == 2 && std::string_view(argv[1]) == "warm") {
        words = words_of_warm_run();
        implementation_->is_warm = true;
        for (auto& word : words) pointers.push_back(word.data());
        argc = pointers.size();
        pointers.push_back(nullptr);
        argv = pointers.data();
      }
      return implementation_->dispatch(argc, argv);
    } catch (...) {  // the command line
      return launch_unparsed({argc, argv});
    }
  }();
#ifndef __SANITIZE_ADDRESS__  // which looks for leaks after main()
  // All that is ours has been stopped in order. LibTorch would now unregister thousands of operators: 0.07 s.
  std::fflush(nullptr);
  write_line_counts();
  std::_Exit(exit_code);
#endif
  return exit_code;
}

}  // namespace quintet
