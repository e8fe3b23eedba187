#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "bridges/deepmd/evaluation.hpp"

/// DeePMD-kit's C functions for potentials, by their names and types; what they do is in evaluation.hpp.
///
/// Source: the functions' documentation in DeePMD-kit, C API version 29. A DP_DeepPot and a
/// DP_DeepPotModelDevi are the same here, and each is its base model.

using quintet::bridges::DeepmdHandle;

namespace {

/// A word on what a null handle is, which comes of a lack of memory alone.
const std::string lost = "out of memory";

std::string error_of(const DeepmdHandle* dp) { return dp == nullptr ? lost : dp->error; }

/// Names of the types with blanks between.
const char* type_map(const DeepmdHandle* dp) {
  std::string names;
  for (int t = 0; dp != nullptr && t < quintet_potential_types(dp->potential); ++t) {
    if (t > 0) names += ' ';
    names += quintet_potential_type_name(dp->potential, t);
  }
  return quintet::bridges::copy_of(names);
}

}  // namespace

extern "C" {

DP_Nlist* DP_NewNlist(int n_rows, int* atoms, int* n_neighbours, int** neighbours) {
  return new (std::nothrow) DP_Nlist{n_rows, atoms, n_neighbours, neighbours};
}
/// How ghosts are exchanged matters to models with message passing alone, of which there is none here.
DP_Nlist* DP_NewNlist_comm(int n_rows, int* atoms, int* n_neighbours, int** neighbours, int, int*, int*, int*,
                           int**, int*, int*, void*, int) {
  return DP_NewNlist(n_rows, atoms, n_neighbours, neighbours);
}
void DP_NlistSetMask(DP_Nlist* list, int mask) {
  if (list != nullptr) list->mask = mask;
}
void DP_NlistSetMapping(DP_Nlist*, int*) {}
const char* DP_NlistCheckOK(DP_Nlist* list) { return quintet::bridges::copy_of(list == nullptr ? lost : ""); }
void DP_DeleteNlist(DP_Nlist* list) { delete list; }

DeepmdHandle* DP_NewDeepPotWithParam2(const char* path, int, const char*, int) {
  return quintet::bridges::open_models(&path, 1);
}
DeepmdHandle* DP_NewDeepPotWithParam(const char* path, int, const char*) {
  return DP_NewDeepPotWithParam2(path, 0, nullptr, 0);
}
DeepmdHandle* DP_NewDeepPot(const char* path) { return DP_NewDeepPotWithParam2(path, 0, nullptr, 0); }
void DP_DeleteDeepPot(DeepmdHandle* dp) { delete dp; }
DeepmdHandle* DP_NewDeepPotModelDeviWithParam(const char** paths, int n, int, const char**, int, const int*) {
  return quintet::bridges::open_models(paths, n);
}
DeepmdHandle* DP_NewDeepPotModelDevi(const char** paths, int n) {
  return DP_NewDeepPotModelDeviWithParam(paths, n, 0, nullptr, 0, nullptr);
}
void DP_DeleteDeepPotModelDevi(DeepmdHandle* dp) { delete dp; }
void DP_DeleteDeepBaseModel(DeepmdHandle* dp) { delete dp; }
void DP_DeleteDeepBaseModelDevi(DeepmdHandle* dp) { delete dp; }
const char* DP_DeepPotCheckOK(DeepmdHandle* dp) { return quintet::bridges::copy_of(error_of(dp)); }
const char* DP_DeepBaseModelCheckOK(DeepmdHandle* dp) { return quintet::bridges::copy_of(error_of(dp)); }
const char* DP_DeepPotModelDeviCheckOK(DeepmdHandle* dp) { return quintet::bridges::copy_of(error_of(dp)); }
const char* DP_DeepBaseModelDeviCheckOK(DeepmdHandle* dp) { return quintet::bridges::copy_of(error_of(dp)); }

#define QUINTET_DEEPMD_QUESTIONS(KIND)                                           \
  double DP_##KIND##GetCutoff(DeepmdHandle* dp) {                                \
    return dp == nullptr ? 0 : quintet_potential_cutoff(dp->potential);          \
  }                                                                              \
  int DP_##KIND##GetNumbTypes(DeepmdHandle* dp) {                                \
    return dp == nullptr ? 0 : quintet_potential_types(dp->potential);           \
  }                                                                              \
  int DP_##KIND##GetNumbTypesSpin(DeepmdHandle*) { return 0; }                   \
  int DP_##KIND##GetDimFParam(DeepmdHandle*) { return 0; }                       \
  int DP_##KIND##GetDimAParam(DeepmdHandle* dp) {                                \
    return dp == nullptr ? 0 : quintet_potential_atom_parameters(dp->potential); \
  }                                                                              \
  int DP_##KIND##GetDimChgSpin(DeepmdHandle*) { return 0; }                      \
  bool DP_##KIND##IsAParamNAll(DeepmdHandle*) { return false; }                  \
  bool DP_##KIND##HasDefaultFParam(DeepmdHandle*) { return false; }              \
  const char* DP_##KIND##GetTypeMap(DeepmdHandle* dp) { return type_map(dp); }
QUINTET_DEEPMD_QUESTIONS(DeepPot)
QUINTET_DEEPMD_QUESTIONS(DeepBaseModel)
QUINTET_DEEPMD_QUESTIONS(DeepPotModelDevi)
QUINTET_DEEPMD_QUESTIONS(DeepBaseModelDevi)
#undef QUINTET_DEEPMD_QUESTIONS

void DP_DeepPotSetChargeSpin(DeepmdHandle* dp, const double* charge_spin) {
  if (dp != nullptr) static_cast<void>(quintet::bridges::takes_no_parameters(dp, nullptr, charge_spin));
}
void DP_DeepPotModelDeviSetChargeSpin(DeepmdHandle* dp, const double* charge_spin) {
  DP_DeepPotSetChargeSpin(dp, charge_spin);
}

void DP_DeepPotCompute3(DeepmdHandle* dp, int n_frames, int n, const double* coord, const int* type,
                        const double* cell, const double* fparam, const double* aparam,
                        const double* charge_spin, double* energy, double* force, double* virial,
                        double* atomic_energy, double* atomic_virial) {
  if (dp == nullptr) return;
  const quintet::bridges::DeepmdResults to{energy, force, virial, atomic_energy, atomic_virial};
  if (quintet::bridges::takes_no_parameters(dp, fparam, charge_spin))
    quintet::bridges::compute_frames(dp, n_frames, n, coord, type, cell, aparam, to);
  else
    quintet::bridges::spoil(to, n_frames, n);
}
void DP_DeepPotCompute2(DeepmdHandle* dp, int n_frames, int n, const double* coord, const int* type,
                        const double* cell, const double* fparam, const double* aparam, double* energy,
                        double* force, double* virial, double* atomic_energy, double* atomic_virial) {
  DP_DeepPotCompute3(dp, n_frames, n, coord, type, cell, fparam, aparam, nullptr, energy, force, virial,
                     atomic_energy, atomic_virial);
}
/// CP2K, the host of this one, goes on without asking whether all was well.
void DP_DeepPotCompute(DeepmdHandle* dp, int n, const double* coord, const int* type, const double* cell,
                       double* energy, double* force, double* virial, double* atomic_energy,
                       double* atomic_virial) {
  DP_DeepPotCompute3(dp, 1, n, coord, type, cell, nullptr, nullptr, nullptr, energy, force, virial,
                     atomic_energy, atomic_virial);
  if (dp != nullptr) dp->say_error_once();
}

void DP_DeepPotComputeNList3(DeepmdHandle* dp, int n_frames, int n_all, const double* coord, const int* type,
                             const double*, int n_ghosts, const DP_Nlist* list, int ago, const double* fparam,
                             const double* aparam, const double* charge_spin, double* energy, double* force,
                             double* virial, double* atomic_energy, double* atomic_virial) {
  if (dp == nullptr) return;
  const quintet::bridges::DeepmdResults to{energy, force, virial, atomic_energy, atomic_virial};
  if (!quintet::bridges::takes_no_parameters(dp, fparam, charge_spin))
    return quintet::bridges::spoil(to, std::max(1, quintet_potential_models(dp->potential)), n_all);
  if (n_frames == 1)
    return quintet::bridges::compute_with_list(dp, n_all, coord, type, n_ghosts, list, ago, aparam, to);
  dp->error = "a neighbour list is of one frame";
  quintet::bridges::spoil(to, n_frames, n_all);
}
void DP_DeepPotComputeNList2(DeepmdHandle* dp, int n_frames, int n_all, const double* coord, const int* type,
                             const double* cell, int n_ghosts, const DP_Nlist* list, int ago,
                             const double* fparam, const double* aparam, double* energy, double* force,
                             double* virial, double* atomic_energy, double* atomic_virial) {
  DP_DeepPotComputeNList3(dp, n_frames, n_all, coord, type, cell, n_ghosts, list, ago, fparam, aparam,
                          nullptr, energy, force, virial, atomic_energy, atomic_virial);
}
void DP_DeepPotComputeNList(DeepmdHandle* dp, int n_all, const double* coord, const int* type,
                            const double* cell, int n_ghosts, const DP_Nlist* list, int ago, double* energy,
                            double* force, double* virial, double* atomic_energy, double* atomic_virial) {
  DP_DeepPotComputeNList3(dp, 1, n_all, coord, type, cell, n_ghosts, list, ago, nullptr, nullptr, nullptr,
                          energy, force, virial, atomic_energy, atomic_virial);
}
void DP_DeepPotModelDeviComputeNList3(DeepmdHandle* dp, int n_frames, int n_all, const double* coord,
                                      const int* type, const double* cell, int n_ghosts, const DP_Nlist* list,
                                      int ago, const double* fparam, const double* aparam,
                                      const double* charge_spin, double* energy, double* force,
                                      double* virial, double* atomic_energy, double* atomic_virial) {
  DP_DeepPotComputeNList3(dp, n_frames, n_all, coord, type, cell, n_ghosts, list, ago, fparam, aparam,
                          charge_spin, energy, force, virial, atomic_energy, atomic_virial);
}
void DP_DeepPotModelDeviComputeNList2(DeepmdHandle* dp, int n_frames, int n_all, const double* coord,
                                      const int* type, const double* cell, int n_ghosts, const DP_Nlist* list,
                                      int ago, const double* fparam, const double* aparam, double* energy,
                                      double* force, double* virial, double* atomic_energy,
                                      double* atomic_virial) {
  DP_DeepPotComputeNList3(dp, n_frames, n_all, coord, type, cell, n_ghosts, list, ago, fparam, aparam,
                          nullptr, energy, force, virial, atomic_energy, atomic_virial);
}

void DP_DeleteChar(const char* text) { std::free(const_cast<char*>(text)); }
/// The bytes of a model, to be sent to other ranks: none, for each rank reads the file. A text of -size
/// characters: an error.
const char* DP_ReadFileToChar2(const char* path, int* size) {
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "rb");
  const std::string error = file != nullptr ? ""
                                            : std::string(path == nullptr ? "(no name)" : path) +
                                                  ": this model file cannot be read";
  if (file != nullptr) std::fclose(file);
  *size = -static_cast<int>(error.size());
  return quintet::bridges::copy_of(error);
}
void DP_PrintSummary(const char* before) {
  const char *const precision = std::getenv("QUINTET_PRECISION"), *const device =
                                                                      std::getenv("QUINTET_DEVICE");
  std::printf(
      "%s%s evaluates the Deep Potential in the place of DeePMD-kit's library, precision: %s, device: %s\n",
      before == nullptr ? "" : before, quintet_version(),
      precision == nullptr ? "as the model says" : precision, device == nullptr ? "cpu" : device);
}

}  // extern "C"
