#pragma once

#include <array>
#include <complex>
#include <span>
#include <vector>

/// Linear theory that a run sets beside its measured rates: waves ~ exp(i k x - i omega t), so that
/// omega.real() is a frequency and omega.imag() the growth rate of the amplitude (negative: damping; energy
/// grows with twice it).
///
/// Any consistent units; frequencies and rates come out in that of the plasma frequency, thermal_speed is
/// sqrt(T/m). All roots are found from a count of zeros (argument principle) or followed from one that was,
/// never from a lucky guess. Errors: InputError for values without meaning, NumericalError where no root is
/// found.
namespace quintet::kinetics {

/// A Maxwellian f0 = n/(sqrt(2 pi) vth) exp(-(v - u)^2/(2 vth^2)) of charges along k.
struct DriftingMaxwellian {
  double plasma_frequency = 1;  ///< sqrt(n q^2/(epsilon0 m)), of this part of the particles alone
  double thermal_speed = 1;     ///< vth; 0: a cold beam
  double drift = 0;             ///< u
};

/// Dielectric function of electrostatic waves: epsilon = 1 - sum_s omega_s^2/(2 k^2 vth_s^2) Z'(zeta_s),
/// zeta_s = (omega - k u_s)/(sqrt(2) |k| vth_s); a cold beam gives -omega_s^2/(omega - k u_s)^2. Immobile
/// ions need no entry. Source: Stix, Waves in Plasmas (1992), ch. 8.
[[nodiscard]] std::complex<double> electrostatic_dielectric(std::complex<double> omega, double k,
                                                            std::span<const DriftingMaxwellian> species);

/// The root of epsilon(omega, k) = 0 that the secant method reaches from `guess`: for branches other than the
/// fastest growing one, e.g. ion-acoustic waves.
[[nodiscard]] std::complex<double> electrostatic_root(double k, std::span<const DriftingMaxwellian> species,
                                                      std::complex<double> guess);

/// The fastest growing, or else least damped, root of epsilon(omega, k) = 0; of a pair +-omega_r the positive
/// one. Covers Landau damping, two-stream, bump-on-tail and ion-acoustic waves. Growth rates cannot exceed
/// sqrt(sum_s omega_s^2): zeros are counted from there downwards in strips. Without any growing root, all
/// species must be warm.
[[nodiscard]] std::complex<double> electrostatic_mode(double k, std::span<const DriftingMaxwellian> species);

/// The highest `count` roots of epsilon(omega, k) = 0 in descending order of their growth rates, those of
/// both signs of the frequency, as far as they are found above the strips' lower end: electrostatic_mode()
/// first, each further one as a zero of epsilon over the product of (omega - omega_j) of those before.
[[nodiscard]] std::vector<std::complex<double>> electrostatic_modes(
    double k, std::span<const DriftingMaxwellian> species, int count);

/// Langmuir wave of one Maxwellian at rest: 1 + (1 + zeta Z(zeta))/(k lambda_D)^2 = 0 (Landau 1946).
[[nodiscard]] std::complex<double> landau_mode(double k, double plasma_frequency = 1,
                                               double thermal_speed = 1);

/// A velocity distribution as seen by a transverse wave: Maxwellian along k, symmetric about 0 across it,
/// along the wave's electric field.
struct TransverseMaxwellian {
  double plasma_frequency = 1;
  double thermal_speed = 1;      ///< along k; 0: cold
  double transverse_square = 1;  ///< <v_y^2>: vth_y^2 of a bi-Maxwellian, u^2 + vth_y^2 of equal beams at +-u
};

/// Dispersion function of the transverse wave whose aperiodic branch is the Weibel (filamentation)
/// instability:
///
///     D = omega^2 - c^2 k^2 + sum_s omega_s^2 (<v_y^2>_s/vth_s^2 (1 + zeta_s Z(zeta_s)) - 1),
///
/// zeta_s = omega/(sqrt(2) |k| vth_s). Source: Weibel, Phys. Rev. Lett. 2, 83 (1959); Fried, Phys. Fluids 2,
/// 337 (1959).
[[nodiscard]] std::complex<double> weibel_dispersion(std::complex<double> omega, double k, double light_speed,
                                                     std::span<const TransverseMaxwellian> species);

/// Rate of the aperiodic branch, omega = i gamma: D(i gamma) falls steadily with gamma, so there is one root;
/// gamma < 0: the fluctuation decays. A cold plasma (all thermal_speed 0) has it only where it grows.
[[nodiscard]] double weibel_rate(double k, double light_speed, std::span<const TransverseMaxwellian> species);

/// Invariants of the collisions in collisional_landau_mode().
enum class CollisionInvariants {
  density,                  ///< Lenard & Bernstein 1958: nu d/dv (v f + vth^2 df/dv)
  density_momentum_energy,  ///< the same about the local mean velocity and temperature (Dougherty 1964)
};

/// Langmuir wave damped by Landau's resonance and by Lenard-Bernstein collisions of constant frequency nu.
///
/// In Hermite functions of v the linearised problem is a_n' = -i k vth (sqrt(n) a_{n-1} + sqrt(n+1) a_{n+1})
/// - nu d_n a_n - i (omega_p^2/(k vth)) a_0 [n = 1], with d_n = n and, where momentum and energy are kept,
/// d_1 = 0 and d_2 = 0 in one velocity direction. In velocity_dimensions D > 1, T = sum_i <(v_i - u_i)^2>/D
/// ties a_2 to the transverse chain b_n (damped by nu (n + 2)). The chain is summed as a continued fraction
/// until it has converged; the root is followed from nu = 0. Overdamped plain collisions (omega_r = 0) have
/// no oscillating root. Source: Lenard & Bernstein, Phys. Rev. 112, 1456 (1958); Ng, Bhattacharjee & Skiff,
/// PRL 83, 1974 (1999).
[[nodiscard]] std::complex<double> collisional_landau_mode(double k, double nu,
                                                           CollisionInvariants invariants,
                                                           int velocity_dimensions = 1,
                                                           double plasma_frequency = 1,
                                                           double thermal_speed = 1);

/// Landau mode with collisions of Bhatnagar, Gross & Krook, nu (M[n, u, T] - f), which keep density, momentum
/// and energy: d_n = nu for n >= 3, and the chain is summed by Z((omega + i nu)/(sqrt(2) |k| vth)).
[[nodiscard]] std::complex<double> bgk_landau_mode(double k, double nu, int velocity_dimensions = 1,
                                                   double plasma_frequency = 1, double thermal_speed = 1);

/// Time after which free streaming on velocity cells of width dv comes back: T_R = 2 pi/(k dv). With DG of
/// order p the first revival is weak; strong ones lie near multiples up to (p + 1) T_R.
[[nodiscard]] double recurrence_time(double k, double dv);

/// How the fine structure that a wave leaves in v is lost and comes back.
struct VelocityStructure {
  std::array<double, 3> k{1, 0, 0}, dv{1, 1, 1};  ///< wave vector, widths of the velocity cells
  double thermal_speed = 1;                       ///< of the particles along the wave
  double diffusion = 0;                           ///< nu of Lenard-Bernstein collisions
  double relaxation = 0;                          ///< nu of BGK collisions
};
/// The time from which on a damped wave exp(gamma t) is hidden by the recurrence of its beginning on velocity
/// cells: the first t with
///
///     max_m exp(-vth^2 sum_d (k_d t - 2 pi m_d/dv_d)^2/2 - nu_LB (k vth)^2 t^3/3 - nu_BGK t) > part
///     exp(gamma t)
///
/// over whole numbers m_d that are not all 0: cells of width dv_d cannot tell the structure exp(i k.v t) from
/// those of other m. Along one direction m = 1 comes first, at recurrence_time(k, dv); an oblique wave must
/// come back along all its directions at once. Of a Maxwellian (free streaming, and what diffusion in v
/// does). Infinite if not before `until`, or without thermal motion.
[[nodiscard]] double recurrence_onset(const VelocityStructure& structure, double gamma, double part = 1e-3,
                                      double until = 1e300);

/// By what part velocity cells change the rate gamma > 0 of a growing wave: exp(-2 pi (p + 1) gamma/(k dv)).
///
/// The resonant integral over v has a pole gamma/k off the axis; a sum over points h apart misses exp(-2 pi
/// gamma/(k h)) of its residue, and DG of order p counts as h = dv/(p + 1). Measured with a current-driven
/// ion-acoustic wave (order 2, 48, 96, 192 cells): 24, 6 to 7, 0.6 % beside 27, 7.1, 0.5 %.
[[nodiscard]] double resonance_error(double gamma, double k, double dv, int order);

}  // namespace quintet::kinetics
