#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/atoms.hpp"

namespace quintet::h5md {

/// Forces are stored in eV/angstrom, as in all that this project writes.
inline constexpr const char* force_unit = "eV Angstrom-1";
/// The unit of forces in older files. CODATA 2018: 1 eV is e N_A = 96.48533212331 kJ/mol.
inline constexpr const char* older_force_unit = "kJ mol-1 Angstrom-1";
inline constexpr double kj_per_mol_to_ev = 1.0 / 96.48533212331;

/// Number of steps from the first on that ascend and are at most `last`; zeros that a kill may have left
/// behind them do not count.
[[nodiscard]] inline std::uint64_t rising(std::span<const std::int64_t> steps, std::int64_t last) {
  std::uint64_t n = 0;
  while (n < steps.size() && steps[n] >= 0 && steps[n] <= last && (n == 0 || steps[n] > steps[n - 1])) ++n;
  return n;
}

/// One atom on its way into a file.
struct AtomRow {
  std::int64_t id;
  std::int32_t type;
  std::array<std::int32_t, 3> image;
  Vec3 position, velocity, force;
};

/// Brings distributed atoms into the order of their ids: rank r gets the r-th range of ids.
class RowOrder {
 public:
  /// `part_rows`: rows of a part, see visit(). Collective. Throws NumericalError if ids are less than 1.
  RowOrder(Comm comm, const Atoms& atoms, std::int64_t part_rows = 1 << 18);

  /// Hand the rows of this rank's range to `take`, ascending, in parts of about `part_rows`: they need
  /// not all be held at once. Collective; one all-to-all a part.
  /// Throws NumericalError on all ranks if atoms are missing, doubled or new since the constructor.
  void visit(const Atoms& atoms, const std::function<void(std::span<const AtomRow>)>& take) const;
  /// The rank whose range an id is in.
  [[nodiscard]] int rank_of(std::int64_t id) const { return place_of(id).rank; }
  [[nodiscard]] std::uint64_t n_rows() const { return n_rows_; }  ///< of all ranks
  [[nodiscard]] std::uint64_t n_own() const { return n_own_; }    ///< of this rank
  [[nodiscard]] std::uint64_t offset() const { return offset_; }  ///< of this rank's first row

 private:
  /// Where an id belongs: a rank, and a part of what it gets.
  struct Place {
    int rank;
    std::int64_t part;
  };
  [[nodiscard]] Place place_of(std::int64_t id) const;

  Comm comm_;
  std::int64_t largest_id_, n_parts_ = 1;
  std::uint64_t n_rows_ = 0, offset_ = 0, n_own_ = 0;
};

}  // namespace quintet::h5md
