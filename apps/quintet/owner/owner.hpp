#pragma once

#include <string>
#include <vector>

#include "io/config/tree_fwd.hpp"

namespace quintet {

/// An application of the suite that is installed beside this program.
struct Sibling {
  std::string name;        ///< "dpmd"
  std::string executable;  ///< its full path
};

/// Applications that are installed beside this one, by name.
[[nodiscard]] std::vector<Sibling> siblings();
/// The one of this name. Throws InputError that names those there are.
[[nodiscard]] Sibling sibling_named(const std::string& name);

/// Application to which a YAML file belongs: `application.executable` `command` FILE runs it.
struct Owner {
  Sibling application;
  std::string command;
};

/// The application and command of a document: those asked for ("" for any), whose schema knows all its keys
/// and misses none that is required; where several do, one that knows it without keys left out is not
/// guessed. Throws InputError with one line: which candidates there are, or what the nearest one does not
/// know.
[[nodiscard]] Owner owner_of(const Tree& document, const std::string& application,
                             const std::string& command);

/// Keys of `document` that a JSON Schema (as json_schema() makes them) does not know: "grid.cels" ...
[[nodiscard]] std::vector<std::string> unknown_keys(const Tree& document, const Tree& schema);
/// Required keys of the schema that the document lacks.
[[nodiscard]] std::vector<std::string> missing_keys(const Tree& document, const Tree& schema);

}  // namespace quintet
