#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/functions/column_sample.hpp"
#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/sparse/layout.hpp"

/// Estimates, by products with random vectors, for a matrix that is too large to diagonalise.
namespace quintet::electronic {

/// The levels next to mu of the whole matrix, and how close to them a level is for certain (hartree).
struct LevelsAtMu {
  double homo = 0, homo_error = 0, lumo = 0, lumo_error = 0;
};

/// Vectors are taken in panels of at most so many: what a row's sums have registers for.
inline constexpr int probe_columns = 32;
/// Columns of the largest panel of so many vectors, for choose_layout().
[[nodiscard]] inline int panel_columns(int vectors) { return std::min(vectors, probe_columns); }

struct ProbeOptions {
  int vectors = 16;        ///< 2 or more, for a standard error
  double error = 1e-9;     ///< largest error of the series on the levels
  int most_degree = 4000;  ///< of the series
  std::uint64_t seed = 0x51ec7;
  std::optional<SpmmLayout> layout{};  ///< of products with A and P; absent: sparse-aware 1D
  Interrupt interrupt{};
};

/// ||P - f(A)||_F with its standard error.
struct ProbedError {
  Estimate norm;            ///< and the standard error of the mean over the vectors
  int vectors = 0;          ///< 0: nothing was probed
  int degree = 0;           ///< of the series
  double series_error = 0;  ///< of f(A): the norm cannot be told from 0 below that
  std::string refused;      ///< why the number is missing, or ""
};

/// How far P is from the occupation f of A, without a reference.
///
/// For vectors x of random signs E|(P - f(A)) x|^2 = ||P - f(A)||_F^2 (Hutchinson 1990); f(A) x by products
/// with all of A, which nothing was dropped from. f is a Chebyshev series: of Fermi's function on all of the
/// spectrum (T > 0), or of a step that is fitted on the bands below HOMO and above LUMO alone (T = 0). Errors
/// of A itself stay unseen. Refused, with the reason, where most_degree does not reach `error`, where HOMO
/// and LUMO are not apart by more than their errors, and at T = 0 where x^T (f - f f) x shows a level within
/// the gap that HOMO and LUMO missed. Throws InputError below 2 vectors. Collective.
/// @param p, a symmetric, on the same block columns
[[nodiscard]] ProbedError probe_error(const BlockMatrix& p, const BlockMatrix& a, const Occupation& f,
                                      const LevelsAtMu& levels, const ProbeOptions& options);

struct SpectrumOptions {
  int vectors = 64;          ///< 2 or more
  double resolution = 0.01;  ///< standard deviation of a level's peak at the middle of the spectrum (hartree)
  int most_moments = 4000;
  std::uint64_t seed = 0xd05;
  std::optional<SpmmLayout> layout{};  ///< of products with A; absent: sparse-aware 1D
  Interrupt interrupt{};
};

/// The density of states by kernel polynomials (Weisse et al. 2006): moments x^T T_k x of random vectors with
/// Jackson's factors, so that it is nowhere negative but for noise, and integrates to the number of levels.
class SpectralDensity {
 public:
  /// `moments` [vectors, n_moments], damped by Jackson's factors.
  SpectralDensity(double centre, double half_width, int n_vectors, std::vector<double> moments);

  [[nodiscard]] int n_moments() const { return n_moments_; }
  [[nodiscard]] int n_vectors() const { return n_vectors_; }
  /// Standard deviation of a level's peak in the middle of the spectrum (hartree).
  [[nodiscard]] double resolution() const;
  /// Chebyshev's points, ascending: 2 n_moments energies (hartree), and what each stands for in an integral.
  [[nodiscard]] const std::vector<double>& energies() const { return energies_; }
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  /// Levels a hartree at these energies.
  [[nodiscard]] const std::vector<double>& density() const { return density_; }
  /// Tr f of the smoothed spectrum, f as at this mu (hartree) and temperature k_B T (hartree), with the
  /// standard error over the vectors.
  [[nodiscard]] Estimate count(double mu, double temperature) const;

 private:
  double centre_, half_width_;
  int n_vectors_, n_moments_;
  std::vector<double> moments_, energies_, weights_, density_;
};

/// Throws InputError below 2 vectors, and where the resolution needs more than most_moments (says which
/// does not). Collective. @param a symmetric
[[nodiscard]] SpectralDensity spectral_density(const BlockMatrix& a, const SpectrumOptions& options);

}  // namespace quintet::electronic
