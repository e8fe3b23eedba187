#pragma once

#include <array>
#include <memory>

#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

struct PoissonOptions {
  double epsilon0 = 1;
  enum class Wall { periodic, dirichlet, neumann };
  std::array<std::array<Wall, 2>, 3> boundary{};  ///< [x direction][lower, upper]
  std::array<std::array<double, 2>, 3>
      value{};  ///< of phi at a dirichlet wall (or of d phi/dn at a neumann one)
};

/// -epsilon0 laplace(phi) = rho with a continuous phi in the DG space, so that the energy of Vlasov-Poisson
/// is conserved: find phi in V_h, continuous, with epsilon0 int grad phi . grad psi dx = int rho psi dx for
/// all such psi (Galerkin; order p + 1). Dirichlet values hold exactly; Neumann ones enter as epsilon0 int
/// (d phi/dn) psi dS. Where dirichlet walls meet, that of the earlier direction holds. Without a dirichlet
/// wall phi has mean 0 and the mean of rho, less what the neumann walls' field lines end on, is dropped (a
/// uniform background neutralises it).
///
/// 1-D to 3-D; a direct solver: banded Cholesky, factorised once; a solve costs 4 n b flops for n unknowns
/// and b diagonals, e.g. n = p N, b = 2p in 1-D and n = (2p - 1) N^2, b = about (4p - 2) N (periodic) in 2-D
/// serendipity. Every rank holds the whole factor and solves for all cells (the load is summed over
/// conf_comm): that is meant for the small configuration grids of kinetics, in 2-D up to some 100 x 100
/// cells.
class Poisson {
 public:
  /// Collective. Throws ResourceError before allocating a factor that cannot fit into memory.
  Poisson(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
          const PoissonOptions& options);
  ~Poisson();
  Poisson(const Poisson&) = delete;
  /// Numbers that the ranks sum in a solve(): all unknowns, whatever the number of ranks.
  [[nodiscard]] static std::size_t numbers_summed(const PhaseGrid& grid, const Basis& conf,
                                                  const PoissonOptions& options);

  /// phi [n_conf, 1, n_modes] from rho of the same shape. Collective over conf_comm.
  void solve(const Exec& exec, const ConfField& charge, const ConfField& potential);
  /// Charge of the last solve() that no field line could end on and that was dropped: int rho dx + oint
  /// epsilon0 d phi/dn dS, which is 0 wherever a solution exists. 0 where a wall holds phi.
  [[nodiscard]] double excess_charge() const;
  /// Values of the walls from now on (PoissonOptions::value); kinds stay.
  void set_values(const std::array<std::array<double, 2>, 3>& value);
  /// Components 0 ... 2 of `field` [n_conf, 8, n_modes] = -grad phi (0 beyond cdim); component field_phi =
  /// phi.
  void electric_field(const Exec& exec, const ConfField& potential, const ConfField& field) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
