#include "surrogates/potential/exported/library/compiled_deepmd_model.hpp"

#include <algorithm>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/potential/exported/library/numbers.hpp"

namespace quintet::potential {

CompiledDeepmdModel::CompiledDeepmdModel(CompiledPackage package)
    : package_(std::move(package)), code_(package_.path) {
  for (const char* wanted : {"energy", "energy_redu", "energy_derv_r", "energy_derv_c_redu"})
    QUINTET_CHECK(output(wanted) >= 0, "{}: gives no {}, so that there are no energies or forces",
                  package_.path, wanted);
}

/// Place of an output; -1: not given.
int CompiledDeepmdModel::output(const char* name) const {
  const auto found = std::find(package_.outputs.begin(), package_.outputs.end(), name);
  return found == package_.outputs.end() ? -1 : static_cast<int>(found - package_.outputs.begin());
}

/// Rows without neighbours of excluded types: the code leaves that to who calls it.
std::vector<std::int64_t> CompiledDeepmdModel::seen_neighbours(const ExportedSystem& system) const {
  const std::size_t n_types = package_.facts.type_names.size();
  std::vector<std::int64_t> neighbour = system.neighbour;
  for (std::int64_t i = 0; i < system.n_rows; ++i)
    for (int c = 0; c < system.width; ++c) {
      std::int64_t& j = neighbour[i * system.width + c];
      if (j >= 0 && package_.reach[system.type[i] * n_types + system.type[j]] <= 0) j = -1;
    }
  return neighbour;
}

void CompiledDeepmdModel::evaluate(const ExportedSystem& system, bool /*with_virials*/,
                                   ExportedResult& result) {
  const std::int64_t n = system.n_centres, all = system.n_atoms();
  const auto neighbour = seen_neighbours(system);
  std::vector<std::int64_t> owner(all);  // read by no local model, but an input
  for (std::int64_t a = 0; a < all; ++a) owner[a] = a % n;
  std::vector<at::Tensor> inputs{seen(system.position, {1, all, 3}), seen(system.type, {1, all}),
                                 seen(neighbour, {1, n, system.width}), seen(owner, {1, all})};
  const std::int64_t numbers = std::ssize(package_.frame_parameters);
  if (numbers > 0) inputs.push_back(seen(package_.frame_parameters, {1, numbers}));
  const auto outputs = code_.run(inputs);
  const auto take = [&](const char* name, std::int64_t count, double* to) {
    const std::size_t place = output(name);  // beyond all where the file does not name it
    QUINTET_CHECK(place < outputs.size() && outputs[place].numel() == count,
                  "{}: {} is not where output_keys of its metadata say; export the model again",
                  package_.path, name);
    take_numbers(outputs[place], count, to);
  };
  result.resize(n, all, false);
  take("energy_redu", 1, &result.energy);
  take("energy_derv_c_redu", 9, result.virial.data());
  take("energy", n, result.atom_energy.data());
  take("energy_derv_r", 3 * all, result.force.data());
}

}  // namespace quintet::potential
