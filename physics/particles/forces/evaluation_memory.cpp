#include "physics/particles/forces/evaluation_memory.hpp"

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "io/parallel/shared_memory_bounds.hpp"

namespace quintet {

void require_evaluation_memory(const Comm& comm, ForceField& field, const Exec& exec, const Atoms& atoms,
                               const NeighbourList& list) {
  if (const auto bytes = field.memory_needed(exec, atoms, list))
    require_memory(comm, *bytes,
                   fmt::format("forces on {} by {}", counted(atoms.n_global, "atom"), field.description()));
}

}  // namespace quintet
