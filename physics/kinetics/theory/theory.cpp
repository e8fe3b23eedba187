#include "physics/kinetics/theory/theory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/complex_roots.hpp"
#include "physics/kinetics/theory/plasma_dispersion.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
constexpr double sqrt2 = std::numbers::sqrt2;

void check_wave_number(double k) {
  QUINTET_CHECK(std::isfinite(k) && k != 0, "wave number k is {}; expected a finite one other than 0", k);
}

template <class Species>
void check_species(std::span<const Species> species) {
  QUINTET_CHECK(!species.empty(), "linear theory needs at least one species");
  for (const auto& s : species)
    QUINTET_CHECK(s.plasma_frequency > 0 && s.thermal_speed >= 0 && std::isfinite(s.thermal_speed),
                  "a species has plasma frequency {} and thermal speed {}; expected > 0 and >= 0",
                  s.plasma_frequency, s.thermal_speed);
}

/// What bounds the search for roots.
struct Scales {
  double omega = 0;                            ///< sqrt(sum omega_s^2), the greatest possible growth rate
  double least_width = 1e300, most_width = 0;  ///< |k| vth
  double lowest = 0, highest = 0;              ///< k u
};

Scales scales_of(double k, std::span<const DriftingMaxwellian> species) {
  Scales scales;
  scales.lowest = scales.highest = k * species.front().drift;
  for (const auto& s : species) {
    scales.omega = std::hypot(scales.omega, s.plasma_frequency);
    scales.least_width = std::min(scales.least_width, std::abs(k) * s.thermal_speed);
    scales.most_width = std::max(scales.most_width, std::abs(k) * s.thermal_speed);
    scales.lowest = std::min(scales.lowest, k * s.drift);
    scales.highest = std::max(scales.highest, k * s.drift);
  }
  return scales;
}

/// Lower edges of the strips in which roots are sought, from above.
std::vector<double> strip_edges(const Scales& scales) {
  std::vector<double> edges;
  for (const double part : {0.31, 0.11, 0.031, 0.011, 0.0031, 0.0011, 2.3e-4})
    edges.push_back(part * scales.omega);
  if (scales.least_width > 0)
    for (const double part : {0.0017, 0.017, 0.053, 0.17, 0.53, 1.1, 2.3, 4.7})
      if (const double edge = part * scales.most_width; edge < 18 * scales.least_width)
        edges.push_back(-edge);
  return edges;
}

Complex highest_root_above(const ComplexFunction& f, const Scales& scales) {
  const double margin = 1.53 * scales.omega + 6.1 * scales.most_width;
  for (const double edge : strip_edges(scales)) {
    const Rectangle strip{{scales.lowest - margin, edge},
                          {scales.highest + 1.07 * margin, 1.01 * scales.omega}};
    // Above the real axis f changes over at least the distance to the axis, below over a thermal width.
    const double step = 0.5 * std::max(std::abs(edge), 0.3 * scales.least_width);
    // Waves of many plasma frequencies a thermal width: an edge of so many steps takes minutes.
    constexpr double most_steps = 3e5;
    if ((strip.upper_right - strip.lower_left).real() > most_steps * step) continue;
    if (count_zeros(f, strip, step) == 0) continue;
    const Complex root = highest_root(f, strip, step);
    const auto clean = [&](double part) { return std::abs(part) < 1e-15 * std::abs(root) ? 0.0 : part; };
    return {clean(root.real()), clean(root.imag())};
  }
  throw NumericalError(fmt::format("no growing {} electrostatic wave was found",
                                   scales.least_width > 0 ? "or weakly damped" : "(some species is cold)"));
}

}  // namespace

Complex electrostatic_dielectric(Complex omega, double k, std::span<const DriftingMaxwellian> species) {
  Complex epsilon = 1;
  for (const auto& s : species) {
    const Complex shifted = omega - k * s.drift;
    const double width = sqrt2 * std::abs(k) * s.thermal_speed,
                 square = s.plasma_frequency * s.plasma_frequency;
    epsilon -= width > 0 ? square / (width * width) * plasma_dispersion_slope(shifted / width)
                         : square / (shifted * shifted);
  }
  return epsilon;
}

Complex electrostatic_root(double k, std::span<const DriftingMaxwellian> species, Complex guess) {
  check_wave_number(k);
  check_species(species);
  return refine_root([&](Complex omega) { return electrostatic_dielectric(omega, k, species); }, guess,
                     scales_of(k, species).omega);
}

Complex electrostatic_mode(double k, std::span<const DriftingMaxwellian> species) {
  check_wave_number(k);
  check_species(species);
  return highest_root_above([&](Complex omega) { return electrostatic_dielectric(omega, k, species); },
                            scales_of(k, species));
}

std::vector<Complex> electrostatic_modes(double k, std::span<const DriftingMaxwellian> species, int count) {
  check_wave_number(k);
  check_species(species);
  std::vector<Complex> roots;
  for (int i = 0; i < count; ++i) {
    const auto rest = [&](Complex omega) {
      Complex value = electrostatic_dielectric(omega, k, species);
      for (const Complex root : roots) value /= omega - root;
      return value;
    };
    try {
      roots.push_back(highest_root_above(rest, scales_of(k, species)));
    } catch (const NumericalError&) {
      if (roots.empty()) throw;
      break;  // no further one where zeros can be counted
    }
  }
  return roots;
}

Complex landau_mode(double k, double plasma_frequency, double thermal_speed) {
  return electrostatic_mode(k, std::array{DriftingMaxwellian{plasma_frequency, thermal_speed, 0}});
}

Complex weibel_dispersion(Complex omega, double k, double light_speed,
                          std::span<const TransverseMaxwellian> species) {
  Complex d = omega * omega - light_speed * light_speed * k * k;
  for (const auto& s : species) {
    const double width = sqrt2 * std::abs(k) * s.thermal_speed,
                 square = s.plasma_frequency * s.plasma_frequency;
    // (1 + zeta Z)/vth^2 = -Z'/(2 vth^2), which for a cold species is -k^2/omega^2
    const Complex response =
        width > 0 ? -0.5 / (s.thermal_speed * s.thermal_speed) * plasma_dispersion_slope(omega / width)
                  : -k * k / (omega * omega);
    d += square * (s.transverse_square * response - 1.0);
  }
  return d;
}

double weibel_rate(double k, double light_speed, std::span<const TransverseMaxwellian> species) {
  check_wave_number(k);
  check_species(species);
  const auto d = [&](double gamma) { return weibel_dispersion({0, gamma}, k, light_speed, species).real(); };
  double strength = 0, least_width = 1e300;
  for (const auto& s : species) {
    strength += s.plasma_frequency * s.plasma_frequency * s.transverse_square;
    least_width = std::min(least_width, std::abs(k) * s.thermal_speed);
  }
  // 1 + zeta Z < (k vth/gamma)^2 bounds gamma^4 from above; D -> +infinity below.
  double above = std::sqrt(std::abs(k) * std::sqrt(strength)),
         below = least_width > 0 ? -30 * least_width : 0;
  QUINTET_CHECK(strength > 0, "the Weibel instability needs velocities across k: <v_y^2> is 0");
  for (int i = 0; i < 200 && above - below > 1e-16 * above; ++i) {
    const double middle = 0.5 * (above + below);
    if (middle == above || middle == below) break;
    (d(middle) > 0 ? below : above) = middle;
  }
  return 0.5 * (above + below);
}

double recurrence_time(double k, double dv) {
  check_wave_number(k);
  QUINTET_CHECK(dv > 0, "width of a velocity cell is {}; expected > 0", dv);
  return 2 * std::numbers::pi / (std::abs(k) * dv);
}

namespace {

/// sum_d (k_d t - 2 pi m_d/dv_d)^2 of the whole numbers m_d, not all 0, that make it least.
double distance_squared(const VelocityStructure& structure, double t) {
  double sum = 0, least_more = std::numeric_limits<double>::infinity();
  bool any = false;
  for (std::size_t d = 0; d < 3; ++d) {
    if (structure.k[d] == 0) continue;
    const double turn = 2 * std::numbers::pi / structure.dv[d], phase = std::abs(structure.k[d]) * t;
    const double m = std::round(phase / turn), back = phase - std::max(m, 1.0) * turn;
    if (m > 0) {
      any = true;
      sum += back * back;
    } else {
      sum += phase * phase;
      least_more = std::min(least_more, back * back - phase * phase);
    }
  }
  return any ? sum : sum + least_more;
}

}  // namespace

double recurrence_onset(const VelocityStructure& structure, double gamma, double part, double until) {
  double square = 0, end = 0, shortest = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < 3; ++d) {
    if (structure.k[d] == 0) continue;
    square += structure.k[d] * structure.k[d];
    end = std::max(end, recurrence_time(structure.k[d], structure.dv[d]));
    shortest = std::min(shortest, recurrence_time(structure.k[d], structure.dv[d]));
  }
  check_wave_number(std::sqrt(square));
  const double spread = std::sqrt(square) * structure.thermal_speed;
  if (!(spread > 0)) return std::numeric_limits<double>::infinity();
  const bool oblique = end > shortest || std::count(structure.k.begin(), structure.k.end(), 0.0) < 2;
  if (oblique) end *= 20;  // directions that come back at other times meet later
  end = std::min(end, until);
  constexpr double most_steps = 1e6;
  const double steps = std::min(most_steps, std::max(4000.0, 20 * spread * end));
  for (double i = 0; i <= steps; ++i) {
    const double t = end * i / steps;
    const double returned =
        -0.5 * structure.thermal_speed * structure.thermal_speed * distance_squared(structure, t) -
        structure.diffusion * spread * spread * t * t * t / 3 - structure.relaxation * t;
    if (returned > std::log(part) + gamma * t) return t;
  }
  return std::numeric_limits<double>::infinity();
}

double resonance_error(double gamma, double k, double dv, int order) {
  check_wave_number(k);
  return std::exp(-2 * std::numbers::pi * (order + 1) * std::max(gamma, 0.0) / (std::abs(k) * dv));
}

}  // namespace quintet::kinetics
