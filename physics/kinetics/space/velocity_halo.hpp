#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Messages between ranks whose velocity blocks touch, one each way a face.
class VelocityExchange {
 public:
  /// Memory of what a face sends and of what comes from beyond it, where MPI reads it.
  struct Memory {
    std::span<double> send, receive;
  };
  using Find = std::function<Memory(int d, int side)>;
  /// @param sizes doubles that a face across each v_d sends @param find memory that lives as long; empty: its
  /// own
  VelocityExchange(const Decomposition& decomposition, const PhaseGrid& grid,
                   const std::array<std::size_t, 3>& sizes, const Find& find = {});
  /// Is there a rank beyond side 0 (lower) or 1 (upper) of direction d?
  [[nodiscard]] bool has(int d, int side) const { return sides_[d][side].rank >= 0; }
  [[nodiscard]] std::span<double> send(int d, int side) const { return sides_[d][side].memory.send; }
  [[nodiscard]] std::span<const double> received(int d, int side) const {
    return sides_[d][side].memory.receive;
  }
  /// All that was put into send() sets off. Collective.
  void start();
  void finish();
  /// Bytes that this rank sends each time.
  [[nodiscard]] double bytes() const;

 private:
  struct Side {
    int rank = -1;
    Memory memory;
    std::vector<double> own;
  };
  Comm comm_;
  std::array<std::array<Side, 2>, 3> sides_;
  std::vector<Comm::Pending> pending_;
};

/// One layer of cells beyond each face of this rank's velocity block, from the ranks that own them.
///
/// Direction d < vdim - 1: whole rows, [n_conf, rows of the face, n_packs, n_modes, lanes]. Last direction:
/// one cell a row, as a pack whose other lanes are 0: in lane 0 below the block, in the lane of the last cell
/// above it.
class VelocityHalo {
 public:
  VelocityHalo(const Decomposition& decomposition, const PhaseBlock& block, int n_modes);

  /// Begin to exchange; f must not change before finish(). Collective.
  void start(const Exec& exec, const Distribution& f);
  void finish();

  /// Cells beyond side 0 (lower) or 1 (upper) of direction d, next to `row`; nullptr where no rank is.
  [[nodiscard]] const double* pack(int d, int side, int conf, int row, int pack) const;
  /// Bytes that this rank sends each time.
  [[nodiscard]] double bytes() const { return exchange_.bytes(); }

 private:
  void fill(const Exec& exec, const Distribution& f, int d, int side);
  [[nodiscard]] int face_row(int d, int row) const;

  PhaseBlock block_;
  int n_modes_;
  VelocityExchange exchange_;
  std::array<std::vector<double>, 2> packs_;  ///< last direction: what came in, a cell a pack
};

}  // namespace quintet::kinetics
