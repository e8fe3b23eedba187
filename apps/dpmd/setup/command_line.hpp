#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "physics/particles/files/read_configuration.hpp"

/// Functions that the commands without a YAML file share: their flags become keys of the sections that YAML
/// files have.
namespace quintet::dpmd {

/// "O,H" or "O H" as a list of names.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text);

/// Flags that were given as keys: a number or word is parsed as in YAML, errors name the flag.
/// @param keys key and place among `arguments`; the flag is "--key" with dashes.
[[nodiscard]] Tree keys_of(const Application::Arguments& arguments,
                           const std::vector<std::pair<std::string, int>>& keys);
/// The model of a command that takes it by place or as `--model`: one of them must be given. Throws
/// InputError.
/// @param positional, named their places among `arguments`.
[[nodiscard]] const std::string& model_of(const Application::Arguments& arguments, int positional, int named);
/// Options by `--types`, `--masses` and `--periodic` for the files to read: all frames, without labels.
/// @param types, masses places of the first two among `arguments`; `--periodic` follows.
[[nodiscard]] ReadOptions read_options_of(const Application::Arguments& arguments, int types, int masses);
/// The flags `--types`, `--masses` and `--periodic`, in this order.
[[nodiscard]] std::vector<Application::Flag> naming_flags();
/// Flags `--labels`, `--stress-unit` and `--stress-sign` of commands without a YAML file, in this order.
[[nodiscard]] std::vector<Application::Flag> label_source_flags();
/// Source of labels by those flags. @param first place of `--labels` among the arguments
[[nodiscard]] LabelSource label_source_of(const Application::Arguments& arguments, int first);
/// The section that the flags fill, with its units, defaults and checks.
template <class Options>
[[nodiscard]] Options options_of(const Application::Arguments& arguments,
                                 const std::vector<std::pair<std::string, int>>& keys) {
  Options options;
  parse_options(keys_of(arguments, keys), described(options));
  return options;
}

}  // namespace quintet::dpmd
