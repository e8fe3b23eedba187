#include "apps/submatrix/evaluate/progress.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/application/life/context.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::submatrix {

namespace {

constexpr const char* group_name = "submatrix_evaluations";

/// Call visit(name, member) for each number of an evaluation.
template <class E, class Visit>
void for_each_number(E& e, const Visit& visit) {
  visit("threshold", e.threshold);
  visit("tr_dk", e.tr_dk);
  visit("mu", e.mu);
  visit("unpaired", e.unpaired);
  visit("n_pairs", e.n_pairs);
  visit("n_pairs_of_d", e.n_pairs_of_d);
  visit("n_pairs_put", e.n_pairs_put);
  visit("n_in_gap", e.n_in_gap);
  visit("homo", e.homo);
  visit("lumo", e.lumo);
  visit("homo_error", e.homo_error);
  visit("lumo_error", e.lumo_error);
  visit("homo_up", e.up.homo);
  visit("lumo_up", e.up.lumo);
  visit("gap_error_up", e.up.error);
  visit("homo_down", e.down.homo);
  visit("lumo_down", e.down.lumo);
  visit("gap_error_down", e.down.error);
  visit("entropy", e.entropy);
  visit("idempotency", e.idempotency);
  visit("commutator", e.commutator);
  visit("asymmetry", e.asymmetry);
  visit("error_columns", e.error_columns);
  visit("energy_error", e.energy_error);
  visit("pairs_error", e.pairs_error);
  visit("p_error", e.p_error);
  visit("error_seconds", e.error_seconds);
  visit("blocks", e.blocks);
  visit("n_mean", e.n_mean);
  visit("n_max", e.n_max);
  visit("n_submatrices", e.n_submatrices);
  visit("clustering_gain", e.clustering_gain);
  visit("degree", e.degree);
  visit("flops", e.flops);
  visit("seconds", e.seconds);
  visit("kernel_seconds", e.kernel_seconds);
  visit("predicted_seconds", e.predicted_seconds);
  visit("density_seconds", e.density_seconds);
  visit("condition", e.condition);
}

/// Those of the check on random vectors, which older checkpoints lack.
template <class E, class Visit>
void for_each_probed(E& e, const Visit& visit) {
  visit("probe_vectors", e.probe_vectors);
  visit("probe_degree", e.probe_degree);
  visit("probed_error", e.probed_error);
  visit("probed_deviation", e.probed_deviation);
  visit("probe_series_error", e.probe_series_error);
}

}  // namespace

void keep(Context& context, const std::vector<Evaluation>& evaluations) {
  context.checkpoint(evaluations.size(), [&](hdf5::Group& root) {
    auto all = root.group(group_name);  // there also where nothing is done yet
    for (std::size_t i = 0; i < evaluations.size(); ++i) {
      auto group = all.group(std::to_string(i));
      const Evaluation& e = evaluations[i];
      for_each_number(e, [&](const char* name, const auto& number) {
        group.set_attribute(name, static_cast<double>(number));
      });
      group.set_attribute("matrix", e.matrix);
      group.set_attribute("whole", e.whole ? 1 : 0);
      group.set_attribute("p_error_inside", e.p_error_inside);
      group.set_attribute("mu_error", e.mu_error);
      group.set_attribute("rest", e.rest);
      group.set_attribute("density_error", e.density_error);
      for_each_probed(e, [&](const char* name, const auto& number) {
        group.set_attribute(name, static_cast<double>(number));
      });
      group.set_attribute("probe_refused", e.probe_refused);
      if (e.mu_down) group.set_attribute("mu_down", *e.mu_down);
      group.set_attribute("kernel", e.kernel);
      if (!e.refused.empty()) group.set_attribute("refused", e.refused);
    }
  });
}

std::vector<Evaluation> kept_evaluations(const Context& context, const std::vector<double>& thresholds,
                                         int n_matrices) {
  std::vector<Evaluation> evaluations;
  if (!context.restart_file()) return evaluations;
  const std::string& path = *context.restart_file();
  const hdf5::File file = hdf5::File::open(context.comm(), path);
  QUINTET_CHECK(file.root().has(group_name), "{}: is no checkpoint of submatrix evaluate", path);
  const hdf5::Group all = file.root().open_group(group_name);
  for (std::size_t i = 0; all.has(std::to_string(i)); ++i) {
    const hdf5::Group group = all.open_group(std::to_string(i));
    Evaluation e;
    for_each_number(e, [&](const char* name, auto& number) {
      number = static_cast<std::remove_reference_t<decltype(number)>>(group.number_attribute(name).at(0));
    });
    e.p_error_inside =  // younger than checkpoints that may be read
        group.has_attribute("p_error_inside") ? group.number_attribute("p_error_inside").at(0) : e.p_error;
    if (group.has_attribute("mu_error")) e.mu_error = group.number_attribute("mu_error").at(0);
    const auto number_or_none = [&](const char* name) {
      return group.has_attribute(name) ? group.number_attribute(name).at(0)
                                       : std::numeric_limits<double>::quiet_NaN();
    };
    e.rest = number_or_none("rest");
    e.density_error = number_or_none("density_error");
    if (group.has_attribute("probe_refused")) {
      for_each_probed(e, [&](const char* name, auto& number) {
        number = static_cast<std::remove_reference_t<decltype(number)>>(group.number_attribute(name).at(0));
      });
      e.probe_refused = group.text_attribute("probe_refused");
    }
    if (group.has_attribute("mu_down")) e.mu_down = group.number_attribute("mu_down").at(0);
    e.kernel = group.text_attribute("kernel");
    if (group.has_attribute("refused")) e.refused = group.text_attribute("refused");
    if (group.has_attribute("matrix")) e.matrix = group.integer_attribute("matrix");
    if (group.has_attribute("whole")) e.whole = group.integer_attribute("whole") != 0;
    const auto of_matrix = thresholds.size() / n_matrices;
    QUINTET_CHECK(
        i < thresholds.size() && thresholds[i] == e.threshold && e.matrix == static_cast<int>(i / of_matrix),
        "{}: threshold {} of it is {:.3g}, which is not that of method.thresholds; restart with the "
        "thresholds of the run that was stopped",
        path, i + 1, e.threshold);
    evaluations.push_back(std::move(e));
  }
  return evaluations;
}

}  // namespace quintet::submatrix
