#include "apps/application/cli/pages.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quintet {

namespace {

/// A text as troff takes it: no sign of it is a request, and '-' can be searched for.
std::string for_troff(std::string_view text) {
  std::string safe = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  return safe;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string troff_item(const std::string& name, const std::string& value, const std::string& about) {
  return fmt::format(".TP\n.B {}{}\n{}\n", for_troff(name),
                     value.empty() ? "" : " \\fI" + for_troff(value) + "\\fR", for_troff(about));
}

/// A text between single quotes of a shell.
std::string for_shell(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

/// A text within a specification of zsh's _arguments or _describe.
std::string for_zsh(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

bool is_flag(const FlagText& flag) { return flag.name.starts_with("--"); }

std::vector<std::string> flag_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const auto& flag : command.flags)
    if (is_flag(flag)) names.push_back(flag.name);
  return names;
}

std::vector<std::string> command_names(const ProgramText& program) {
  std::vector<std::string> names;
  for (const auto& command : program.commands) names.push_back(command.name);
  return names;
}

std::string keys_to_set(const CommandText& command) {
  std::vector<std::string> keys;
  for (const auto& key : command.keys) keys.push_back(key + "=");
  return fmt::format("{}", fmt::join(keys, " "));
}

/// What zsh offers behind a flag.
std::string zsh_values(const FlagText& flag, const CommandText& command) {
  if (flag.name == "--set") return fmt::format("key:compadd -S \"\" {}", keys_to_set(command));
  if (flag.value == "DIR") return "folder:_files -/";
  return "value:_files";
}

}  // namespace

std::string manual_page(const ProgramText& program) {
  const auto name = for_troff(program.name);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"Quintet {}\" \"Quintet\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                  capitals(program.name), program.version, name, for_troff(program.about));
  for (const auto& command : program.commands)
    page += fmt::format(".B {} {}\n{}[options]\n.br\n", name, for_troff(command.name),
                        command.keys.empty() ? "" : "\\fICASE.yaml\\fR ");
  page += ".SH COMMANDS\n";
  for (const auto& command : program.commands) page += troff_item(command.name, "", command.about);
  for (const auto& command : program.commands) {
    page += fmt::format(".SH OPTIONS OF {} {}\n", capitals(name), for_troff(capitals(command.name)));
    for (const auto& flag : command.flags) page += troff_item(flag.name, flag.value, flag.about);
  }
  page += fmt::format(
      ".SH CASE FILES\n.B {0} reference\nexplains all keys of the YAML files; \\fB{0} schema\\fR prints a "
      "JSON Schema for "
      "editors.\n.SH EXIT STATUS\n",
      name);
  const std::pair<const char*, const char*> codes[] = {
      {"0", "done"},
      {"1", "usage"},
      {"2", "configuration or input"},
      {"3", "numerical failure; an emergency checkpoint is written"},
      {"4", "out of a resource"},
      {"70", "a bug of ours"},
      {"75",
       "stopped early, with a checkpoint where there is something to keep: run again with --restart auto"}};
  for (const auto& [code, meaning] : codes) page += troff_item(code, "", meaning);
  return page;
}

std::string bash_completion(const ProgramText& program) {
  std::string cases;
  for (const auto& command : program.commands)
    cases += fmt::format("    {})\n      flags={}\n      keys={} ;;\n", command.name,
                         for_shell(fmt::format("{}", fmt::join(flag_names(command), " "))),
                         for_shell(keys_to_set(command)));
  return fmt::format(R"(# Completion of {0} for bash; made by '{0} completion bash'.
_quintet_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} flags='' keys=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {1} -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{2}  esac
  case $before in
    --set)
      compopt -o nospace 2> /dev/null
      COMPREPLY=($(compgen -W "$keys" -- "$word")) ;;
    --output) COMPREPLY=($(compgen -d -- "$word")) ;;
    --restart) COMPREPLY=($(compgen -W auto -- "$word") $(compgen -f -- "$word")) ;;
    *)
      case $word in
        -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word")) ;;
      esac ;;
  esac
}}
complete -o filenames -F _quintet_{0} {0}
)",
                     program.name, for_shell(fmt::format("{}", fmt::join(command_names(program), " "))),
                     cases);
}

std::string zsh_completion(const ProgramText& program) {
  std::string commands, cases;
  for (const auto& command : program.commands) {
    commands += fmt::format("    {}\n", for_shell(for_zsh(command.name) + ":" + for_zsh(command.about)));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const auto& flag : command.flags) {
      if (!is_flag(flag)) continue;
      const auto values = flag.value.empty() ? "" : ":" + zsh_values(flag, command);
      cases += fmt::format(" \\\n        {}",
                           for_shell(fmt::format("*{}[{}]{}", flag.name, for_zsh(flag.about), values)));
    }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef {0}
# Completion of {0} for zsh; made by '{0} completion zsh'.
_{0}() {{
  local -a commands
  commands=(
{1}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{2}  esac
}}
_{0} "$@"
)",
                     program.name, commands, cases);
}

}  // namespace quintet
