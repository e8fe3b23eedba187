#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "surrogates/potential/training/frame.hpp"

namespace quintet::potential {

/// How systems are read and checked.
struct DataOptions {
  std::vector<std::string> type_map;  ///< the model's types; empty: all names met, in order of appearance
  bool need_energy = true, need_force = true, need_virial = false;  ///< some frame must have the label
};

/// Labelled systems: DeePMD npy folders, DeePMD HDF5 ("file.h5#/path", or all systems of a file), extended
/// XYZ (split by composition), a folder or pattern that holds systems ("data/*", searched for type.raw).
///
/// Types are mapped by name. Errors (InputError): what the readers say; NaN labels (file, frame, atom), a
/// name that the type map lacks, no frame with a needed label. Warnings: forces above 1000 eV/angstrom or
/// energies that look like another unit. `type_map` is filled in if it was empty.
[[nodiscard]] std::vector<System> read_systems(const std::vector<std::string>& paths, DataOptions& options);

/// What the statistics of a data set say about the model's size.
struct NeighbourCensus {
  double least_distance = 0;         ///< between any two atoms (angstrom)
  std::vector<int> most_neighbours;  ///< [n_types] of each type within the cutoff of any atom
};
[[nodiscard]] NeighbourCensus count_neighbours(const std::vector<System>& systems, int n_types,
                                               double cutoff);
/// DeePMD-kit's "auto": 1.1 x most neighbours, rounded up to a multiple of 4.
[[nodiscard]] std::vector<int> automatic_sel(const NeighbourCensus& census);

/// Which frames a step takes: one system, drawn with probability ~ its number of batches, then its next
/// frames in an order shuffled anew each epoch. Depends on (seed, step) alone, so that a restart needs no
/// state.
class Sampler {
 public:
  /// @param batch_size frames a batch; 0: "auto", the least number with frames*atoms >= auto_atoms, per
  /// system.
  /// @param weights of the systems; empty: their numbers of batches.
  Sampler(const std::vector<System>& systems, int batch_size, int auto_atoms, std::vector<double> weights,
          std::uint64_t seed);
  struct Batch {
    std::size_t system;
    std::vector<std::size_t> frames;
  };
  [[nodiscard]] Batch batch(std::int64_t step) const;
  [[nodiscard]] int batch_size(std::size_t system) const;

 private:
  std::vector<std::size_t> n_frames_;
  std::vector<int> batch_size_;
  std::vector<double> cumulative_;
  std::uint64_t seed_;
};

}  // namespace quintet::potential
