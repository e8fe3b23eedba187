#include "apps/vlasov/theory_setup.hpp"

#include "io/log/error.hpp"
#include "physics/kinetics/theory.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

using Kind = TheoryOptions::Kind;

std::vector<DriftingMaxwellian> beams_along(const std::vector<BeamOptions>& options,
                                            const Formulas& formulas) {
  std::vector<DriftingMaxwellian> beams;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto key = fmt::format("theory.beams.{}.", i);
    beams.push_back({formulas.number(options[i].plasma_frequency, key + "plasma_frequency"),
                     formulas.number(options[i].thermal_speed, key + "thermal_speed"),
                     formulas.number(options[i].drift, key + "drift")});
  }
  if (beams.empty()) beams.emplace_back();
  return beams;
}

std::vector<TransverseMaxwellian> beams_across(const std::vector<BeamOptions>& options,
                                               const Formulas& formulas) {
  std::vector<TransverseMaxwellian> result;
  const auto beams = beams_along(options, formulas);
  for (std::size_t i = 0; i < beams.size(); ++i) {
    double transverse = beams[i].thermal_speed;
    if (i < options.size() && options[i].transverse_speed)
      transverse =
          formulas.number(*options[i].transverse_speed, fmt::format("theory.beams.{}.transverse_speed", i));
    result.push_back({beams[i].plasma_frequency, beams[i].thermal_speed,
                      beams[i].drift * beams[i].drift + transverse * transverse});
  }
  return result;
}

std::complex<double> mode_of(const TheoryOptions& options, const Formulas& formulas, int vdim) {
  if (options.kind == Kind::given)
    return {options.frequency ? formulas.number(*options.frequency, "theory.frequency") : 0.0,
            formulas.number(*options.growth_rate, "theory.growth_rate")};
  const double k = formulas.positive(*options.wavenumber, "theory.wavenumber");
  if (options.kind == Kind::weibel)
    return {0.0, weibel_rate(k, formulas.positive(options.light_speed, "theory.light_speed"),
                             beams_across(options.beams, formulas))};
  const auto beams = beams_along(options.beams, formulas);
  if (options.kind == Kind::electrostatic) return electrostatic_mode(k, beams);
  const double nu = formulas.number(options.collision_frequency, "theory.collision_frequency");
  return collisional_landau_mode(k, nu, CollisionInvariants::density_momentum_energy, vdim,
                                 beams.front().plasma_frequency, beams.front().thermal_speed);
}

}  // namespace

std::optional<Theory> make_theory(const std::optional<TheoryOptions>& options, const Setup& setup) {
  if (!options) return std::nullopt;
  Theory theory;
  theory.omega = mode_of(*options, setup.formulas, setup.basis.vdim());
  theory.quantity = options->quantity;
  theory.label = options->label;
  if (!options->window.empty()) {
    const auto times = setup.formulas.numbers(options->window, "theory.window");
    QUINTET_CHECK(times[1] > times[0], "theory.window: {} to {}; expected rising times", times[0], times[1]);
    theory.window = {times[0], times[1]};
  }
  return theory;
}

}  // namespace quintet::vlasov
