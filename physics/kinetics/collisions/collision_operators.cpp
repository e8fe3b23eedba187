#include "physics/kinetics/collisions/collision_operators.hpp"

#include <optional>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/collisions/bgk.hpp"
#include "physics/kinetics/collisions/lenard_bernstein.hpp"

namespace quintet::kinetics {

void CollisionOperator::relax(const Exec&, const Distribution&, const CollisionTerms&, double) {
  throw InternalError("a collision operator without an exact solution was asked for it");
}

namespace {

/// Drag and diffusion towards u and vth^2 of the weak moments, or (not conserving) towards u = 0 and the mean
/// vth^2 that the whole domain had in the first state.
class LenardBernsteinCollisions : public CollisionOperator {
 public:
  LenardBernsteinCollisions(const Decomposition& decomposition, const PhaseBasis& basis,
                            const PhaseBlock& block, const CollisionOptions& options,
                            std::unique_ptr<DragDiffusionSweep> sweep)
      : basis_(basis),
        block_(block),
        conf_comm_(decomposition.conf_comm()),
        conserving_(options.conserving),
        products_(basis.conf()),
        sweep_(std::move(sweep)) {}

  void start(const Exec& exec, const Distribution& f) override { sweep_->start(exec, f); }
  [[nodiscard]] bool reads_moments() const override { return !solves_there(); }
  void prepare(const Exec& exec, const CollisionTerms& terms) override {
    if (solves_there())
      sweep_->solve(exec);
    else if (conserving_)
      terms.moments.solve(exec, block_, products_, terms.gain, terms.species, terms.coefficients);
    else
      hold_first_state(terms);
  }
  void add(const Exec& exec, const Distribution& f, const CollisionTerms& terms, double weight,
           const Distribution& out) override {
    sweep_->apply(exec, f, terms.coefficients, weight, out);
    check(terms);
  }
  void bound(const Exec& exec, const CollisionTerms& terms) override {
    sweep_->bound(exec, terms.coefficients);
    check(terms);
  }
  [[nodiscard]] double frequency() const override { return sweep_->frequency(); }

 private:
  [[nodiscard]] bool solves_there() const { return conserving_ && sweep_->solves(); }
  void check(const CollisionTerms& terms) const {
    if (const int bad = sweep_->refused(terms.coefficients); bad >= 0)
      terms.moments.refuse(block_, products_, terms.species, terms.coefficients, bad);
  }
  void hold_first_state(const CollisionTerms& terms) {
    if (!first_thermal_square_) {
      std::array<double, 2> sums{};
      for (int conf = 0; conf < block_.n_conf(); ++conf) {
        sums[0] += terms.moments.density(conf)[0];
        sums[1] += terms.moments.energy(conf)[0];
      }
      conf_comm_.reduce(std::span<double>(sums), Comm::Reduction::sum);
      first_thermal_square_ = sums[1] / (sums[0] * basis_.vdim());
    }
    const DragDiffusion& c = terms.coefficients;
    for (int conf = 0; conf < block_.n_conf(); ++conf)
      for (int a = 0; a < basis_.conf().size(); ++a) {
        for (int d = 0; d < basis_.vdim(); ++d) c(conf, 1 + d, a) = 0;
        c(conf, 1 + basis_.vdim(), a) = *first_thermal_square_ * c(conf, 0, a);
      }
  }

  const PhaseBasis basis_;
  PhaseBlock block_;
  Comm conf_comm_;
  bool conserving_;
  ConfProducts products_;
  std::unique_ptr<DragDiffusionSweep> sweep_;
  std::optional<double> first_thermal_square_;
};

class BgkCollisions : public CollisionOperator {
 public:
  explicit BgkCollisions(std::unique_ptr<RelaxationSweep> sweep) : sweep_(std::move(sweep)) {}

  [[nodiscard]] bool reads_moments() const override { return !sweep_->works_there(); }

  void add(const Exec& exec, const Distribution& f, const CollisionTerms& terms, double weight,
           const Distribution& out) override {
    sweep_->apply(exec, f, terms.moments, terms.gain, terms.coefficients, terms.species, weight, out);
  }
  void bound(const Exec&, const CollisionTerms& terms) override { sweep_->bound(terms.coefficients); }
  [[nodiscard]] double frequency() const override { return sweep_->frequency(); }
  void relax(const Exec& exec, const Distribution& f, const CollisionTerms& terms, double dt) override {
    sweep_->relax(exec, f, terms.moments, terms.coefficients, terms.species, dt);
  }

 private:
  std::unique_ptr<RelaxationSweep> sweep_;
};

using Operator = CollisionOptions::Operator;

// Of a super time step: RKL2 bears (s^2 + s - 2)/2 on the real axis with s stages: 5 stages 14, of which a
// fifth is left for the complex eigenvalues that drag has. More stages bear less and less of these: of the
// spectra met, 9 stages half of their reach and 21 none. BGK's eigenvalue is the rate itself, which a step
// must follow.
constexpr CollisionOperatorRow table[] = {
    {Operator::lenard_bernstein, "lbo", "Lenard-Bernstein (drag and diffusion in v)", true, false, false, 5,
     0.8 * 14, LenardBernstein::check_cells,
     [](const Decomposition& decomposition, const PhaseBasis& basis, const PhaseBlock& block,
        const CollisionOptions& options, CollisionEngines& engines, int s,
        bool uniform_rate) -> std::unique_ptr<CollisionOperator> {
       return std::make_unique<LenardBernsteinCollisions>(decomposition, basis, block, options,
                                                          engines.drag_diffusion(s, uniform_rate));
     }},
    {Operator::bgk, "bgk", "relaxation to a Maxwellian (BGK)", false, true, true, 3, 1.0,
     [](const PhaseBasis&, const PhaseGrid&, const std::string&) {},
     [](const Decomposition&, const PhaseBasis&, const PhaseBlock&, const CollisionOptions&,
        CollisionEngines& engines, int s, bool uniform_rate) -> std::unique_ptr<CollisionOperator> {
       return std::make_unique<BgkCollisions>(engines.relaxation(s, uniform_rate));
     }}};

}  // namespace

std::span<const CollisionOperatorRow> collision_operators() { return table; }

}  // namespace quintet::kinetics
