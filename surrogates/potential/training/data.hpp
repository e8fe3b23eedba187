#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/frame.hpp"

namespace quintet::potential {

/// How systems are read and checked.
struct DataOptions {
  std::vector<std::string> type_map;  ///< the model's types; empty: all names met, in order of appearance
  /// The order of `type_map` is the user's or a model's: names types that a file only numbers (LAMMPS dumps).
  bool types_in_order = true;
  bool may_grow = false;  ///< names that `type_map` lacks are added to it
  /// Frames with two atoms nearer than this are left out (angstrom); 0: none.
  double min_pair_distance = 0;
  bool need_energy = true, need_force = true, need_virial = false;  ///< some frame must have the label
  int n_atom_parameters =
      0;  ///< numbers of each atom (aparam) that the model reads: all frames must have them
  LabelSource labels{};
  double stress_limit = 1;  ///< (eV/angstrom^3) of virial / volume, where virials are needed
  /// Messages about systems that were refused, filled in; absent: the first that is refused throws, after all
  /// have been looked at.
  std::vector<std::string>* refused = nullptr;
  Interrupt interrupt{};  ///< asked before each system and file; throws Interrupted
};

/// Labelled systems: DeePMD npy folders, DeePMD HDF5 ("file.h5#/path", or all systems of a file), a folder or
/// pattern that holds systems ("data/*", searched for type.raw), or what read_configurations() reads
/// (extended XYZ, trajectories of ours). Files of frames and systems of mixed type are split by composition.
///
/// Types are mapped by name; a system without type_map.raw has the model's. Frames of a file whose atoms come
/// in different orders are sorted by type. Errors (InputError): what the readers say; labels that are not
/// finite (system, frame, atom), a name that the type map lacks, no frame with a needed label, a stress that
/// no matter bears. All systems that are refused are named. What readers assumed is logged. Warnings:
/// frames without a needed label; forces and energies that seem to be in another unit, by their size or by
/// the work of the forces between neighbouring frames; frames left out for near pairs, by name. `type_map` is
/// filled in if it was empty. The frames
/// hold the only copy of the data: 52 bytes an atom with forces.
[[nodiscard]] std::vector<LabelledSystem> read_systems(const std::vector<std::string>& paths,
                                                       DataOptions& options);

/// Census of neighbours in the data, for the size that a model needs.
struct NeighbourCensus {
  double least_distance = 0;         ///< between any two atoms, at most the cutoff (angstrom)
  std::vector<int> most_neighbours;  ///< [n_types] of each type within the cutoff of any atom
  int most_together = 0;             ///< of all types
  /// The numbers that sel of a descriptor must hold: by type, of dpa1 of all types together.
  [[nodiscard]] std::vector<int> most_of(DescriptorKind kind) const {
    return kind == DescriptorKind::dpa1 ? std::vector<int>{most_together} : most_neighbours;
  }
};
/// Errors (InputError): system, frame and what is wrong: overlapping atoms, a box too small for the cutoff.
/// Throws Interrupted, asked before each frame.
[[nodiscard]] NeighbourCensus count_neighbours(const std::vector<LabelledSystem>& systems, int n_types,
                                               double cutoff, const Interrupt& interrupt = {});
/// DeePMD-kit's "auto": 1.1 x most neighbours, cut to an integer, rounded up to a multiple of 4.
[[nodiscard]] std::vector<int> automatic_sel(const NeighbourCensus& census,
                                             DescriptorKind kind = DescriptorKind::se_e2_a);

/// Sampler of the frames of a step: one system, drawn with probability ~ its number of batches, then its next
/// frames in an order shuffled anew each epoch. Depends on (seed, step) alone, so that a restart needs no
/// state.
///
/// All batches of a system have the same size; where that does not divide the number of frames, a batch
/// reaches into the next epoch. Steps in increasing order cost O(batch); going back recounts from step 0 (50
/// ns a step). Not for several threads at once.
class Sampler {
 public:
  /// @param batch_size frames a batch, at most those of the system; 0: "auto", the least number with
  /// frames*atoms >= auto_atoms, per system.
  /// @param weights of the systems; empty: their numbers of batches; all 1: DeePMD-kit's "prob_uniform".
  Sampler(const std::vector<LabelledSystem>& systems, int batch_size, int auto_atoms,
          std::vector<double> weights, std::uint64_t seed);
  struct Batch {
    std::size_t system;
    std::vector<std::size_t> frames;
  };
  [[nodiscard]] Batch batch(std::int64_t step) const;
  [[nodiscard]] int batch_size(std::size_t system) const;
  [[nodiscard]] std::int64_t n_batches(std::size_t system) const;  ///< an epoch, rounded up
  /// Batches in which each system that is drawn is expected to have shown all its frames: the most of
  /// n_batches(s)/p_s, p_s its probability. Source: DeePMD-kit, compute_total_numb_batch.
  [[nodiscard]] double batches_an_epoch() const;

 private:
  struct Epoch {
    std::int64_t epoch = 0;
    std::vector<std::size_t> order;  ///< of the frames
  };
  [[nodiscard]] std::size_t system_of(std::int64_t step) const;
  void count_up_to(std::int64_t step) const;
  [[nodiscard]] const std::vector<std::size_t>& order_of(std::size_t system, std::int64_t epoch) const;

  std::vector<std::size_t> n_frames_;
  std::vector<int> batch_size_;
  std::vector<double> cumulative_;
  std::uint64_t seed_;
  // What follows from (seed, step), kept for the next step.
  mutable std::int64_t counted_ = 0;         ///< steps in drawn_
  mutable std::vector<std::int64_t> drawn_;  ///< [systems] batches taken before step counted_
  mutable std::vector<Epoch> epochs_;        ///< [systems] the order used last
};

}  // namespace quintet::potential
