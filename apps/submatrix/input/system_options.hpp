#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema.hpp"
#include "physics/electronic/files/matrix_files.hpp"

/// Options of the system in a YAML file: matrices, blocks, electrons. Hartree inside.
namespace quintet::submatrix {

/// Unit of the numbers of a Kohn-Sham matrix.
enum class EnergyUnit { from_file, hartree, electronvolt, rydberg };

/// Whether K and S are compared as matrices of one basis in one order.
enum class Order { checked, trusted };

/// Section `matrices`: the files.
struct MatricesOptions {
  std::string kohn_sham;
  std::optional<std::string> kohn_sham_down;  ///< of an open shell
  std::optional<std::string> overlap;
  electronic::MatrixFormat format = electronic::MatrixFormat::automatic;
  electronic::Triangle triangle = electronic::Triangle::both;
  EnergyUnit units = EnergyUnit::from_file;
  std::optional<std::int64_t> n_rows;
  std::vector<std::int64_t> repeat;  ///< cells along x, y, z; empty: the files hold no real-space blocks
  double asymmetry = 1e-8;           ///< largest |M_ij - M_ji| (units of the file)
  Order order = Order::checked;
};
void describe(Schema& schema, MatricesOptions& options);

enum class BlocksBy { automatic, size, sizes, file, xyz, graph };

/// Section `blocks`: how orbitals are grouped.
struct BlocksOptions {
  BlocksBy by = BlocksBy::automatic;
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> sizes;  ///< repeated until all rows are taken
  std::optional<std::string> file, xyz;
  std::vector<std::pair<std::string, FormulaText>> functions;  ///< of each element, as written
  std::optional<std::int64_t> rows_per_block;                  ///< of parts of the graph made of these blocks
  std::optional<std::int64_t> atoms_per_block;

  [[nodiscard]] bool says_nothing() const {
    return !size && sizes.empty() && !file && !xyz && !rows_per_block;
  }
};
void describe(Schema& schema, BlocksOptions& options);

/// Section `ensemble`: what is fixed.
struct EnsembleOptions {
  std::optional<double> mu;         ///< (hartree)
  std::optional<double> electrons;  ///< two an occupied orbital
  double unpaired = 0;              ///< electrons of spin up less those of spin down
  bool common_mu = false;           ///< both spins of an open shell share electrons and mu
  double tolerance = 1e-8;          ///< of the number of electrons
};
void describe(Schema& schema, EnsembleOptions& options);

/// Section `reference`: exact values to print beside ours.
struct ReferenceOptions {
  std::optional<double> energy;  ///< Tr(DK) (hartree)
  std::optional<double> homo, lumo;
  std::optional<std::string> file;  ///< YAML: a list `boxes` of them, found by `repeat`
  std::string label = "reference";
};
void describe(Schema& schema, ReferenceOptions& options);

/// k_B T in hartree of a temperature in K (CODATA 2018).
[[nodiscard]] constexpr double thermal_energy(double kelvin) { return kelvin * 3.1668115634556e-6; }
inline constexpr double ev_per_hartree = 27.211386245988;

}  // namespace quintet::submatrix
