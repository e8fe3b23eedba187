#include "apps/application/report/key_words.hpp"

#include <algorithm>

namespace quintet {
namespace {

struct Ending {
  const char *key, *unit;
};

/// Compound units before those that they end with.
constexpr Ending endings[] = {{"_ev_per_angstrom", "eV/Å"},
                              {"_mev_per_atom", "meV/atom"},
                              {"_ev_per_atom", "eV/atom"},
                              {"_us_per_atom_step", "µs/(atom·step)"},
                              {"_ns_per_day", "ns/day"},
                              {"_g_per_cm3", "g/cm³"},
                              {"_mb_per_rank", "MB/rank"},
                              {"_bytes_per_rank", "bytes/rank"},
                              {"_cpu_s", "s (CPU)"},
                              {"_hartree", "hartree"},
                              {"_angstrom3", "Å³"},
                              {"_angstrom", "Å"},
                              {"_mev", "meV"},
                              {"_ev", "eV"},
                              {"_gpa", "GPa"},
                              {"_bar", "bar"},
                              {"_amu", "amu"},
                              {"_kb", "k_B"},
                              {"_k", "K"},
                              {"_ps", "ps"},
                              {"_fs", "fs"},
                              {"_thz", "THz"}};

}  // namespace

KeyWords words_of_key(const std::string& key) {
  KeyWords result{key, ""};
  const auto ends_with = [&](const std::string& ending) {
    return key.size() > ending.size() && key.ends_with(ending);
  };
  for (const auto& [ending, unit] : endings)
    if (result.unit.empty() && ends_with(ending))
      result = {key.substr(0, key.size() - std::string(ending).size()), unit};
  if (result.unit.empty() && ends_with("_per_s"))
    result.name += "econd";
  else if (result.unit.empty() && ends_with("_s"))
    result = {key.substr(0, key.size() - 2), "s"};
  std::replace(result.name.begin(), result.name.end(), '_', ' ');
  return result;
}

}  // namespace quintet
