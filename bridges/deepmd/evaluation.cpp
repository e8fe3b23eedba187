#include "bridges/deepmd/evaluation.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace quintet::bridges {

namespace {

constexpr const char* allow_incomplete = "QUINTET_ALLOW_INCOMPLETE_LISTS";
constexpr const char* incomplete =
    ". A Deep Potential needs all pairs: mind special_bonds and neigh_modify exclude in LAMMPS. To go on without these pairs set "
    "QUINTET_ALLOW_INCOMPLETE_LISTS=1";

/// Keep what the library says about a call.
bool done(DeepmdHandle* handle, int code) {
  if (code != QUINTET_OK) handle->error = quintet_potential_error(handle->potential);
  return code == QUINTET_OK;
}

double* at(double* array, std::size_t place) { return array == nullptr ? nullptr : array + place; }

/// A number that changes when a host makes its list anew: numbers of atoms, types, and the length and the
/// ends of each row.
std::uint64_t signature(int n_all, const int* type, int n_ghosts, const DP_Nlist& list) {
  std::uint64_t hash = 1469598103934665603U;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  add(n_all);
  add(n_ghosts);
  add(list.n_rows);
  for (int i = 0; i < n_all; ++i) add(type[i]);
  for (int r = 0; r < list.n_rows; ++r) {
    const int n = list.n_neighbours[r];
    add(list.atoms[r]);
    add(n);
    for (int k = 0; k < n; k += 8) add(list.neighbours[r][k]);
    if (n > 0) add(list.neighbours[r][n - 1]);
  }
  return hash;
}

/// Take the host's list if it is another one than last time; the first is looked through for pairs that it
/// lacks.
bool take_list(DeepmdHandle* handle, int n_all, const double* coord, const int* type, int n_ghosts,
               const DP_Nlist& list, int ago) {
  const std::uint64_t now = signature(n_all, type, n_ghosts, list);
  if (handle->has_list && ago != 0 && now == handle->list_signature) return true;
  handle->has_list = false;
  if (!done(handle,
            quintet_potential_set_neighbours(handle->potential, n_all - n_ghosts, n_ghosts, type, list.n_rows,
                                             list.atoms, list.n_neighbours, list.neighbours, list.mask)))
    return false;
  if (!handle->list_checked && std::getenv(allow_incomplete) == nullptr) {
    const int code = quintet_potential_check_neighbours(handle->potential, coord);
    if (!done(handle, code)) {
      if (code == QUINTET_INPUT) handle->error += incomplete;
      return false;
    }
    handle->list_checked = true;
  }
  handle->list_signature = now;
  handle->has_list = true;
  return true;
}

/// What a result that is right has to say goes to standard error once, as LAMMPS's warnings do.
void warn_once(DeepmdHandle* handle) {
  const char* const warning = quintet_potential_warning(handle->potential);
  if (handle->warned || *warning == '\0') return;
  handle->warned = true;
  std::fprintf(stderr, "WARNING: Quintet: %s\n", warning);
}

}  // namespace

bool takes_no_parameters(DeepmdHandle* handle, const void* fparam, const void* aparam,
                         const void* charge_spin) {
  const char* const given = fparam != nullptr        ? "fparam (parameters of a frame)"
                            : aparam != nullptr      ? "aparam (parameters of atoms)"
                            : charge_spin != nullptr ? "charge_spin"
                                                     : nullptr;
  if (given != nullptr)
    handle->error = std::string(given) + " is not supported by Quintet's stand-in for DeePMD-kit";
  return given == nullptr;
}

void compute_frames(DeepmdHandle* handle, int n_frames, int n, const double* coord, const int* type,
                    const double* cell, const DeepmdResults& to) {
  handle->error.clear();
  for (int f = 0; f < n_frames; ++f) {
    const auto atom = static_cast<std::size_t>(f) * n;
    if (!done(handle, quintet_potential_compute(handle->potential, 0, n, type, coord + 3 * atom,
                                                cell == nullptr ? nullptr : cell + 9 * std::size_t(f),
                                                at(to.energy, f), at(to.force, 3 * atom),
                                                at(to.virial, 9 * std::size_t(f)), at(to.atomic_energy, atom),
                                                at(to.atomic_virial, 9 * atom))))
      return;
    warn_once(handle);
  }
}

void compute_with_list(DeepmdHandle* handle, int n_all, const double* coord, const int* type, int n_ghosts,
                       const DP_Nlist* list, int ago, const DeepmdResults& to) {
  handle->error.clear();
  if (list == nullptr || n_ghosts < 0 || n_ghosts > n_all ||
      (n_all > 0 && (coord == nullptr || type == nullptr))) {
    handle->error = "the neighbour list, positions or types are NULL, or there are more ghosts than atoms";
    return;
  }
  if (!take_list(handle, n_all, coord, type, n_ghosts, *list, ago)) return;
  const auto n = static_cast<std::size_t>(n_all);
  for (int m = 0; m < quintet_potential_models(handle->potential); ++m) {
    // Atomic energies are of all atoms there, ghosts have 0.
    double* const energies = at(to.atomic_energy, m * n);
    if (energies != nullptr) std::memset(energies, 0, n * sizeof(double));
    if (!done(handle, quintet_potential_compute_neighbours(handle->potential, m, coord, at(to.energy, m),
                                                           at(to.force, m * 3 * n), at(to.virial, m * 9),
                                                           energies, at(to.atomic_virial, m * 9 * n))))
      return;
    warn_once(handle);
  }
}

}  // namespace quintet::bridges
