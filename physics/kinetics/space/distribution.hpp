#pragma once

#include "physics/kernels/execution.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// Distribution function f(x, v) of one species on this rank: DG coefficients, laid out as PhaseBlock says.
///
/// f(x, v) = sum_i f_i w_i(xi), xi_d = 2 (z_d - centre_d)/dz_d. Copies share the memory (as Views do).
struct Distribution {
  PhaseBlock block;
  int n_modes = 0;
  Array<double> data;  ///< [n_conf, n_rows, n_packs, n_modes, lanes]

  Distribution() = default;
  /// All zero.
  Distribution(const char* label, const PhaseBlock& block, int n_modes);
  /// One that has no coefficients here: the name of one that is elsewhere.
  static Distribution named(const char* label, const PhaseBlock& block, int n_modes);

  /// First value of a pack: mode m of lane l is at pack(...)[m * lanes + l].
  [[nodiscard]] double* pack(int conf, int row, int pack) const {
    return data.data() + ((std::int64_t{conf} * n_rows_ + row) * n_packs_ + pack) * pack_size_;
  }
  /// Coefficient of one cell; `last`: cell index along the last velocity direction. For tests and set-up.
  [[nodiscard]] double& at(int conf, int row, int last, int mode) const {
    return pack(conf, row, last / PhaseBlock::lanes)[mode * PhaseBlock::lanes + last % PhaseBlock::lanes];
  }
  [[nodiscard]] double bytes() const { return 8.0 * data.size(); }

 private:
  std::size_t n_rows_ = 0, n_packs_ = 0, pack_size_ = 0;
};

/// DG coefficients of fields on this rank's configuration cells: (cell, component, mode), modes as in
/// PhaseBasis::conf(), cells as PhaseBlock::conf_number.
using ConfField = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;

}  // namespace quintet::kinetics
