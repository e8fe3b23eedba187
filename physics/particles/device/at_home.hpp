#pragma once

#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// Bring the host's rows of atoms that move on a device to where the atoms are; does nothing for others.
void bring_home(const Atoms& atoms);
/// Atoms with up-to-date rows in the host's memory, as if without a device: for code that works on those
/// rows. The Views are those of `atoms`; what is written to them is lost when the atoms move on.
[[nodiscard]] Atoms at_home(const Atoms& atoms);

}  // namespace quintet
