#include <algorithm>

#include "apps/submatrix/compare/compare.hpp"
#include "apps/submatrix/compare/with_petsc.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"

namespace quintet::submatrix {

std::vector<ComparedKernel> compared_kernels() {
  std::vector<ComparedKernel> kernels;
  for (const auto& row : electronic::submatrix_kernels) {
    if (row.value == electronic::SubmatrixKernel::automatic) continue;
    kernels.push_back({std::string(row.name), row.value, false});
    if (!row.has_dense) kernels.push_back({std::string(row.name) + "_fp32", row.value, true});
  }
  return kernels;
}

void describe(Schema& schema, CompareOptions& options) {
  schema.section("matrices", options.matrices, "The Kohn-Sham and overlap matrices");
  schema.section("blocks", options.blocks, "How orbitals are grouped into blocks");
  schema.section("ensemble", options.ensemble, "Chemical potential or number of electrons");
  schema
      .quantity("temperature", options.temperature, "K",
                "Electronic temperature; the Newton-Schulz methods are left out unless it is 0")
      .at_least(0)
      .at_most(1e6);
  schema.numbers("thresholds", options.thresholds, "Filter thresholds of the sparse methods (hartree)")
      .length(1, 50)
      .above(0)
      .at_most(1);
  const auto names = names_of(compared_kernels());
  schema.texts("kernels", options.kernels, "Kernels of the submatrix method: " + name_list(names));
  schema
      .quantity("least_gap", options.least_gap, "hartree",
                "A method is refused if the levels around mu lie closer and the temperature is 0, as by "
                "method.least_gap of evaluate")
      .at_least(0);
  schema.flag("global_newton_schulz", options.global_newton_schulz,
              "Also iterate on the whole sparse matrix, with filtered products");
  schema.flag("petsc_newton_schulz", options.petsc_newton_schulz,
              "The same by PETSc's sparse products, which drop elements, not blocks; needs a submatrix built "
              "with PETSc");
  schema
      .integer("dense_limit", options.dense_limit,
               "Diagonalise densely (on the first rank) up to so many orbitals; 0: never")
      .at_least(0)
      .at_most(100000);
  schema.section("reference", options.reference, "Exact values, for systems above dense_limit")
      .on_restart(OnRestart::free);
  schema.check([&options, names]() -> std::optional<std::string> {
    for (const auto& name : options.kernels)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return "kernels: '" + name + "' is none of " + name_list(names) + did_you_mean(name, names);
    if (options.petsc_newton_schulz && !has_petsc())
      return std::string(
          "petsc_newton_schulz: this submatrix was built without PETSc; configure with "
          "-DQUINTET_WITH_PETSC=ON, or leave it false");
    return std::nullopt;
  });
}

}  // namespace quintet::submatrix
