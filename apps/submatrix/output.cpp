#include "apps/submatrix/output.hpp"

#include <algorithm>

#include "io/log/log.hpp"
#include "physics/electronic/energy_weighted_density.hpp"
#include "physics/electronic/matrix_files.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

struct Format {
  MatrixFormat format;
  const char* ending;
};

Format format_of(const std::string& name) {
  if (name == "cp2k_text") return {MatrixFormat::cp2k_text, ".txt"};
  if (name == "cp2k_binary") return {MatrixFormat::cp2k_binary, ".csr"};
  if (name == "elsi_csc") return {MatrixFormat::elsi_csc, ".csc"};
  if (name == "matrix_market") return {MatrixFormat::matrix_market, ".mtx"};
  if (name == "ntpoly_binary") return {MatrixFormat::ntpoly_binary, ".ntpoly"};
  return {MatrixFormat::quintet_hdf5, ".h5"};
}

}  // namespace

const std::vector<std::string>& output_names() {
  static const std::vector<std::string> names{"density",      "energy_weighted",    "orthogonal",
                                              "inverse_sqrt", "orthogonal_density", "kohn_sham",
                                              "overlap"};
  return names;
}

const std::vector<std::string>& output_formats() {
  static const std::vector<std::string> names{"quintet_hdf5", "cp2k_text",     "cp2k_binary",
                                              "elsi_csc",     "matrix_market", "ntpoly_binary"};
  return names;
}

void write_outputs(Context& context, const OutputOptions& options, const std::string& suffix,
                   double threshold, const System& system, const Orthogonalised& basis,
                   const SubmatrixResult& sign, const DensityResult& density) {
  if (options.matrices.empty()) return;
  const auto phase = context.phase("write");
  const auto write = [&](const std::string& name, BlockMatrix matrix, const char* units, const char* what) {
    if (options.threshold > 0) filter(matrix, options.threshold);
    MatrixLabels labels{units, what, context.provenance(), 2 * density.n_pairs};
    for (const auto& format_name : options.formats) {
      const auto [format, ending] = format_of(format_name);
      const auto path = context.path(name + suffix + ending);
      write_matrix(matrix, path, format, labels);
      log::info("Wrote {}", path);
    }
  };
  const auto wanted = [&](const char* name) {
    return std::find(options.matrices.begin(), options.matrices.end(), name) != options.matrices.end();
  };
  if (wanted("density")) write("density", density.d, "1", "Density matrix D of one spin");
  if (wanted("energy_weighted"))
    write("energy_weighted", energy_weighted_density(sign, basis, system.k, threshold), "hartree",
          "Energy-weighted density matrix (D K D at zero temperature) of one spin");
  if (wanted("orthogonal")) write("orthogonal", basis.a, "hartree", "S^-1/2 K S^-1/2");
  if (wanted("inverse_sqrt")) write("inverse_sqrt", basis.inverse_sqrt, "1", "S^-1/2");
  if (wanted("orthogonal_density"))
    write("orthogonal_density", sign.p, "1", "S^1/2 D S^1/2 on the pattern of the submatrices");
  if (wanted("kohn_sham")) write("kohn_sham", system.k, "hartree", "Kohn-Sham matrix");
  if (wanted("overlap")) write("overlap", system.s, "1", "Overlap matrix");
}

}  // namespace quintet::submatrix
