#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "apps/submatrix/input/spin.hpp"
#include "apps/submatrix/input/system_options.hpp"
#include "io/device/device.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet::submatrix {

/// Whether the whole matrix is diagonalised in place of its submatrices.
enum class Dense { automatic, never, always };

/// Section `method`.
struct MethodOptions {
  std::vector<double> thresholds{1e-5};
  electronic::SubmatrixKernel kernel = electronic::SubmatrixKernel::automatic;
  Dense dense = Dense::automatic;
  bool single_precision = false;
  double polynomial_error = 0;
  int newton_schulz_order = 2;
  int columns_together = 0;
  double least_gap = 0.005;  ///< (hartree)
  bool estimate_error = true;
  std::optional<double> memory;             ///< of a rank for one submatrix (B)
  std::optional<std::string> inverse_sqrt;  ///< file that keeps S^-1/2
};
void describe(Schema& schema, MethodOptions& options);

/// Section `check`: the error of P on random vectors.
struct CheckOptions {
  int vectors = 0;      ///< 0: no check
  double error = 1e-9;  ///< of the series that P is compared with
  SpmmKind spmm = SpmmKind::automatic;
};
void describe(Schema& schema, CheckOptions& options);

/// Section `spectrum`: the density of states.
struct SpectrumSection {
  int vectors = 0;           ///< 0: none
  double resolution = 0.01;  ///< (hartree)
  SpmmKind spmm = SpmmKind::automatic;
};
void describe(Schema& schema, SpectrumSection& options);

/// Section `output`: matrices to write.
struct OutputOptions {
  std::vector<std::string> matrices;
  std::vector<std::string> formats{"quintet_hdf5"};
  double threshold = 0;
  electronic::DensityPattern pattern = electronic::DensityPattern::of_k_and_s;
};
void describe(Schema& schema, OutputOptions& options);

struct EvaluateOptions {
  MatricesOptions matrices;
  std::vector<std::string> further_kohn_sham;  ///< more K of the same S, each evaluated as the first
  BlocksOptions blocks;
  EnsembleOptions ensemble;
  double temperature = 0;  ///< (K)
  MethodOptions method;
  CheckOptions check;
  SpectrumSection spectrum;
  std::string machine = "local";  ///< whose links spmm: auto counts with
  Device device = Device::cpu;
  OutputOptions output;
  ReferenceOptions reference;
};
void describe(Schema& schema, EvaluateOptions& options);

/// `submatrix evaluate`: the density matrix at each filter threshold, and what follows from it. Collective.
void evaluate(Context& context, const EvaluateOptions& options);

/// The options of a threshold for the method.
[[nodiscard]] electronic::SubmatrixOptions submatrix_options(const EvaluateOptions& options, double threshold,
                                                             const std::optional<double>& electrons);

/// A run up to its results, with no file written: what it works on, and the seconds that it takes (of the
/// processor where there is one thread). For plans; on one rank.
struct Rehearsal {
  std::vector<Spin> spins;
  std::vector<Basis> bases;
  std::vector<std::string> why_dense;  ///< of each threshold; "": by submatrices
  double basis_seconds = 0;            ///< S^-1/2 and A, once
  double thresholds_seconds = 0;       ///< all of them; nothing is done where one would be dense
};
[[nodiscard]] Rehearsal rehearse(Context& context, const EvaluateOptions& options);

}  // namespace quintet::submatrix
