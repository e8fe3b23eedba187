#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

void Atoms::reserve(std::size_t n) {
  if (n <= capacity()) return;
  Kokkos::resize(position, n);
  Kokkos::resize(velocity, n);
  Kokkos::resize(force, n);
  Kokkos::resize(type, n);
  Kokkos::resize(id, n);
  Kokkos::resize(image, n);
}

}  // namespace quintet
