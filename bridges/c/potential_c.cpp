#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bridges/c/guarded.hpp"
#include "bridges/c/potential.hpp"
#include "bridges/c/quintet.h"
#include "io/log/error.hpp"

/// What a C handle points to.
struct quintet_potential {
  std::optional<quintet::bridges::Potential> models;
  std::string error;
};

namespace {

using quintet::bridges::Potential;
using quintet::bridges::Results;

/// Do `work`; no exception leaves it.
template <class Work>
int guarded(quintet_potential* handle, Work&& work) noexcept {
  if (handle == nullptr) return QUINTET_INPUT;
  return quintet::bridges::guarded(handle->error, std::forward<Work>(work));
}

/// The same with the models. Where opening them failed the text says why still.
template <class Work>
int with_models(quintet_potential* handle, Work&& work) noexcept {
  if (handle != nullptr && !handle->models) return QUINTET_INPUT;
  return guarded(handle, [&] { work(*handle->models); });
}

void check_given(const void* array, const char* name, int n = 1) {
  QUINTET_CHECK(n >= 0, "{} atoms: none may be negative", n);
  QUINTET_CHECK(array != nullptr || n == 0, "{} is NULL", name);
}

}  // namespace

extern "C" {

int quintet_api_version(void) { return QUINTET_API_VERSION; }
const char* quintet_version(void) { return "Quintet " QUINTET_VERSION; }

quintet_potential* quintet_potential_open(int n_files, const char* const* files, const char* precision) {
  auto* handle = new (std::nothrow) quintet_potential;
  guarded(handle, [&] {
    QUINTET_CHECK(n_files > 0 && files != nullptr, "no model file was named");
    std::vector<std::string> names;
    for (int i = 0; i < n_files; ++i) {
      check_given(files[i], "a model file's name");
      names.emplace_back(files[i]);
    }
    handle->models.emplace(names, precision == nullptr ? "model" : precision);
  });
  return handle;
}

void quintet_potential_close(quintet_potential* potential) { delete potential; }

const char* quintet_potential_error(const quintet_potential* potential) {
  return potential == nullptr ? "the handle is NULL" : potential->error.c_str();
}
const char* quintet_potential_warning(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? "" : potential->models->warning().c_str();
}
int quintet_potential_models(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? 0 : potential->models->n_models();
}
double quintet_potential_cutoff(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? 0 : potential->models->cutoff();
}
int quintet_potential_types(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? 0 : potential->models->n_types();
}
const char* quintet_potential_type_name(const quintet_potential* potential, int type) {
  if (type < 0 || type >= quintet_potential_types(potential)) return nullptr;
  return potential->models->type_names()[type].c_str();
}

int quintet_potential_compute(quintet_potential* potential, int model, int n_atoms, const int* types,
                              const double* positions, const double* cell, double* energy, double* forces,
                              double* virial, double* atomic_energies, double* atomic_virials) {
  return with_models(potential, [&](Potential& models) {
    check_given(types, "types", n_atoms);
    check_given(positions, "positions", n_atoms);
    models.compute(model, n_atoms, types, positions, cell,
                   {energy, forces, virial, atomic_energies, atomic_virials});
  });
}

int quintet_potential_set_neighbours(quintet_potential* potential, int n_owned, int n_ghosts,
                                     const int* types, int n_rows, const int* atoms, const int* n_neighbours,
                                     const int* const* neighbours, int mask) {
  return with_models(potential, [&](Potential& models) {
    check_given(types, "types", n_owned > 0 || n_ghosts > 0);
    check_given(atoms, "atoms", n_rows);
    check_given(n_neighbours, "n_neighbours", n_rows);
    check_given(neighbours, "neighbours", n_rows);
    for (int r = 0; r < n_rows; ++r)
      QUINTET_CHECK(neighbours[r] != nullptr || n_neighbours[r] == 0, "row {} of the neighbour list is NULL",
                    r);
    models.set_neighbours(n_owned, n_ghosts, types, {n_rows, atoms, n_neighbours, neighbours, mask});
  });
}

int quintet_potential_check_neighbours(quintet_potential* potential, const double* positions) {
  return with_models(potential, [&](Potential& models) { models.check_neighbours(positions); });
}

int quintet_potential_compute_neighbours(quintet_potential* potential, int model, const double* positions,
                                         double* energy, double* forces, double* virial,
                                         double* atomic_energies, double* atomic_virials) {
  return with_models(potential, [&](Potential& models) {
    models.compute_neighbours(model, positions, {energy, forces, virial, atomic_energies, atomic_virials});
  });
}

int quintet_potential_deviation(quintet_potential* potential, int n_atoms, const int* types,
                                const double* positions, const double* cell, double* by_atom,
                                double* summary) {
  return with_models(potential, [&](Potential& models) {
    check_given(types, "types", n_atoms);
    check_given(positions, "positions", n_atoms);
    check_given(summary, "summary");
    models.deviation(n_atoms, types, positions, cell, by_atom, summary);
  });
}

}  // extern "C"
