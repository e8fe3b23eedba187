#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bridges/c/floats.hpp"
#include "bridges/c/guarded.hpp"
#include "bridges/c/kernels.hpp"
#include "bridges/c/potential.hpp"
#include "bridges/c/quintet.h"
#include "io/log/error.hpp"

/// What a C handle points to.
struct quintet_potential {
  std::unique_ptr<quintet::bridges::Potential> models;
  std::string error;
  int code = QUINTET_OK;  ///< of the last call
};

namespace {

using quintet::bridges::FromFloats;
using quintet::bridges::Potential;
using quintet::bridges::Results;
using quintet::bridges::ToFloats;

/// Do `work`; no exception leaves it.
template <class Work>
int guarded(quintet_potential* handle, Work&& work) noexcept {
  if (handle == nullptr) return QUINTET_INPUT;
  return handle->code = quintet::bridges::guarded(handle->error, std::forward<Work>(work));
}

/// The same with the models. Where opening them failed the text says why still.
template <class Work>
int with_models(quintet_potential* handle, Work&& work) noexcept {
  if (handle != nullptr && !handle->models) return QUINTET_INPUT;
  return guarded(handle, [&] {
    quintet::bridges::require_kernels();
    work(*handle->models);
  });
}

/// Models that a host closes after it has ended Kokkos: their memory, which Kokkos would refuse to free,
/// stays.
void abandon(std::unique_ptr<Potential> models) {
  static auto& abandoned = *new std::vector<Potential*>;  // there to the very end of the process
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  abandoned.push_back(models.release());
}

void check_given(const void* array, const char* name, int n = 1) {
  QUINTET_CHECK(n >= 0, "{} atoms: none may be negative", n);
  QUINTET_CHECK(array != nullptr || n == 0, "{} is NULL", name);
}

}  // namespace

extern "C" {

int quintet_api_version(void) { return QUINTET_API_VERSION; }
const char* quintet_version(void) { return "Quintet " QUINTET_VERSION; }

#define QUINTET_TEXT_OF(NUMBER) #NUMBER
#define QUINTET_TEXT(MACRO) QUINTET_TEXT_OF(MACRO)
const char* quintet_api_mismatch(int api_version_of_program) {
  if (api_version_of_program < 1) return "QUINTET_API_VERSION of a program is 1 or more";
  if (api_version_of_program <= QUINTET_API_VERSION) return "";
  return "this program was compiled for a newer interface of libquintet_c than the library that it has found, "
         "which has version " QUINTET_TEXT(QUINTET_API_VERSION) ": install the library that its quintet.h came with, or compile the program with this library's";
}

quintet_potential* quintet_potential_open(int n_files, const char* const* files, const char* precision) {
  return quintet_potential_open_on(n_files, files, precision, nullptr);
}

quintet_potential* quintet_potential_open_on(int n_files, const char* const* files, const char* precision,
                                             const char* device) {
  auto* handle = new (std::nothrow) quintet_potential;
  guarded(handle, [&] {
    QUINTET_CHECK(n_files > 0 && files != nullptr, "no model file was named");
    std::vector<std::string> names;
    for (int i = 0; i < n_files; ++i) {
      check_given(files[i], "a model file's name");
      names.emplace_back(files[i]);
    }
    handle->models = std::make_unique<Potential>(names, precision == nullptr ? "model" : precision,
                                                 device == nullptr ? "cpu" : device);
  });
  return handle;
}

void quintet_potential_close(quintet_potential* potential) {
  if (potential != nullptr && potential->models && !quintet::bridges::kernels_are_up())
    abandon(std::move(potential->models));
  delete potential;
}

const char* quintet_potential_device(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? "" : potential->models->device().c_str();
}

const char* quintet_potential_error(const quintet_potential* potential) {
  return potential == nullptr ? "the handle is NULL" : potential->error.c_str();
}
int quintet_potential_code(const quintet_potential* potential) {
  return potential == nullptr ? QUINTET_INPUT : potential->code;
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

int quintet_potential_atom_parameters(const quintet_potential* potential) {
  return potential == nullptr || !potential->models ? 0 : potential->models->n_parameters();
}

int quintet_potential_set_atom_parameters(quintet_potential* potential, int n_atoms, int n,
                                          const double* values) {
  return with_models(potential, [&](Potential& models) {
    check_given(values, "values", n_atoms);
    models.set_atom_parameters(n_atoms, n, values);
  });
}

int quintet_potential_set_type_parameters(quintet_potential* potential, int n_types, int n,
                                          const double* values) {
  return with_models(potential, [&](Potential& models) { models.set_type_parameters(n_types, n, values); });
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

int quintet_potential_compute_float(quintet_potential* potential, int model, int n_atoms, const int* types,
                                    const float* positions, const float* cell, double* energy, float* forces,
                                    float* virial, float* atomic_energies, float* atomic_virials) {
  return with_models(potential, [&](Potential& models) {
    check_given(types, "types", n_atoms);
    check_given(positions, "positions", n_atoms);
    const std::size_t n = n_atoms;
    const FromFloats x(positions, 3 * n), rows(cell, 9);
    ToFloats to(n, n, {energy, forces, virial, atomic_energies, atomic_virials});
    models.compute(model, n_atoms, types, x.data(), rows.data(), to.results());
    to.hand_over();
  });
}

int quintet_potential_check_neighbours_float(quintet_potential* potential, const float* positions) {
  return with_models(potential, [&](Potential& models) {
    models.check_neighbours(FromFloats(positions, 3 * std::int64_t{models.n_listed()}).data());
  });
}

int quintet_potential_compute_neighbours_float(quintet_potential* potential, int model,
                                               const float* positions, double* energy, float* forces,
                                               float* virial, float* atomic_energies, float* atomic_virials) {
  return with_models(potential, [&](Potential& models) {
    const std::size_t n_all = models.n_listed();
    const FromFloats x(positions, 3 * n_all);
    ToFloats to(models.n_owned(), n_all, {energy, forces, virial, atomic_energies, atomic_virials});
    models.compute_neighbours(model, x.data(), to.results());
    to.hand_over();
  });
}

int quintet_potential_deviation_float(quintet_potential* potential, int n_atoms, const int* types,
                                      const float* positions, const float* cell, float* by_atom,
                                      double* summary) {
  return with_models(potential, [&](Potential& models) {
    check_given(types, "types", n_atoms);
    check_given(positions, "positions", n_atoms);
    check_given(summary, "summary");
    const FromFloats x(positions, 3 * std::int64_t{n_atoms}), rows(cell, 9);
    std::vector<double> deviations(n_atoms);
    models.deviation(n_atoms, types, x.data(), rows.data(), deviations.data(), summary);
    if (by_atom != nullptr) std::copy(deviations.begin(), deviations.end(), by_atom);
  });
}

}  // extern "C"
