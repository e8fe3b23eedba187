#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/submatrix/compare/measured.hpp"

namespace quintet::submatrix {

/// One method at one threshold.
struct MethodRow {
  std::string method;
  double threshold = 0;      ///< 0: none
  Cost cost;                 ///< of the sign or Fermi function alone; dense: of all
  double density_cpu_s = 0;  ///< of D from it; dense: in cost
  double tr_dk = 0, n_pairs = 0, idempotency = 0;
  std::optional<double> d_error{};  ///< largest |D - exact D|
  double gflops = 0;                ///< work
  int iterations = 0;
  std::string refused{};   ///< why its numbers are not to be used; "": they are
  std::string doubtful{};  ///< why some of them may be wrong
  bool whole = false;      ///< the cost is that of all the way from K and S to D
};

struct Comparison {
  Cost orthogonalise;  ///< S^-1/2 and A, needed once by all but the dense method
  std::vector<MethodRow> rows;
  std::optional<double> exact_energy;  ///< (hartree)
};

/// A method's time from K and S to D at an error of the energy.
struct EqualError {
  std::string method;
  double error = 0;      ///< (hartree)
  double seconds = 0;    ///< of CPU
  bool between = false;  ///< interpolated; else that of the threshold with the next smaller error
};
/// For each error that a sparse method ends with and another one reaches too, largest first: the methods that
/// reach it, fastest first. Times are interpolated log-log between thresholds. A threshold counts with the
/// largest error of it and all smaller thresholds, since an error that passes zero is small by chance. Empty
/// without an exact energy.
[[nodiscard]] std::vector<std::vector<EqualError>> at_equal_errors(const Comparison& comparison);

/// The fastest at the smallest error that most of the sparse methods reach: at least three of four, of fewer
/// all. An error that only two good ones reach says nothing of the others.
struct CommonError {
  EqualError fastest;
  int n_reach = 0, n_methods = 0;  ///< those that reach it, and all that were not refused
};
[[nodiscard]] std::optional<CommonError> at_common_error(const Comparison& comparison);

/// `hartree` in mev_unit(): an atom's share, or all of it where the number of atoms is not known (0).
[[nodiscard]] double mev_per_atom(double hartree, std::int64_t n_atoms);
[[nodiscard]] const char* mev_unit(std::int64_t n_atoms);

/// The judgement at equal error (without an exact energy: at each threshold): which sparse method was fastest
/// from K and S to D, and at which size it would take as long as dense diagonalisation, if the one grows as n
/// and the other as n^3. CPU time.
[[nodiscard]] std::vector<std::string> verdicts(const Comparison& comparison, int n_rows,
                                                std::int64_t n_atoms);

}  // namespace quintet::submatrix
