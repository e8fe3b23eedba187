#include "apps/dpmd/setup/command_line.hpp"

#include <algorithm>

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

}  // namespace quintet::dpmd
