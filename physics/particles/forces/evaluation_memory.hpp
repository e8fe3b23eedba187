#pragma once

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// Throw ResourceError on all ranks if an evaluation of these atoms does not fit into the memory that is
/// free. Collective where the force field says what it needs (ForceField::memory_needed()).
void require_evaluation_memory(const Comm& comm, ForceField& field, const Exec& exec, const Atoms& atoms,
                               const NeighbourList& list);

}  // namespace quintet
