#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/files/deepmd_store.hpp"

namespace quintet {

/// A DeePMD-kit data folder: type.raw, type_map.raw, nopbc, set.*/{coord,box,energy,force,virial}.npy, or the
/// same as groups and datasets of an HDF5 file ("FILE.h5#/GROUP"), or, without sets, as texts with a line per
/// frame ({coord,box,energy,force,virial}.raw); frames on demand.
///
/// Frames are numbered through the sets in the order of the sets' names. Arrays are real numbers of any size
/// (integers are taken as numbers): coord (frames, 3 atoms) or (frames, atoms, 3), box (frames, 9) or
/// (frames, 3, 3) rows a b c, or one for all frames, energy (frames) or (frames, 1), force as coord, virial
/// as box; angstrom and eV. Without the axis of frames a set is one frame. Labels are optional and may be
/// absent from some sets. With an empty file `nopbc` the boundaries are open and box.npy is not read. Sets of
/// "mixed type" have real_atom_types (frames, atoms) too: each frame its own types, by type_map.raw; atoms of
/// type -1 only fill up rows and are left out, with their forces. Source: DeePMD-kit documentation, "System".
/// Errors (InputError) name file and shape.
class DeepmdSystem {
 public:
  /// @param type_names names of types 0, 1, ... where type_map.raw is absent; it must agree with one that is
  /// there.
  /// @param n_parameters numbers of each atom that aparam.npy must hold, (frames, atoms n) in any shape; 0:
  /// it is not read; any_number: as many as the first set has
  explicit DeepmdSystem(const std::string& path, std::vector<std::string> type_names = {},
                        int n_parameters = 0);

  [[nodiscard]] std::int64_t n_frames() const { return n_frames_; }
  [[nodiscard]] std::size_t n_atoms() const { return types_.size(); }     ///< virtual ones included
  [[nodiscard]] const std::vector<int>& types() const { return types_; }  ///< of type.raw
  [[nodiscard]] bool mixed_type() const { return mixed_type_; }
  [[nodiscard]] const std::vector<std::string>& type_names() const { return type_names_; }
  [[nodiscard]] bool periodic() const { return periodic_; }
  /// Read one frame, 0 <= index < n_frames().
  [[nodiscard]] Configuration frame(std::int64_t index) const;
  /// Read all frames, some megabytes at a time.
  [[nodiscard]] std::vector<Configuration> frames() const;

 private:
  struct Set {
    std::string name;
    std::int64_t n_frames;
    bool has_energy, has_force, has_virial;
    std::set<std::string> unframed;  ///< arrays of one row, which serves every frame
  };
  void read_types();
  void add_set(const std::string& name);
  [[nodiscard]] int parameters_in(const std::string& set) const;
  void require_parameters(const Set& set) const;
  /// Rows of an array of a set; empty if `wanted` is false.
  [[nodiscard]] std::vector<double> rows(const Set& set, const char* name, std::int64_t first,
                                         std::int64_t count, bool wanted) const;
  /// Give a frame the types of its own row and drop atoms of type -1.
  void set_real_types(const Set& set, std::int64_t index, std::span<const double> real,
                      Configuration& frame) const;
  /// Append frames [first, first + count) of a set.
  void append(const Set& set, std::int64_t first, std::int64_t count,
              std::vector<Configuration>& frames) const;

  std::string path_;
  std::shared_ptr<const DeepmdStore> store_;
  std::vector<std::string> type_names_;
  std::vector<int> types_;
  int n_parameters_;  ///< of each atom
  std::vector<Set> sets_;
  std::int64_t n_frames_ = 0;
  bool periodic_ = true, mixed_type_ = false;
  Reading reading_;
};

}  // namespace quintet
