#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/atoms.hpp"

namespace quintet::h5md {

/// Forces are stored in eV/angstrom, as in all that this project writes.
inline constexpr const char* force_unit = "eV Angstrom-1";
/// The unit of forces in older files. CODATA 2018: 1 eV is e N_A = 96.48533212331 kJ/mol.
inline constexpr const char* older_force_unit = "kJ mol-1 Angstrom-1";
inline constexpr double kj_per_mol_to_ev = 1.0 / 96.48533212331;

/// One atom on its way into a file.
struct Row {
  std::int64_t id;
  std::int32_t type;
  std::array<std::int32_t, 3> image;
  Vec3 position, velocity, force;
};

/// Brings distributed atoms into the order of their ids: rank r gets the r-th range of ids.
class RowOrder {
 public:
  /// Collective. Throws NumericalError if ids are there twice or are less than 1.
  RowOrder(Comm comm, const Atoms& atoms);

  /// The rows of this rank's range, ascending. Collective; one all-to-all.
  /// Throws NumericalError on all ranks if atoms are missing, doubled or new since the constructor.
  [[nodiscard]] std::vector<Row> sort(const Atoms& atoms) const;
  [[nodiscard]] std::uint64_t n_rows() const { return n_rows_; }  ///< of all ranks
  [[nodiscard]] std::uint64_t offset() const { return offset_; }  ///< of this rank's first row

 private:
  [[nodiscard]] int rank_of(std::int64_t id) const;
  [[nodiscard]] std::vector<Row> exchanged(const Atoms& atoms) const;

  Comm comm_;
  std::int64_t largest_id_;
  std::uint64_t n_rows_ = 0, offset_ = 0, n_own_ = 0;
};

}  // namespace quintet::h5md
