#include "physics/particles/atoms/atoms.hpp"

#include "io/log/error.hpp"

namespace quintet {

void require_fit(std::int64_t n_rows) {
  if (n_rows > most_rows)
    throw ResourceError(fmt::format(
        "a rank would hold {} atoms and ghosts, more than the {} that fit 32-bit indices; use more "
        "ranks, or a larger cell if it is much smaller than the cutoff",
        n_rows, most_rows));
}

void Atoms::reserve(std::size_t n) {
  if (n <= capacity()) return;
  Kokkos::resize(position, n);
  Kokkos::resize(velocity, n);
  Kokkos::resize(force, n);
  Kokkos::resize(type, n);
  Kokkos::resize(id, n);
  Kokkos::resize(image, n);
  if (n_parameters() > 0) Kokkos::resize(parameters, n, parameters.extent(1));
}

}  // namespace quintet
