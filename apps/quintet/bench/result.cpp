#include "apps/quintet/bench/result.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "apps/quintet/bench/quiet.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::bench {
namespace {

using tasks::Grain;

/// The better of each size.
void keep_best(std::vector<Grain>& grains, const std::vector<Grain>& round) {
  for (std::size_t i = 0; i < grains.size(); ++i)
    if (round[i].task_s < grains[i].task_s) grains[i] = round[i];
}

/// Collects what looking around has found so far.
class Doubt {
 public:
  explicit Doubt(bool force) : force_(force) {}
  void note(const std::string& objection) {
    if (objection.empty()) return;
    if (!force_)
      throw ResourceError(fmt::format(
          "The machine is busy: {}. Leave it alone while this runs; --force measures anyway, but not to "
          "be published",
          objection));
    if (text.empty()) text = "The machine was busy: " + objection;
  }
  std::string text;

 private:
  bool force_;
};

}  // namespace

double task_seconds(const Grain& grain) { return grain.task_s; }

Result search(const Comm& comm, int rounds, bool force, const std::function<std::vector<Grain>()>& first,
              const std::function<Grain(std::int64_t)>& measure) {
  Result result;
  Doubt doubt(force);
  (void)look_around(comm);  // wakes the cores
  doubt.note(objection(look_around(comm)));
  for (int round = 0; round < rounds; ++round) {
    const Watch watch(comm);
    std::vector<Grain> grains;
    if (round == 0) {
      result.grains = grains = first();
    } else {
      for (const auto& grain : result.grains) grains.push_back(measure(grain.size));
      keep_best(result.grains, grains);
    }
    doubt.note(objection(watch.look()));
    doubt.note(objection(look_around(comm)));
    tasks::set_efficiencies(grains);
    if (const auto metg = tasks::crossing(grains, half, task_seconds)) result.of_rounds.push_back(*metg);
  }
  tasks::set_efficiencies(result.grains);
  result.doubt = doubt.text;
  return result;
}

Result judge(const Comm& comm, bool force, const std::function<std::vector<std::vector<Grain>>()>& measure) {
  Result result;
  Doubt doubt(force);
  (void)look_around(comm);  // wakes the cores
  doubt.note(objection(look_around(comm)));
  const Watch watch(comm);
  result.rounds = measure();
  doubt.note(objection(watch.look()));
  doubt.note(objection(look_around(comm)));
  result.grains = result.rounds.at(0);
  for (auto& grains : result.rounds) {
    keep_best(result.grains, grains);
    tasks::set_efficiencies(grains);
    if (const auto metg = tasks::crossing(grains, half, task_seconds)) result.of_rounds.push_back(*metg);
  }
  tasks::set_efficiencies(result.grains);
  result.doubt = doubt.text;
  return result;
}

std::string metg_text(const Result& result) {
  const auto metg = tasks::crossing(result.grains, half, task_seconds);
  if (!metg)
    return fmt::format("METG(50 %): below {:.4g} us, the shortest that was measured",
                       1e6 * result.grains.front().task_s);
  if (result.of_rounds.empty()) return fmt::format("METG(50 %): {:.4g} us", 1e6 * *metg);
  const auto [low, high] = std::minmax_element(result.of_rounds.begin(), result.of_rounds.end());
  return fmt::format("METG(50 %): {:.4g} us (rounds: {:.4g} to {:.4g} us)", 1e6 * *metg, 1e6 * *low,
                     1e6 * *high);
}

void add_to(Tree& tree, const Result& result) {
  if (const auto metg = tasks::crossing(result.grains, half, task_seconds)) {
    tree.set("metg_us", Tree::number(1e6 * *metg));
    if (!result.of_rounds.empty()) {
      const auto [low, high] = std::minmax_element(result.of_rounds.begin(), result.of_rounds.end());
      tree.set("metg_least_us", Tree::number(1e6 * *low));
      tree.set("metg_greatest_us", Tree::number(1e6 * *high));
    }
  }
  tree.set("publishable", Tree::boolean(result.doubt.empty()));
  tree.set("doubt", Tree::text(result.doubt));
  Tree task_us = Tree::list(), efficiency = Tree::list();
  for (const auto& grain : result.grains) {
    task_us.append(Tree::number(1e6 * grain.task_s));
    efficiency.append(Tree::number(grain.efficiency));
  }
  tree.set("task_us", std::move(task_us));
  tree.set("efficiency", std::move(efficiency));
}

void write_metg(const std::string& folder, const Tree& tree) {
  std::filesystem::create_directories(folder);
  write_text_file(folder + "/metg.json", to_json(tree));
}

}  // namespace quintet::bench
