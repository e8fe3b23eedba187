#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "physics/kernels/activation.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::potential {

/// Options of a new model; defaults are DeePMD-kit's.
struct NetworkOptions {
  std::vector<std::string> type_map;
  DescriptorKind kind = DescriptorKind::se_e2_a;  ///< networks of se_e2_r are one-sided
  double rcut = 6, rcut_smooth = 0.5;             ///< (angstrom)
  std::vector<int> sel;                           ///< [n_types], of dpa1 one number; empty: "auto"
  std::vector<int> embedding{10, 20, 40}, fitting{120, 120, 120};
  int axis_neuron = 4;
  bool type_one_side = false, embedding_timestep = false, fitting_timestep = true;
  Activation embedding_activation = Activation::tanh, fitting_activation = Activation::tanh;
  bool single_precision = false;
  bool set_davg_zero = false;
  double protection = 0;  ///< (angstrom)
  std::vector<std::array<int, 2>> excluded_descriptor_pairs, excluded_pairs;
  std::vector<int> excluded_atoms;
  /// Of dpa1: numbers that embed a type; whether they scale G (strip) or are inputs beside s (concat), with
  /// a scale that goes smoothly to 1; and whether the fitting network, one for all types, reads them.
  int type_width = 8;
  bool has_gate = false, smooth_gates = true, fitting_reads_types = true;
  int n_atom_parameters = 0;   ///< numbers of each atom that the fitting networks read (aparam)
  int statistics_frames = 10;  ///< a system for davg and dstd (DeePMD-kit: data_stat_nbatch batches)
  std::uint64_t seed = 1;
};

/// davg and dstd of each centre type: mean and deviation of R[0], and one shared deviation of R[1..3] (of
/// se_e2_r 1), over all slots (empty and excluded ones count as 0) of up to `frames_a_system` frames a
/// system, evenly spaced. dstd is at least 1e-2, and 0.1 for types without atoms. `zero_mean` leaves davg 0.
/// Source: DeePMD-kit, env_mat_stat.
void set_statistics(Model& model, const std::vector<LabelledSystem>& systems, int frames_a_system,
                    bool zero_mean);
/// Mean and inverse deviation of the `n` parameters of atoms over all atoms of all frames; a deviation is at
/// least 1e-2. Source: DeePMD-kit, compute_input_stats.
void set_parameter_statistics(Model& model, const std::vector<LabelledSystem>& systems, int n);
/// output_bias: minimum-norm least squares of the energies of all frames on the numbers of atoms of each type
/// (0 without energies; excluded atoms are not counted).
void set_energy_bias(Model& model, const std::vector<LabelledSystem>& systems);

/// A model with random weights (W ~ N(0, 1/(n_in + n_out)), b ~ N(0, 1), idt ~ N(0.1, 0.001^2)), statistics
/// and biases of the data, and the least distance in them; sel counted if not given, else compared with the
/// data (a warning says where it is too small).
///
/// All ranks, compilers and machines draw the same for a seed: Philox numbers, rounded to float so that
/// the last places of the maths library do not matter. Networks have streams of their own.
[[nodiscard]] Model initial_model(const NetworkOptions& options, const std::vector<LabelledSystem>& systems);
/// A model as above, with neighbours counted before, within options.rcut.
[[nodiscard]] Model initial_model(const NetworkOptions& options, const std::vector<LabelledSystem>& systems,
                                  const NeighbourCensus& census);

/// A network of random weights with the widths, activations and skips of another one; layers whose time steps
/// are not all 1 have random ones. `index` among the model's embedding or fitting networks says which numbers
/// it draws.
/// That of the network of types, of dpa1.
constexpr std::size_t index_of_types = 2;
[[nodiscard]] Network drawn_embedding(const Network& like, std::uint64_t seed, std::size_t index);
[[nodiscard]] Network drawn_fitting(const Network& like, std::uint64_t seed, std::size_t index);

/// Refuse options that make no model, before the data are read. Throws InputError.
void validate(const NetworkOptions& options);

}  // namespace quintet::potential
