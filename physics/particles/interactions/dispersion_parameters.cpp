#include "physics/particles/interactions/dispersion_parameters.hpp"

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr const char* grimme = "Grimme, Ehrlich, Goerigk, J. Comput. Chem. 32, 1456 (2011)";
constexpr const char* goerigk = "Goerigk, Grimme, Phys. Chem. Chem. Phys. 13, 6670 (2011)";
constexpr const char* ehlert = "Ehlert et al., J. Chem. Phys. 154, 061101 (2021)";

/// Damping that was fitted to a density functional.
struct FunctionalDamping {
  const char* name;
  double s6, s8, a1, a2;  ///< a2 (bohr)
  const char* source;
};

constexpr FunctionalDamping rows[] = {
    {"pbe", 1, 0.7875, 0.4289, 4.4407, grimme},
    {"revpbe", 1, 2.3550, 0.5238, 3.5016, grimme},
    {"blyp", 1, 2.6996, 0.4298, 4.2359, grimme},
    {"bp86", 1, 3.2822, 0.3946, 4.8516, grimme},
    {"b97d", 1, 2.2609, 0.5545, 3.2297, grimme},
    {"tpss", 1, 1.9435, 0.4535, 4.4752, grimme},
    {"tpss0", 1, 1.2576, 0.3768, 4.5865, grimme},
    {"pbe0", 1, 1.2177, 0.4145, 4.8593, grimme},
    {"b3lyp", 1, 1.9889, 0.3981, 4.4211, grimme},
    {"hf", 1, 0.9171, 0.3385, 2.8830, grimme},
    {"pbesol", 1, 2.9491, 0.4466, 6.1742, goerigk},
    {"revpbe0", 1, 1.7588, 0.4679, 3.7619, goerigk},
    {"olyp", 1, 2.6205, 0.5299, 2.8065, goerigk},
    {"tpssh", 1, 2.2382, 0.4529, 4.6550, goerigk},
    {"pw6b95", 1, 0.7257, 0.2076, 6.3750, goerigk},
    {"camb3lyp", 1, 2.0674, 0.3708, 5.4743, goerigk},
    {"b2plyp", 0.64, 0.9147, 0.3065, 5.0570, goerigk},
    {"hse06", 1, 2.310, 0.383, 5.685, "Moellmann, Grimme, J. Phys. Chem. C 118, 7615 (2014)"},
    {"scan", 1, 0, 0.538, 5.42, "Brandenburg et al., Phys. Rev. B 94, 115144 (2016)"},
    {"r2scan", 1, 0.78981345, 0.49484001, 5.73083694, ehlert},
};

}  // namespace

std::vector<std::string> functional_names() {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

DispersionDamping damping_of(const std::string& functional, double s9) {
  for (const auto& row : rows)
    if (row.name == functional) return {row.s6, row.s8, s9, row.a1, row.a2};
  const auto names = functional_names();
  throw InputError(fmt::format(
      "dispersion of the functional '{}' is not known here, those of {} are{}; give s8, a1 and a2 of others",
      functional, name_list(names), did_you_mean(functional, names)));
}

}  // namespace quintet
