#include "apps/podlstm/search/judged.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/setup/search_input.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/sequence/network/architecture.hpp"

namespace quintet::podlstm {

namespace {

constexpr const char* judged_file = "judged.h5";

std::string group_of(const JudgedCandidate& one) { return fmt::format("trial_{}", one.trial); }

/// What a judgement hangs on.
std::string judgement_identity(const SearchInput& input, const Candidates& candidates,
                               const sequence::TrialInput& of) {
  return fmt::format(
      "{}; {} from seed {}, {}, {}, blocks of {}, {}", candidates.problem().identity,
      counted(input.retrain.members, "network"), input.retrain.seed, counted(input.retrain.epochs, "epoch"),
      counted(input.candidate.forecast.origins, "origin"), of.block, fmt::join(of.metric.gram, " "));
}

/// Judgements of an earlier run of this search; those of other options are not taken.
void read_judged(Context& context, const std::string& identity, std::vector<JudgedCandidate>& judged) {
  const auto path = context.path(judged_file);
  if (!context.restart_file() || !context.comm().broadcast(std::filesystem::exists(path))) return;
  try {
    const auto file = hdf5::File::open(context.comm(), path);
    if (file.root().text_attribute("identity") != identity) return;
    for (auto& one : judged)
      if (file.root().has(group_of(one)))
        one.after = *sequence::read_trial(file.root().open_group(group_of(one)));
  } catch (const InputError& error) {
    log::warning("{}: {}; candidates are judged anew", path, error.what());
  }
}

bool is_judged(const JudgedCandidate& one) { return one.after.networks > 0; }

void write_judged(Context& context, const std::string& identity, const std::vector<JudgedCandidate>& judged) {
  const auto path = context.path(judged_file), part = path + ".part";
  {
    auto file = hdf5::File::create(context.comm(), part);
    hdf5::write_header(file.root(), "quintet.search_judgements", 1, context.provenance());
    file.root().set_attribute("identity", identity);
    for (const auto& one : judged)
      if (is_judged(one)) {
        auto group = file.root().group(group_of(one));
        sequence::write_trial(group, one.after);
      }
    file.close();
  }
  on_root(context.comm(), [&] { std::filesystem::rename(part, path); });
}

/// Root mean square error over all windows that were judged, of the base or with networks.
double rmse_after(const sequence::NetworksTrial& trial, double sequence::OriginScore::*rmse) {
  double square = 0, windows = 0;
  for (const auto& origin : trial.origins) {
    square += origin.windows * origin.*rmse * (origin.*rmse);
    windows += origin.windows;
  }
  return std::sqrt(square / windows);  // without windows: not known
}

std::string number_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }

}  // namespace

std::vector<JudgedCandidate> best_candidates(const Comm& comm, const search::Search& search, int most,
                                             int n_genes) {
  std::vector<JudgedCandidate> best;
  if (comm.is_root())
    for (const auto& [trial, outcome] : search.leaderboard(most))
      best.push_back({trial.id, trial.genes, outcome.objective, outcome.cpu_s, {}});
  best.resize(comm.broadcast(best.size()));
  for (auto& one : best) {
    one.genes.resize(n_genes);
    comm.broadcast(std::span<int>(one.genes));
    one.trial = comm.broadcast(one.trial);
    one.r2 = comm.broadcast(one.r2);
    one.cpu_s = comm.broadcast(one.cpu_s);
  }
  return best;
}

sequence::ForecastOptions options_for(const SearchInput& input, const Candidates& candidates,
                                      const search::Genes& genes) {
  auto options = input.candidate.forecast;
  static_cast<sequence::ArchitectureOptions&>(options.network) =
      sequence::options_of(candidates.network(genes));
  options.training = candidates.training(genes);
  if (input.retrain.epochs > 0) options.training.epochs = input.retrain.epochs;
  options.members = input.retrain.members;
  options.seed = input.retrain.seed;
  return options;
}

bool judge_candidates(Context& context, const SearchInput& input, const Candidates& candidates,
                      const sequence::TrialInput& of, std::vector<JudgedCandidate>& judged) {
  const auto identity = judgement_identity(input, candidates, of);
  read_judged(context, identity, judged);
  double seconds = 0;
  for (const auto& one : judged) {
    constexpr int networks = 2;  // of a rolling origin
    if (!is_judged(one))
      seconds += one.cpu_s * networks * static_cast<double>(input.candidate.forecast.origins);
  }
  const auto n_known = std::count_if(judged.begin(), judged.end(), is_judged);
  log::info(
      "The {} best candidates are judged beside their base after rolling origins{}; by their trials at "
      "most about {:.2g} s of computing",
      judged.size(), n_known > 0 ? fmt::format(", {} of them already", n_known) : "", seconds);
  for (auto& one : judged) {
    if (is_judged(one)) continue;
    auto trial = judge_networks(context, of, options_for(input, candidates, one.genes), input.references);
    if (!trial) return false;
    one.after = std::move(*trial);
    const auto& gain = one.after.gain;
    log::info("  trial {}: gain over the base {}", one.trial,
              std::isnan(gain.error) ? "not known" : fmt::format("{:+.3g} ± {:.2g}", gain.value, gain.error));
    write_judged(context, identity, judged);
  }
  return true;
}

std::size_t most_gained(const std::vector<JudgedCandidate>& judged) {
  const auto gain = [](const JudgedCandidate& one) {
    return std::isnan(one.after.gain.error) ? -std::numeric_limits<double>::infinity() : one.after.gain.value;
  };
  const auto found = std::max_element(judged.begin(), judged.end(),
                                      [&](const auto& a, const auto& b) { return gain(a) < gain(b); });
  return found - judged.begin();
}

void report_judged(Context& context, const Candidates& candidates, const std::vector<JudgedCandidate>& judged,
                   const std::string& base, const std::string& unit) {
  auto order = judged;
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.after.gain.value > b.after.gain.value ||
           (!std::isnan(a.after.gain.value) && std::isnan(b.after.gain.value));
  });
  const int among = judged.size();
  const double of_base = rmse_after(order.front().after, &sequence::OriginScore::base_rmse);
  std::vector<std::vector<std::string>> rows;
  std::string csv = "forecast,trial,r2_validation,rmse,gain,gain_error,earned\n";
  bool base_is_told = false;
  const auto tell_base = [&] {
    rows.push_back({base + ", the base", "", "", number_text(of_base), "", ""});
    csv += fmt::format("{},,,{:.17g},0,,\n", base, of_base);
    base_is_told = true;
  };
  for (const auto& one : order) {
    const auto& gain = one.after.gain;
    if (!base_is_told && !(gain.value > 0)) tell_base();
    const double rmse = rmse_after(one.after, &sequence::OriginScore::networks_rmse);
    const bool earned = one.after.earned(among);
    rows.push_back({candidates.text(one.genes), fmt::format("{}", one.trial), fmt::format("{:.4f}", one.r2),
                    number_text(rmse),
                    std::isnan(gain.error) ? "-" : fmt::format("{:+.4f} ± {:.4f}", gain.value, gain.error),
                    earned ? "yes" : "no"});
    csv += fmt::format("\"{}\",{},{:.17g},{:.17g},{:.17g},{:.17g},{}\n", candidates.text(one.genes),
                       one.trial, one.r2, rmse, gain.value, gain.error, earned ? "yes" : "no");
  }
  if (!base_is_told) tell_base();
  context.report().section("The best after rolling origins");
  context.report().table(
      {"forecast", "trial", "R2 (paper), validation", fmt::format("RMSE ({})", unit), "gain over the base",
       "earns its place"},
      rows,
      fmt::format("Base and networks are trained anew before each block of later times and judged on it. A "
                  "place is earned by a gain above {:.2f} standard errors: the best of {} finds two by luck "
                  "more often than one does. These times lie within training and validation, by which the "
                  "candidates were chosen: later ones are for `podlstm evaluate`.",
                  sequence::NetworksTrial::margin(among), among));
  on_root(context.comm(), [&] { write_text_file(context.path("judged.csv"), csv); });
}

}  // namespace quintet::podlstm
