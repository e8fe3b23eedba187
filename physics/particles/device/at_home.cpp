#include "physics/particles/device/at_home.hpp"

#include "physics/particles/device/resident_atoms.hpp"

namespace quintet {

void bring_home(const Atoms& atoms) {
  if (atoms.resident == nullptr || !atoms.resident->ahead()) return;
  atoms.resident->fetch({atoms.position.data(), atoms.velocity.data(), atoms.force.data(), atoms.type.data(),
                         atoms.image.data(), atoms.id.data()});
}

Atoms at_home(const Atoms& atoms) {
  bring_home(atoms);
  Atoms here = atoms;
  here.resident = nullptr;
  return here;
}

}  // namespace quintet
