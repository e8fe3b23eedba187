#pragma once

#include <string>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// What to do where atoms lack the `n` numbers each (aparam) that a model reads, for messages.
[[nodiscard]] std::string cure_of_atom_parameters(int n);

/// Keep `n` numbers of each atom of a configuration: 0: none, which its reading says; any_number: those it
/// has. Throws InputError if it has another number, or one is not finite. @param where what it was read from
void take_atom_parameters(Configuration& configuration, int n, const std::string& where);

/// Throws InputError unless models of the same atoms read the same number of parameters of each, or one of
/// them none.
void require_same_parameters(int of_one, int of_other);

}  // namespace quintet
