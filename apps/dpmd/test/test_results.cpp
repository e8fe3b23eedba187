#include "apps/dpmd/test/test_results.hpp"
#include "io/log/counted.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace quintet::dpmd {

namespace {

Tree to_tree(const Errors& deviation) {
  Tree tree;
  tree.set("rmse", Tree::number(deviation.rmse()));
  tree.set("mae", Tree::number(deviation.mae()));
  tree.set("largest", Tree::number(deviation.largest));
  tree.set("n", Tree::integer(deviation.n));
  return tree;
}

Tree to_tree(const TestResult& result, const std::vector<std::string>& type_names) {
  Tree tree, by_type = Tree::map();
  tree.set("name", Tree::text(result.name));
  tree.set("frames", Tree::integer(result.frames));
  tree.set("atoms", Tree::integer(result.atoms));
  const auto set = [](Tree& owner, const std::string& key, const Errors& deviation) {
    if (deviation.n > 0) owner.set(key, to_tree(deviation));
  };
  set(tree, "energy_ev", result.energy);
  set(tree, "energy_per_atom_ev", result.energy_atom);
  set(tree, "force_ev_per_angstrom", result.force);
  for (std::size_t t = 0; t < type_names.size(); ++t) set(by_type, type_names[t], result.force_of_type[t]);
  if (result.force.n > 0) tree.set("force_by_type_ev_per_angstrom", std::move(by_type));
  set(tree, "virial_ev", result.virial);
  set(tree, "virial_per_atom_ev", result.virial_atom);
  return tree;
}

std::string cell(const Errors& deviation, double scale, double (Errors::*measure)() const) {
  return deviation.n == 0 ? "" : fmt::format("{:.4g}", scale * (deviation.*measure)());
}

std::vector<std::string> row(const TestResult& result) {
  return {result.name,
          fmt::format("{}", result.frames),
          fmt::format("{}", result.atoms),
          cell(result.energy_atom, 1e3, &Errors::rmse),
          cell(result.energy_atom, 1e3, &Errors::mae),
          cell(result.force, 1e3, &Errors::rmse),
          cell(result.force, 1e3, &Errors::mae),
          cell(result.virial_atom, 1e3, &Errors::rmse),
          cell(result.virial_atom, 1e3, &Errors::mae)};
}

void add_systems(Report& report, const std::vector<TestResult>& results, const TestResult& all) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& result : results) rows.push_back(row(result));
  if (results.size() > 1) rows.push_back(row(all));
  report.section("Systems");
  report.table({"system", "frames", "atoms", "energy rmse (meV/atom)", "mae", "force rmse (meV/angstrom)",
                "mae", "virial rmse (meV/atom)", "mae"},
               rows);
}

void add_types(Report& report, const std::vector<std::string>& type_names, const TestResult& all) {
  if (all.force.n == 0) return;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t t = 0; t < type_names.size(); ++t) {
    const auto& force = all.force_of_type[t];
    if (force.n == 0) continue;
    rows.push_back({type_names[t], fmt::format("{}", force.n / 3), cell(force, 1e3, &Errors::rmse),
                    cell(force, 1e3, &Errors::mae), fmt::format("{:.4g}", 1e3 * force.largest)});
  }
  report.section("Forces by type");
  report.table({"type", "atoms", "rmse (meV/angstrom)", "mae", "largest"}, rows);
}

void append_numbers(std::string& text, const double* values, std::size_t n, double scale) {
  for (std::size_t i = 0; i < n; ++i) fmt::format_to(std::back_inserter(text), "{:.18e} ", scale * values[i]);
}

void end_line(std::string& text) { text.back() = '\n'; }

/// The lines of the detail files, in the order of detail_files().
struct Details {
  std::string energy, energy_atom, force, virial, virial_atom;

  void begin(const std::string& system) {
    std::string virial_columns;
    for (const char* who : {"data", "pred"})
      for (const char* component : {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"})
        virial_columns += fmt::format(" {}_v{}", who, component);
    energy += fmt::format("# {}: data_e pred_e\n", system);
    energy_atom += fmt::format("# {}: data_e pred_e\n", system);
    force += fmt::format("# {}: data_fx data_fy data_fz pred_fx pred_fy pred_fz\n", system);
    virial += fmt::format("# {}:{}\n", system, virial_columns);
    virial_atom += fmt::format("# {}:{}\n", system, virial_columns);
  }

  void add(const Configuration& label, const Prediction& prediction) {
    const double each = 1.0 / label.n_atoms();
    if (label.energy) {
      for (auto [text, scale] : {std::pair{&energy, 1.0}, std::pair{&energy_atom, each}}) {
        append_numbers(*text, &*label.energy, 1, scale);
        append_numbers(*text, &prediction.energy, 1, scale);
        end_line(*text);
      }
    }
    for (std::size_t i = 0; i < label.forces.size(); ++i) {
      append_numbers(force, label.forces[i].data(), 3, 1);
      append_numbers(force, prediction.forces[i].data(), 3, 1);
      end_line(force);
    }
    if (label.virial) {
      for (auto [text, scale] : {std::pair{&virial, 1.0}, std::pair{&virial_atom, each}}) {
        append_numbers(*text, label.virial->data(), 9, scale);
        append_numbers(*text, prediction.virial.data(), 9, scale);
        end_line(*text);
      }
    }
  }
};

void add(TestResult& result, const Configuration& label, const Prediction& prediction) {
  const double n = label.n_atoms();
  ++result.frames;
  result.atoms += label.n_atoms();
  if (label.energy) {
    result.energy.add(prediction.energy - *label.energy);
    result.energy_atom.add((prediction.energy - *label.energy) / n);
  }
  for (std::size_t i = 0; i < label.forces.size(); ++i)
    for (int k = 0; k < 3; ++k)
      result.force_of_type[label.types[i]].add(prediction.forces[i][k] - label.forces[i][k]);
  if (label.virial)
    for (std::size_t k = 0; k < 9; ++k) {
      result.virial.add(prediction.virial[k] - (*label.virial)[k]);
      result.virial_atom.add((prediction.virial[k] - (*label.virial)[k]) / n);
    }
}

}  // namespace

TestResult& TestResult::operator+=(const TestResult& other) {
  frames += other.frames;
  atoms += other.atoms;
  energy += other.energy;
  energy_atom += other.energy_atom;
  force += other.force;
  virial += other.virial;
  virial_atom += other.virial_atom;
  force_of_type.resize(other.force_of_type.size());
  for (std::size_t t = 0; t < force_of_type.size(); ++t) force_of_type[t] += other.force_of_type[t];
  return *this;
}

std::vector<TestResult> test_results(const std::vector<potential::LabelledSystem>& systems,
                                     const std::vector<Prediction>& predictions, int n_types) {
  std::vector<TestResult> results(systems.size());
  for (std::size_t s = 0; s < systems.size(); ++s) {
    results[s].name = systems[s].name;
    results[s].force_of_type.resize(n_types);
  }
  for (const auto& prediction : predictions)
    add(results[prediction.index.system], systems[prediction.index.system].frames[prediction.index.frame],
        prediction);
  for (auto& result : results)
    for (const auto& force : result.force_of_type) result.force += force;
  return results;
}

TestResult sum(const std::vector<TestResult>& results) {
  TestResult all;
  all.name = "all";
  for (const auto& result : results) all += result;
  return all;
}

Tree to_tree(const std::string& model, const std::vector<std::string>& type_names,
             const std::vector<TestResult>& results, const TestResult& all) {
  Tree tree, systems = Tree::list();
  for (const auto& result : results) systems.append(to_tree(result, type_names));
  tree.set("model", Tree::text(model));
  tree.set("all", to_tree(all, type_names));
  tree.set("systems", std::move(systems));
  return tree;
}

std::string summary(const TestResult& result) {
  std::string text = fmt::format("{}: {}, rmse:", result.name, counted(result.frames, "frame"));
  const char* separator = " ";
  const auto add = [&](const char* what, const Errors& deviation, const char* unit) {
    if (deviation.n == 0) return;
    text += fmt::format("{}{} {:.4g} {}", separator, what, 1e3 * deviation.rmse(), unit);
    separator = ", ";
  };
  add("energy", result.energy_atom, "meV/atom");
  add("force", result.force, "meV/angstrom");
  add("virial", result.virial_atom, "meV/atom");
  return text;
}

Report test_report(const std::string& model, const std::string& description,
                   const std::vector<std::string>& type_names, const std::vector<TestResult>& results,
                   const TestResult& all, const Parity& parity) {
  Report report;
  report.title(fmt::format("Test of {}", model), description);
  std::vector<Headline> headlines{{"frames", fmt::format("{}", all.frames)}};
  const auto headline = [&](const char* name, const Errors& deviation, const char* unit) {
    if (deviation.n > 0) headlines.push_back({name, fmt::format("{:.4g} {}", 1e3 * deviation.rmse(), unit)});
  };
  headline("energy rmse", all.energy_atom, "meV/atom");
  headline("force rmse", all.force, "meV/Å");
  headline("virial rmse", all.virial_atom, "meV/atom");
  report.headlines(headlines);
  report_parity(report, "Model against labels", parity);
  add_systems(report, results, all);
  add_types(report, type_names, all);
  return report;
}

std::vector<std::string> detail_files(const std::string& prefix) {
  std::vector<std::string> files;
  for (const char* ending : {".e.out", ".e_peratom.out", ".f.out", ".v.out", ".v_peratom.out"})
    files.push_back(prefix + ending);
  return files;
}

void write_details(const std::string& prefix, const std::vector<potential::LabelledSystem>& systems,
                   const std::vector<Prediction>& predictions) {
  Details details;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto& index = predictions[i].index;
    if (i == 0 || index.system != predictions[i - 1].index.system) details.begin(systems[index.system].name);
    details.add(systems[index.system].frames[index.frame], predictions[i]);
  }
  const auto files = detail_files(prefix);
  const std::string* texts[] = {&details.energy, &details.energy_atom, &details.force, &details.virial,
                                &details.virial_atom};
  for (std::size_t i = 0; i < files.size(); ++i) write_text_file(files[i], *texts[i]);
}

}  // namespace quintet::dpmd
