#include "apps/application/cli/input_kind.hpp"

#include <algorithm>
#include <string_view>

#include "io/config/tree.hpp"

namespace quintet {

namespace {

struct InputKind {
  std::string_view command, keys;  ///< keys at the top, divided by spaces
};
// A program knows the descriptions of its own commands alone; tests/cli/input_kinds.py compares this
// with those of all.
constexpr InputKind input_kinds[] = {
    {"podlstm hindcast",
     "modes fields pod points window origins irregular_steps methods references "
     "cyclostationary analogues spread_half_width networks mixture verification "
     "block draws against leads indices regions maps members seed "
     "checkpoint_interval checkpoint_every checkpoint_keep"},
    {"quintet campaign", "slots memory launch rounds stages"},
    {"dpmd run",
     "system potential time integrator velocities frozen domain thermo_interval "
     "trajectory observables deviation selection observe checkpoint_interval "
     "checkpoint_every checkpoint_keep limits reference seed device"},
    {"dpmd train",
     "model data loss learning_rate optimiser parallel offload device steps epochs "
     "weight_average early_stopping report_interval checkpoint_interval "
     "checkpoint_every checkpoint_keep divergence seed output"},
    {"dpmd equation_of_state",
     "system potential domain range points force_tolerance relax relax_steps "
     "reference"},
    {"dpmd elastic_constants",
     "system potential domain strain relax relax_cell force_tolerance "
     "stress_tolerance relax_steps"},
    {"dpmd learn",
     "data iterations models train explore selection label enough_accurate "
     "final_training at_once launcher seed"},
    {"vlasov run",
     "constants basis grid species field flux keep_positive collisions time parallel "
     "device output observe history_interval checkpoint_interval checkpoint_every "
     "checkpoint_keep theory reference limits"},
    {"submatrix evaluate",
     "matrices further_kohn_sham blocks ensemble temperature method check spectrum "
     "machine device output reference"},
    {"submatrix compare",
     "matrices blocks ensemble temperature thresholds kernels least_gap "
     "global_newton_schulz petsc_newton_schulz dense_limit reference"},
    {"podlstm append", "modes fields"},
    {"podlstm fit", "fields coefficients pod n_fit fit_until"},
    {"podlstm train",
     "modes points window split forecast references parallel offload block device "
     "checkpoint_interval checkpoint_every checkpoint_keep"},
    {"podlstm search",
     "modes points window split forecast space search judged retrain beside "
     "leaderboard block references"},
    {"podlstm forecast", "modes model experts lead from quantise"},
    {"podlstm evaluate", "modes model from until points block references regions fields quantise"},
    {"podlstm quantise", "model quantise"},
    {"meshfreeflow simulate",
     "rayleigh prandtl aspect_ratio walls grid start seeds time solver device output "
     "statistics observe history_interval checkpoint_interval checkpoint_every "
     "checkpoint_keep limits control"},
    {"meshfreeflow flow",
     "parameters equations diagnosed box start noise seeds time output means maxima "
     "spectra picture history_interval checkpoint_interval checkpoint_every "
     "checkpoint_keep limits"},
    {"meshfreeflow control",
     "environment flow floor episode starts training evaluation policy output seed "
     "checkpoint_interval checkpoint_every checkpoint_keep"},
    {"meshfreeflow train",
     "data model equations loss optimiser learning_rate validation parallel offload "
     "tile memory precision steps batch seed start output device checkpoint_interval "
     "checkpoint_every checkpoint_keep"},
    {"meshfreeflow superresolve",
     "model experts input low_resolution output error_bars encoder residuals "
     "outside_training max_memory precision precision_bound device"},
    {"meshfreeflow evaluate",
     "cases models low_resolution flow spectra_at tricubic residuals picture "
     "quantise error_bars outside_training check max_memory"},
};

bool has_word(std::string_view words, std::string_view word) {
  for (auto at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

double share(const Tree& document, std::string_view keys) {
  if (!document.is_map() || document.entries().empty()) return 0;
  const auto known = std::count_if(document.entries().begin(), document.entries().end(),
                                   [&](const auto& entry) { return has_word(keys, entry.first); });
  return static_cast<double>(known) / document.entries().size();
}

}  // namespace

std::vector<std::string> commands_that_read(const Tree& document) {
  constexpr double least = 0.66;
  double best = least;
  std::vector<std::string> commands;
  for (const auto& kind : input_kinds) {
    const double mine = share(document, kind.keys);
    if (mine < best) continue;
    if (mine > best) commands.clear();
    best = mine;
    commands.emplace_back(kind.command);
  }
  return commands;
}

double known_share(const Tree& document, const std::string& command) {
  const auto* const kind = std::find_if(std::begin(input_kinds), std::end(input_kinds),
                                        [&](const InputKind& row) { return row.command == command; });
  return kind == std::end(input_kinds) ? 0 : share(document, kind->keys);
}

}  // namespace quintet
