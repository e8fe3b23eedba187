#include "apps/submatrix/evaluate/output.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "io/config/table.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/files/matrix_files.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

/// What is said of a matrix in its file.
struct About {
  std::string_view name;
  const char *units, *what;
  bool orthogonal;          ///< of the basis S^-1/2
  bool of_density = false;  ///< has more blocks than are written
};
constexpr std::array<About, 7> abouts{
    {{"density", "1", "Density matrix D of one spin; CP2K's closed-shell P is 2 D", false, true},
     {"energy_weighted", "hartree", "Energy-weighted density matrix of one spin (D K D at zero temperature)",
      false, true},
     {"orthogonal", "hartree", "S^-1/2 K S^-1/2", true},
     {"inverse_sqrt", "1", "S^-1/2", true},
     {"orthogonal_density", "1", "S^1/2 D S^1/2 on the pattern of the submatrices", true},
     {"kohn_sham", "hartree", "Kohn-Sham matrix", false},
     {"overlap", "1", "Overlap matrix", false}}};

/// What the file says of a matrix and of its blocks.
std::string description_of(const About& about, DensityPattern pattern, double rest) {
  std::string text = about.what;
  if (about.of_density)
    text += pattern == DensityPattern::whole
                ? "; on all blocks that were computed"
                : "; on the blocks of K and S alone: the whole D, which has others too, obeys D S D = D at "
                  "zero temperature";
  return rest > 0 ? fmt::format("{}; ||rest||_F elsewhere: {:.3e}", text, rest) : text;
}

/// The same for the log.
std::string blocks_text(const About& about, DensityPattern pattern, double rest) {
  if (!about.of_density) return {};
  const std::string norm = rest > 0 ? fmt::format(", norm {:.2e}", rest) : std::string();
  return pattern == DensityPattern::whole
             ? fmt::format(" (all blocks that were computed; what is left out elsewhere{})",
                           norm.empty() ? ": nothing that is known" : norm)
             : fmt::format(" (the blocks of K and S; what it has elsewhere is left out{})", norm);
}

bool wants(const OutputOptions& options, std::string_view name) {
  return std::find(options.matrices.begin(), options.matrices.end(), name) != options.matrices.end();
}

}  // namespace

std::vector<std::string> output_names() { return names_of(abouts); }

bool wants_orthogonal(const OutputOptions& options) {
  return std::any_of(abouts.begin(), abouts.end(),
                     [&](const About& about) { return about.orthogonal && wants(options, about.name); });
}

std::vector<std::string> output_files(const OutputOptions& options, int n_matrices) {
  std::vector<std::string> suffixes{"", "_down"};
  for (int m = 2; m <= n_matrices; ++m) suffixes.push_back(fmt::format("_k{}", m));
  std::vector<std::string> files;
  for (const auto& name : options.matrices)
    for (const auto& format : options.formats)
      for (const auto& suffix : suffixes)
        files.push_back(name + suffix + row_named(matrix_formats(), format).ending);
  return files;
}

void write_outputs(Context& context, const OutputOptions& options, const std::string& suffix,
                   double electrons, const std::vector<Output>& outputs) {
  if (options.matrices.empty()) return;
  const auto phase = context.phase("write");
  for (const auto& [name, make, rest] : outputs) {
    if (!wants(options, name)) continue;
    BlockMatrix matrix = make();
    if (options.threshold > 0) filter(matrix, options.threshold);
    const About& about = row_named(abouts, name);
    const MatrixLabels labels{about.units, description_of(about, options.pattern, rest), context.provenance(),
                              electrons};
    for (const auto& format_name : options.formats) {
      const auto& format = row_named(matrix_formats(), format_name);
      const auto path = context.path(name + suffix + format.ending);
      write_matrix(matrix, path, format.value, labels);
      log::info("Wrote {}{}", path, blocks_text(about, options.pattern, rest));
    }
  }
}

}  // namespace quintet::submatrix
