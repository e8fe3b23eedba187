#pragma once

#include <string>

#include "apps/application/life/request.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/config/tree_fwd.hpp"

/// What a person is told about an input file that cannot be what it was given for.
namespace quintet {

/// The message about the input, explained where the whole file is the mistake: it is not there (near names),
/// is empty, a file of another program, an input of another command, or has a quote, bracket or sign that
/// YAML takes for something else. Else the problem as it is. Reads the file again; throws nothing of its own.
[[nodiscard]] std::string explained(const std::string& problem, const Request& request,
                                    const Describe& describe);

/// A message that begins with a key of the input ("grid.cells: ..."), names one by its path further on, or
/// quotes a value that the input has once ("there is no variable 'TEMP'"), or begins with a file that it
/// names, with the place before it, as mistakes that the description finds have; others as they are.
[[nodiscard]] std::string with_place(const std::string& message, const Tree& document);

}  // namespace quintet
