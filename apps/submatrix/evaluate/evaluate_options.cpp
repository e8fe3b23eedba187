#include <algorithm>
#include <cmath>

#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/output.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "physics/electronic/files/matrix_format.hpp"

namespace quintet::submatrix {

namespace {

/// A message if one of `given` is not among `names`.
std::optional<std::string> unknown(const std::string& key, const std::vector<std::string>& given,
                                   const std::vector<std::string>& names) {
  for (const auto& name : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return key + ": '" + name + "' is none of " + name_list(names) + did_you_mean(name, names);
  return std::nullopt;
}

}  // namespace

void describe(Schema& schema, MethodOptions& options) {
  schema
      .numbers(
          "thresholds", options.thresholds,
          "Blocks of A = S^-1/2 K S^-1/2 (hartree) with a smaller Frobenius norm are dropped. Several: one "
          "evaluation for each, to show how results converge. --restart auto goes on after the last "
          "finished one and repeats the one that was interrupted; more may be added then, but finished "
          "ones must stay")
      .length(1, 50)
      .at_least(0)
      .at_most(1)
      .example("[1e-4, 1e-5]")
      .on_restart(OnRestart::free);
  schema.choice("kernel", options.kernel, choices_of(electronic::submatrix_kernels),
                "How the step function of a submatrix is found for the wanted columns; automatic: by cost");
  schema.choice(
      "dense", options.dense,
      {{"automatic", Dense::automatic}, {"never", Dense::never}, {"always", Dense::always}},
      "Diagonalise the whole matrix once in place of submatrices: exact, time as n^3, one for all "
      "thresholds; automatic: where it fits and its predicted seconds are fewer by 0.1 s than those of "
      "submatrices (kernel and columns_together left alone, no check, spectrum or device), where "
      "submatrices would be nearly the whole matrix, where they are refused (up to ten predicted "
      "minutes), or S is too nearly singular for S^-1/2 (condition number above some 1e4, up to 1e8)");
  schema.flag("single_precision", options.single_precision,
              "Polynomial in float32: energies to 1e-7 hartree an orbital, up to 1.5 times as fast; for "
              "thresholds of 1e-3 and above");
  schema
      .number("polynomial_error", options.polynomial_error,
              "Largest error of the polynomial on the occupied and empty levels; 0: 0.003 of the "
              "threshold, 3e-7 at most")
      .at_least(0)
      .at_most(0.1);
  schema
      .integer("newton_schulz_order", options.newton_schulz_order,
               "Order of that kernel: products an iteration")
      .at_least(2)
      .at_most(4);
  schema
      .integer(
          "columns_together", options.columns_together,
          "Clustering: block columns of many common rows that may share a submatrix (found among 64 that "
          "follow each other); 1: none, 0: as many as the predicted cost says pay")
      .at_least(0)
      .at_most(1000);
  schema
      .quantity("least_gap", options.least_gap, "hartree",
                "Stop if the levels around mu lie closer and the temperature is 0: mu is then inside a band, "
                "where the density matrix does not decay")
      .at_least(0);
  schema.flag(
      "estimate_error", options.estimate_error,
      "Estimate the errors of energy, electrons and density matrix from a sample of block columns that "
      "are evaluated again with larger submatrices; a quarter of the submatrices' time, 0.05 s at "
      "least; false leaves errors unknown");
  schema
      .quantity("memory", options.memory, "B",
                "A rank may use for one submatrix; absent: the node's memory over its ranks")
      .above(0)
      .example("2 GB")
      .on_restart(OnRestart::free);
  schema
      .text("inverse_sqrt", options.inverse_sqrt,
            "File that keeps S^-1/2 for the next run of the same S and blocks (our HDF5): read where it "
            "exists, "
            "else made and written; refused if it is damaged, of another S, of other blocks or of a coarser "
            "threshold")
      .example("inverse_sqrt.h5")
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.inverse_sqrt && options.dense == Dense::always)
      return "inverse_sqrt: dense: always makes no S^-1/2; leave one of them out";
    return std::nullopt;
  });
  schema.check([&options]() -> std::optional<std::string> {
    if (options.polynomial_error > 0 && options.polynomial_error < electronic::least_polynomial_error)
      return fmt::format("polynomial_error {}: rounding leaves {}; give 0 or more than that",
                         options.polynomial_error, electronic::least_polynomial_error);
    return std::nullopt;
  });
}

namespace {

/// One vector has no standard error.
void describe_vectors(Schema& schema, int& vectors, const char* text) {
  schema.integer("vectors", vectors, text).at_least(0).at_most(10000);
  schema.check([&vectors]() -> std::optional<std::string> {
    if (vectors == 1) return "vectors: 1 has no standard error; give 2 or more, or 0 for none";
    return std::nullopt;
  });
}

/// One word for all products with random vectors.
void describe_spmm(Schema& schema, SpmmKind& kind) {
  std::string text = "How products with the vectors are shared out over ranks";
  for (const auto& row : spmm_kinds())
    text += fmt::format("{} {}: {}", row.value == SpmmKind::automatic ? ";" : ",", row.name, row.doc);
  schema.choice("spmm", kind, choices_of(spmm_kinds()), text).on_restart(OnRestart::free);
  schema.check(Expert{"spmm"});
}

}  // namespace

void describe(Schema& schema, CheckOptions& options) {
  describe_vectors(schema, options.vectors,
                   "Random vectors on which P is compared with a Chebyshev series of all of A = S^-1/2 K "
                   "S^-1/2, which gives ||P - P_exact|| with its standard error, without a reference and "
                   "without the errors of S^-1/2; 16 give it to a few per cent; 0: no check");
  schema
      .number("error", options.error,
              "Largest error of that series on the levels; where no degree up to 4000 reaches it, the check "
              "is refused")
      .at_least(1e-12)
      .at_most(1e-2);
  describe_spmm(schema, options.spmm);
}

void describe(Schema& schema, SpectrumSection& options) {
  describe_vectors(schema, options.vectors,
                   "Random vectors for the density of states and the electrons at any mu, by kernel "
                   "polynomials of A (64 are enough for pictures); 0: none");
  schema
      .quantity(
          "resolution", options.resolution, "hartree",
          "Standard deviation of a level's peak in the middle of the spectrum; at most 4000 moments, of "
          "which pi/2 times the spectrum's width over this are needed")
      .above(0);
  describe_spmm(schema, options.spmm);
}

void describe(Schema& schema, OutputOptions& options) {
  schema.texts("matrices", options.matrices,
               "Matrices of the last threshold to write into the run's folder: " + name_list(output_names()));
  schema.texts("formats", options.formats,
               "Formats to write them in: " + name_list(names_of(electronic::matrix_formats())));
  schema.number("threshold", options.threshold, "Leave out blocks of smaller Frobenius norm")
      .at_least(0)
      .at_most(1);
  schema.choice(
      "pattern", options.pattern,
      {{"of_k_and_s", electronic::DensityPattern::of_k_and_s}, {"whole", electronic::DensityPattern::whole}},
      "Blocks of density and energy_weighted; of_k_and_s: those of K and S, which energies and "
      "forces need; whole: all that were computed, for D S D = D or expectations of operators of "
      "longer range");
  schema.check([&options]() -> std::optional<std::string> {
    if (auto wrong = unknown("matrices", options.matrices, output_names())) return wrong;
    return unknown("formats", options.formats, names_of(electronic::matrix_formats()));
  });
}

void describe(Schema& schema, EvaluateOptions& options) {
  schema.section("matrices", options.matrices, "The Kohn-Sham and overlap matrices")
      .on_restart(OnRestart::fixed);
  schema
      .texts(
          "further_kohn_sham", options.further_kohn_sham,
          "More Kohn-Sham matrices of the same S, blocks and ensemble, each evaluated as the first one; "
          "S^-1/2 is made once for all. Summary and files of the n-th K of all end in _kn (tr_dk_hartree_k2, "
          "density_k2.h5)")
      .length(0, 1000)
      .existing_file()
      .example("[step_2-KS_SPIN_1-1_0.csr, step_3-KS_SPIN_1-1_0.csr]")
      .on_restart(OnRestart::fixed);
  schema.section("blocks", options.blocks, "How orbitals are grouped into blocks")
      .on_restart(OnRestart::fixed);
  schema.section("ensemble", options.ensemble, "Chemical potential or number of electrons")
      .on_restart(OnRestart::fixed);
  schema
      .quantity("temperature", options.temperature, "K",
                "Electronic temperature; 0: occupied below mu, empty above")
      .at_least(0)
      .at_most(1e6)
      .on_restart(OnRestart::fixed);
  schema.section("method", options.method, "The submatrix method");
  schema.section("check", options.check, "Error of the density matrix on random vectors")
      .on_restart(OnRestart::fixed);
  schema.section("spectrum", options.spectrum, "Density of states").on_restart(OnRestart::free);
  schema
      .text("machine", options.machine,
            "A machine of configs/machines, or its file: spmm: auto counts with its links (quintet machine "
            "--calibrate measures them)")
      .on_restart(OnRestart::free);
  schema.check(Expert{"machine"});
  describe_device(schema, options.device);
  schema.section("output", options.output, "Matrices to write").on_restart(OnRestart::free);
  schema.section("reference", options.reference, "Exact values to print beside ours")
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.further_kohn_sham.empty()) return std::nullopt;
    if (options.matrices.kohn_sham_down) return "further_kohn_sham is for closed shells: one K each";
    if (options.spectrum.vectors > 0)
      return "spectrum is that of one K: leave further_kohn_sham or spectrum.vectors out";
    return std::nullopt;
  });
}

}  // namespace quintet::submatrix
