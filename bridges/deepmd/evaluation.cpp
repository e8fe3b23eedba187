#include "bridges/deepmd/evaluation.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace quintet::bridges {

namespace {

constexpr const char* allow_incomplete = "QUINTET_ALLOW_INCOMPLETE_LISTS";
constexpr const char* incomplete =
    ". A Deep Potential needs all pairs: mind special_bonds and neigh_modify exclude in LAMMPS. To go on "
    "without these pairs set "
    "QUINTET_ALLOW_INCOMPLETE_LISTS=1";

/// Keep what the library says about a call.
bool done(DeepmdHandle* handle, int code) {
  if (code != QUINTET_OK) handle->error = quintet_potential_error(handle->potential);
  return code == QUINTET_OK;
}

template <class T>
T* at(T* array, std::size_t place) {
  return array == nullptr ? nullptr : array + place;
}

bool has_null_arrays(const DP_Nlist& list) {
  return list.n_rows > 0 &&
         (list.atoms == nullptr || list.n_neighbours == nullptr || list.neighbours == nullptr);
}

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
    if (n <= 0 || list.neighbours[r] == nullptr) continue;  // refused when the list is taken
    add(list.neighbours[r][0]);
    add(list.neighbours[r][n / 2]);
    add(list.neighbours[r][n - 1]);
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

/// Hand on the numbers of n atoms. Those of an earlier call are no answer to one without.
bool take_parameters(DeepmdHandle* handle, int n, const double* aparam) {
  const int n_read = quintet_potential_atom_parameters(handle->potential);
  if (aparam != nullptr)
    return done(handle, quintet_potential_set_atom_parameters(handle->potential, n, n_read, aparam));
  if (n_read > 0)
    handle->error =
        "the model reads numbers of each atom (aparam), and none were given: pair_style deepmd "
        "takes them by its words aparam and aparam_from_compute";
  return n_read == 0;
}

/// What a result that is right has to say goes to standard error once, as LAMMPS's warnings do.
void warn_once(DeepmdHandle* handle) {
  const char* const warning = quintet_potential_warning(handle->potential);
  if (handle->warned || *warning == '\0') return;
  handle->warned = true;
  std::fprintf(stderr, "WARNING: Quintet: %s\n", warning);
}

}  // namespace

void spoil(const DeepmdResults& to, int sets, int n) {
  const std::size_t n_sets = std::max(sets, 0), n_atoms = std::max(n, 0);
  const auto fill = [n_sets](double* array, std::size_t size) {
    if (array != nullptr) std::fill_n(array, n_sets * size, std::numeric_limits<double>::quiet_NaN());
  };
  fill(to.energy, 1);
  fill(to.force, 3 * n_atoms);
  fill(to.virial, 9);
  fill(to.atomic_energy, n_atoms);
  fill(to.atomic_virial, 9 * n_atoms);
}

bool takes_no_parameters(DeepmdHandle* handle, const void* fparam, const void* charge_spin) {
  const char* const given = fparam != nullptr        ? "fparam (parameters of a frame)"
                            : charge_spin != nullptr ? "charge_spin"
                                                     : nullptr;
  if (given != nullptr)
    handle->error = std::string(given) + " is not supported by Quintet's stand-in for DeePMD-kit";
  return given == nullptr;
}

void compute_frames(DeepmdHandle* handle, int n_frames, int n, const double* coord, const int* type,
                    const double* cell, const double* aparam, const DeepmdResults& to) {
  if (quintet_potential_models(handle->potential) == 0) return spoil(to, n_frames, n);  // why: said already
  handle->error.clear();
  for (int f = 0; f < n_frames; ++f) {
    const std::size_t frame = f, atom = frame * n;
    const DeepmdResults one{at(to.energy, frame), at(to.force, 3 * atom), at(to.virial, 9 * frame),
                            at(to.atomic_energy, atom), at(to.atomic_virial, 9 * atom)};
    const std::size_t n_read = quintet_potential_atom_parameters(handle->potential);
    if (!take_parameters(handle, n, at(aparam, atom * n_read)) ||
        !done(handle, quintet_potential_compute(handle->potential, 0, n, type, at(coord, 3 * atom),
                                                at(cell, 9 * frame), one.energy, one.force, one.virial,
                                                one.atomic_energy, one.atomic_virial)))
      return spoil(to, n_frames, n);
    warn_once(handle);
  }
}

void compute_with_list(DeepmdHandle* handle, int n_all, const double* coord, const int* type, int n_ghosts,
                       const DP_Nlist* list, int ago, const double* aparam, const DeepmdResults& to) {
  const int n_models = quintet_potential_models(handle->potential);
  if (n_models == 0) return spoil(to, 1, n_all);  // why: said already
  handle->error.clear();
  const std::size_t n = std::max(n_all, 0);
  if (list == nullptr || has_null_arrays(*list) || n_ghosts < 0 || n_ghosts > n_all ||
      (n_all > 0 && (coord == nullptr || type == nullptr))) {
    handle->error =
        "the neighbour list or an array of it, positions or types are NULL, or there are more ghosts than "
        "atoms";
    return spoil(to, n_models, n_all);
  }
  if (!take_list(handle, n_all, coord, type, n_ghosts, *list, ago) ||
      !take_parameters(handle, n_all - n_ghosts, aparam))
    return spoil(to, n_models, n_all);
  for (int m = 0; m < n_models; ++m) {
    const DeepmdResults one{at(to.energy, m), at(to.force, m * 3 * n), at(to.virial, m * std::size_t{9}),
                            at(to.atomic_energy, m * n), at(to.atomic_virial, m * 9 * n)};
    if (one.atomic_energy != nullptr) std::fill_n(one.atomic_energy, n, 0.0);  // ghosts have none
    if (!done(handle, quintet_potential_compute_neighbours(handle->potential, m, coord, one.energy, one.force,
                                                           one.virial, one.atomic_energy, one.atomic_virial)))
      return spoil(to, n_models, n_all);
    warn_once(handle);
  }
}

}  // namespace quintet::bridges
