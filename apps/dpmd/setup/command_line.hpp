#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/config/schema_fwd.hpp"
#include "physics/particles/files/read_configuration.hpp"

/// What the commands without a YAML file share: their flags are described as keys of sections are.
namespace quintet::dpmd {

/// "O,H" or "O H" as a list of names.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text);

/// The model of a command that takes it by place or as `--model`: one of them must be given. Throws
/// InputError.
[[nodiscard]] const std::string& model_of(const std::optional<std::string>& by_place,
                                          const std::optional<std::string>& by_flag);

/// Flags `--types`, `--masses` and `--periodic`: what files of frames leave out.
struct NamingOptions {
  std::optional<std::string> types;  ///< "O,H"
  NamedMasses masses;                ///< (amu)
  std::optional<std::string> periodic;
};
void describe(Schema& schema, NamingOptions& options);
/// Options of the reader by those flags: all frames, without labels. Throws InputError.
[[nodiscard]] ReadOptions read_options_of(const NamingOptions& options);

}  // namespace quintet::dpmd
