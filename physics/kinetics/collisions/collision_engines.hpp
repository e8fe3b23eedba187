#pragma once

#include <memory>
#include <span>
#include <vector>

#include "physics/kinetics/collisions/bgk.hpp"
#include "physics/kinetics/collisions/collision_tables.hpp"
#include "physics/kinetics/collisions/lenard_bernstein.hpp"
#include "physics/kinetics/moments/moment_sweep.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

/// Makes what collisions do in all of phase space, of each species s, where f is: in the host's memory, or
/// resident on a device. All else that they do is small: the host's, or done where f is.
class CollisionEngines {
 public:
  virtual ~CollisionEngines() = default;
  [[nodiscard]] virtual std::unique_ptr<MomentSums> moment_sums(
      int s, const std::vector<FunctionalSum>& components) = 0;
  /// `uniform_rate`: A is the same everywhere.
  [[nodiscard]] virtual std::unique_ptr<DragDiffusionSweep> drag_diffusion(int s, bool uniform_rate) = 0;
  [[nodiscard]] virtual std::unique_ptr<RelaxationSweep> relaxation(int s, bool uniform_rate) = 0;

  /// Whether exchange() makes rates and gains where f is, for operators that read no moments here.
  [[nodiscard]] virtual bool exchanges() const { return false; }
  /// SpeciesExchange::compute_there(); gains[s]: whether species s has one.
  virtual void exchange(const Exec&, const ExchangeTables&, std::span<const double> /*profiles*/,
                        const std::vector<char>& /*gains*/) {}
  /// The first configuration cell that the last exchange() refused; -1: none. Waits for it.
  [[nodiscard]] virtual int exchange_refused() const { return -1; }

  struct Term {
    double factor;
    const Distribution& f;
  };
  /// out = sum of factor f, summed in this order; out may be one of them. Nothing: 0.
  virtual void combine(const Exec& exec, int s, const Distribution& out, std::span<const Term> terms) = 0;
};

/// Engines for an f in the host's memory.
[[nodiscard]] std::unique_ptr<CollisionEngines> host_collision_engines(const Decomposition& decomposition,
                                                                       const PhaseBasis& basis,
                                                                       const std::vector<Species>& species);

}  // namespace quintet::kinetics
