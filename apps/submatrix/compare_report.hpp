#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/context.hpp"
#include "apps/submatrix/measured.hpp"
#include "apps/submatrix/system.hpp"

namespace quintet::submatrix {

/// One method at one threshold.
struct MethodRow {
  std::string method;
  double threshold = 0;  ///< 0: none
  Cost cost;             ///< of the sign or Fermi function alone; dense: of all
  double tr_dk = 0, n_pairs = 0, idempotency = 0;
  std::optional<double> d_error{};  ///< largest |D - exact D|
  double gflops = 0;                ///< work
  int iterations = 0;
  bool whole = false;  ///< the cost is that of all the way from K and S to D
};

struct Comparison {
  Cost orthogonalise;  ///< S^-1/2 and A, needed once by all but the dense method
  std::vector<MethodRow> rows;
  std::optional<double> exact_energy;  ///< (hartree)
};

/// A line each threshold: which sparse method was the fastest, and where dense diagonalisation, whose time
/// grows as n^3, would meet it, whose time grows as n. CPU time.
[[nodiscard]] std::vector<std::string> verdicts(const Comparison& comparison, int n_rows);

/// Log, summary.json, report.html and run.h5 of `submatrix compare`. Collective.
void report_comparison(Context& context, const Comparison& comparison, const System& system);

}  // namespace quintet::submatrix
