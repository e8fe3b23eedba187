#include "apps/podlstm/search/leaderboard.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::podlstm {

namespace {

constexpr std::chrono::seconds every{60};

/// Where a value stands among the references, ", better than lim (0.8123)"; nothing where there are none.
std::string standing(double objective, const std::vector<ReferenceScore>& references) {
  for (const auto& reference : references)  // best first
    if (objective > reference.r2)
      return fmt::format(", better than {} ({:.4f})", reference.name, reference.r2);
  const bool has_any = std::any_of(references.begin(), references.end(),
                                   [](const auto& reference) { return !std::isnan(reference.r2); });
  return has_any ? ", below all references" : "";
}

}  // namespace

Leaderboard::Leaderboard(Context& context, const Candidates& candidates,
                         const std::vector<ReferenceScore>& references, int rows)
    : candidates_(candidates),
      references_(references),
      rows_(rows),
      speaks_(context.comm().is_root()),
      leaderboard_path_(context.path("leaderboard.csv")),
      trials_path_(context.path("trials.csv")),
      written_(std::chrono::steady_clock::now()) {}

void Leaderboard::look(const search::Search& search) {
  if (!speaks_) return;
  const auto& status = search.status();
  if (status.best >= 0 && status.best != best_) {
    best_ = status.best;
    const auto& best = search.records()[best_];
    log::info("Trial {}: best so far, R2 {:.4f}{}: {}", best_, status.best_objective,
              standing(status.best_objective, references_), candidates_.text(best.trial.genes));
  }
  if (std::chrono::steady_clock::now() - written_ < every) return;
  tell(search);
  write(search);
}

void Leaderboard::finish(const search::Search& search) {
  if (!speaks_) return;
  tell(search);
  write(search);
}

void Leaderboard::tell(const search::Search& search) const {
  const auto& status = search.status();
  log::info("{} in {:.0f} s ({:.0f} an hour), {} by repetition saved, {} failed; {} busy {:.1f} %",
            counted(status.evaluations, "trial"), status.wall_s,
            status.wall_s > 0 ? 3600 * static_cast<double>(status.evaluations) / status.wall_s : 0.0,
            counted(status.repeated, "repeated one"), status.failed, counted(status.workers, "worker"),
            100 * status.utilisation);
  for (const auto& [trial, outcome] : search.leaderboard(std::min<std::size_t>(rows_, 5)))
    log::info("  {:.4f}  trial {:<6} {}", outcome.objective, trial.id, candidates_.text(trial.genes));
}

void Leaderboard::write(const search::Search& search) {
  std::string csv = "rank,r2_validation,trial,parameters,epochs,cpu_s,network\n";
  int rank = 0;
  for (const auto& [trial, outcome] : search.leaderboard(rows_))
    csv += fmt::format("{},{:.17g},{},{:.0f},{},{:.17g},\"{}\"\n", ++rank, outcome.objective, trial.id,
                       outcome.facts.at(Candidates::parameters), outcome.curve.size(), outcome.cpu_s,
                       candidates_.text(trial.genes));
  for (const auto& reference : references_)
    csv += fmt::format(",{},,,,,{}\n", std::isnan(reference.r2) ? "" : fmt::format("{:.17g}", reference.r2),
                       reference.name);
  write_text_file(leaderboard_path_, csv);
  write_trials_csv(trials_path_, candidates_.space(), Candidates::fact_names(), search.records());
  written_ = std::chrono::steady_clock::now();
}

}  // namespace quintet::podlstm
