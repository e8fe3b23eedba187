#include "apps/dpmd/setup/command_line.hpp"

#include <algorithm>

#include "apps/dpmd/setup/labels_options.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, "");
  return words;
}

Tree keys_of(const Application::Arguments& arguments, const std::vector<std::pair<std::string, int>>& keys) {
  Tree tree;
  for (const auto& [key, place] : keys) {
    if (arguments[place].empty()) continue;
    std::string flag = "--" + key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    Tree leaf = Tree::scalar(arguments[place].front());
    leaf.set_location({flag, 0, 0});
    tree.set(key, leaf);
  }
  return tree;
}

const std::string& model_of(const Application::Arguments& arguments, int positional, int named) {
  const auto& by_place = arguments[positional];
  const auto& by_flag = arguments[named];
  QUINTET_CHECK(by_place.empty() != by_flag.empty(), "{}; expected one model: --model MODEL",
                by_place.empty() ? "no model is given" : "a model is given twice");
  return by_flag.empty() ? by_place.front() : by_flag.front();
}

namespace {
struct MassesSection {
  NamedMasses masses;
};
void describe(Schema& schema, MassesSection& section) { describe_masses(schema, section.masses); }
}  // namespace

ReadOptions read_options_of(const Application::Arguments& arguments, int types, int masses) {
  const auto given = [&](int place) -> const std::vector<std::string>& { return arguments[place]; };
  ReadOptions read;
  read.all_frames = true;
  read.labels.use = LabelSource::Use::none;
  if (!given(masses + 1).empty()) {
    const auto words = names_in(given(masses + 1).front());
    const auto problem = problem_of_periodic(words);
    QUINTET_CHECK(!problem, "--{}", problem.value_or(""));
    read.periodic = periodic_of(words);
  }
  if (!given(types).empty()) read.type_names = names_in(given(types).front());
  if (!given(masses).empty()) {
    Tree tree;
    tree.set("masses", parse_yaml(given(masses).front(), "--masses"));
    MassesSection section;
    parse_options(tree, described(section));
    read.masses = section.masses;
  }
  return read;
}

std::vector<Application::Flag> naming_flags() {
  return {{"--types", "Names of types that files number and do not name: O,H", false, ""},
          {"--masses", "Masses of types by name: '{H: 2.014 u}'", false, ""},
          {"--periodic", "Of x, y, z where files do not say it: true,true,false", false, ""}};
}

std::vector<Application::Flag> label_source_flags() {
  return {{"--labels", "What stands before energy, forces, virial and stress: REF_", false, ""},
          {"--stress-unit", "Of stresses: eV/angstrom^3, GPa, kbar or bar", false, "eV/angstrom^3"},
          {"--stress-sign", "What stresses count positive: tension or pressure", false, "tension"}};
}

LabelSource label_source_of(const Application::Arguments& arguments, int first) {
  auto options =
      options_of<LabelsOptions>(arguments, {{"stress_unit", first + 1}, {"stress_sign", first + 2}});
  if (!arguments[first].empty()) options.prefix = arguments[first].front();
  return source_of(options);
}

}  // namespace quintet::dpmd
