#pragma once

#include "bridges/deepmd/handles.hpp"

namespace quintet::bridges {

/// Results of one or more models one after another, as DeePMD-kit lays them out; nullptr: not wanted. NaN
/// where a call fails.
struct DeepmdResults {
  double *energy, *force, *virial, *atomic_energy, *atomic_virial;
};

/// Results of n values each become NaN: CP2K does not ask for errors, and must not go on with what stood
/// there before.
void spoil(const DeepmdResults& to, int sets, int n);
/// A configuration with neighbours found here, for frames [n_frames] of n atoms each. aparam: [n_frames, n,
/// GetDimAParam], numbers of each atom, or nullptr.
void compute_frames(DeepmdHandle* handle, int n_frames, int n, const double* coord, const int* type,
                    const double* cell, const double* aparam, const DeepmdResults& results);
/// All models of the handle for atoms and ghosts with the host's list. A list is taken anew where ago is 0 or
/// it is not the one that was taken last. aparam: [n_all - n_ghosts, GetDimAParam] or nullptr.
void compute_with_list(DeepmdHandle* handle, int n_all, const double* coord, const int* type, int n_ghosts,
                       const DP_Nlist* list, int ago, const double* aparam, const DeepmdResults& results);
/// Set the handle's error where a frame's parameters, or a charge and spin, are given, which no model here
/// takes. True if none is.
[[nodiscard]] bool takes_no_parameters(DeepmdHandle* handle, const void* fparam, const void* charge_spin);

}  // namespace quintet::bridges
