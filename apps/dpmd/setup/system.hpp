#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/setup/run_options.hpp"
#include "io/device/device_fwd.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/domain.hpp"
#include "surrogates/potential/evaluation/model_ensemble.hpp"
#include "surrogates/potential/evaluation/precision_check.hpp"

namespace quintet::dpmd {

/// Closest pair of atoms a run starts from (angstrom): the potential's polynomials end there.
inline constexpr double closest_start = 0.2;

/// The force field of the options: the first model, with repulsion if asked for; logs what it is. Collective:
/// every rank reads the model. Throws InputError for rounded products (precision: bf16), which need a run's
/// first frame.
[[nodiscard]] std::unique_ptr<ForceField> make_force_field(const PotentialOptions& options);

/// A force field and, if its products are rounded, what checks them.
struct CheckedField {
  std::unique_ptr<ForceField> field;
  std::unique_ptr<potential::PrecisionCheck> check;
};
/// The force field of a run, on the device of a session, which must outlive it. Throws InputError for models
/// that no device evaluates.
[[nodiscard]] CheckedField make_checked_field(const PotentialOptions& options, const DeviceSession& session);

/// The other models of the options, with the same repulsion and further terms, to be measured against
/// `driving`, which is made of these options; in its precision unless another is given. Collective. Throws
/// InputError if one lacks a type.
[[nodiscard]] potential::ModelEnsemble make_ensemble(const Comm& comm, const PotentialOptions& options,
                                                     const ForceField& driving,
                                                     const potential::DeviationMeasure& measure,
                                                     std::optional<potential::Precision> precision = {});

/// Types of a configuration by the model's names, masses from the file or the element table.
/// Throws InputError for a type that the model does not know.
[[nodiscard]] Configuration with_types(Configuration configuration,
                                       const std::vector<std::string>& model_types, const std::string& file);

/// Every name of `masses` must be a type of the model. Throws InputError that begins with `key`.
void require_known(const NamedMasses& masses, const std::vector<std::string>& model_types,
                   const std::string& key);

/// The atoms of a run as they are given: a cell and how often it is repeated along its rows. Nobody holds all
/// copies: Domain::distribute makes each where it belongs.
struct System {
  Configuration cell;  ///< on rank 0 (elsewhere its box alone), ids 1, 2, ... in order
  Copies copies{1, 1, 1};
  Box box;                   ///< of all copies
  std::int64_t n_atoms = 0;  ///< of all copies
  bool has_velocities = false;
};

/// Read and check the start of a run. An error on rank 0 is thrown on all ranks. `range`: cutoff + skin
/// (angstrom), `list_range` that of rows of neighbours; throws ResourceError if the atoms and their
/// neighbours do not fit into the ranks' memory, InputError unless the file has `n_atom_parameters` of each
/// atom.
[[nodiscard]] System read_system(const Comm& comm, const SystemOptions& options,
                                 const std::vector<std::string>& model_types, double range, double list_range,
                                 int n_atom_parameters = 0);

/// About what a rank needs for its share of atoms, their ghosts and neighbours (bytes).
///
/// With n atoms a rank in volume v, range r and list range l: n (b_a + 4 N) + g b_g, N = 4/3 pi l^3 n / v
/// neighbours an atom and g = n ((1 + 2 r / v^(1/3))^3 - 1) ghosts. `volume` (angstrom^3) of all ranks.
[[nodiscard]] double memory_of(double n_atoms, double volume, int n_ranks, double range, double list_range);

/// Give all ranks the box of rank 0's configuration. Collective.
void broadcast_box(const Comm& comm, Configuration& configuration);

}  // namespace quintet::dpmd
