#include "apps/quintet/owner/owner.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr const char* applications[] = {"dpmd", "meshfreeflow", "podlstm", "submatrix", "vlasov"};

/// Schema of one key: the alternative of "anyOf" that takes the value's form.
const Tree* schema_for(const Tree& value, const Tree& schema) {
  const auto takes = [&](const Tree& candidate) {
    return value.is_map() ? candidate.has("properties") || candidate.has("additionalProperties")
                          : value.is_list() && candidate.has("items");
  };
  const Tree* either = schema.find("anyOf");
  if (either == nullptr) return takes(schema) ? &schema : nullptr;
  for (const auto& candidate : either->items())
    if (const Tree* found = schema_for(value, candidate)) return found;
  return nullptr;
}

/// Calls visit(path, key value, schema of the section) for each key of each section of the document.
template <class Visit>
void visit_sections(const Tree& value, const Tree& schema, const std::string& path, const Visit& visit) {
  const Tree* described = schema_for(value, schema);
  if (described == nullptr) return;  // a wrong kind of value: the application tells it better
  if (value.is_list()) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      visit_sections(value.items()[i], described->at("items"), fmt::format("{}.{}", path, i), visit);
    return;
  }
  const Tree* properties = described->find("properties");
  if (properties == nullptr) return;  // names of the user's choice
  visit(path, value, *described);
  for (const auto& [key, inner] : value.entries())
    if (const Tree* known = properties->find(key))
      visit_sections(inner, *known, path.empty() ? key : path + "." + key, visit);
}

/// One command of one application, against a document.
struct Candidate {
  Owner owner;
  std::vector<std::string> unknown, missing;
  [[nodiscard]] std::string name() const { return owner.application.name + " " + owner.command; }
  [[nodiscard]] bool fits() const { return unknown.empty() && missing.empty(); }
};

/// Schemas of an application's commands: {command: JSON Schema}.
Tree schemas_of(const Sibling& application) {
  const auto answer = run_command({application.executable, "schemas"}, 60);
  QUINTET_CHECK(answer.good(), "{} does not say what its commands know: {}", application.executable,
                last_line(answer.errors));
  return parse_yaml(answer.out, application.executable + " schemas");
}

std::vector<Candidate> candidates(const Tree& document, const std::string& application,
                                  const std::string& command) {
  std::vector<Candidate> found;
  std::vector<std::string> commands;
  for (const auto& sibling : application.empty() ? siblings() : std::vector{sibling_named(application)}) {
    const Tree schemas = schemas_of(sibling);
    for (const auto& [name, schema] : schemas.entries()) {
      commands.push_back(name);
      if (command.empty() || command == name)
        found.push_back({{sibling, name}, unknown_keys(document, schema), missing_keys(document, schema)});
    }
  }
  QUINTET_CHECK(!found.empty(), "{} has no command '{}' with a YAML file{}; there are: {}",
                application.empty() ? "No application" : application, command,
                did_you_mean(command, commands), name_list(commands));
  return found;
}

}  // namespace

std::vector<Sibling> siblings() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  std::vector<Sibling> found;
  for (const char* name : applications)
    if (const auto program = (folder / name).string(); access(program.c_str(), X_OK) == 0)
      found.push_back({name, program});
  return found;
}

Sibling sibling_named(const std::string& name) {
  std::vector<std::string> names;
  for (auto& sibling : siblings()) {
    if (sibling.name == name) return sibling;
    names.push_back(sibling.name);
  }
  throw InputError(fmt::format("There is no application '{}' beside quintet{}; there {}", name,
                               did_you_mean(name, names),
                               names.empty() ? "is none" : "are: " + name_list(names)));
}

std::vector<std::string> unknown_keys(const Tree& document, const Tree& schema) {
  std::vector<std::string> unknown;
  visit_sections(document, schema, "", [&](const std::string& path, const Tree& section, const Tree& known) {
    for (const auto& [key, value] : section.entries())
      if (!known.at("properties").has(key)) unknown.push_back(path.empty() ? key : path + "." + key);
  });
  return unknown;
}

std::vector<std::string> missing_keys(const Tree& document, const Tree& schema) {
  std::vector<std::string> missing;
  visit_sections(document, schema, "", [&](const std::string& path, const Tree& section, const Tree& known) {
    if (const Tree* required = known.find("required"))
      for (const auto& key : required->items())
        if (!section.has(key.as_text()))
          missing.push_back(path.empty() ? key.as_text() : path + "." + key.as_text());
  });
  return missing;
}

Owner owner_of(const Tree& document, const std::string& application, const std::string& command) {
  const std::string place = document.location().file.empty() ? "The input" : document.location().file;
  QUINTET_CHECK(document.is_map(), "{}: expected a map of keys and values, found {}", place,
                document.found());
  const auto all = candidates(document, application, command);
  std::vector<std::string> names;
  const Candidate* fitting = nullptr;
  for (const auto& candidate : all)
    if (candidate.fits()) {
      fitting = &candidate;
      names.push_back(candidate.name());
    }
  // Asked for by name: the application itself says what is wrong.
  if (!application.empty() && all.size() == 1) return all.front().owner;
  if (names.size() == 1) return fitting->owner;
  if (!names.empty())
    throw InputError(fmt::format("{} may be a file of {}: say which with --app APP --command COMMAND", place,
                                 fmt::join(names, " or of ")));
  const auto nearest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.unknown.size(), a.missing.size()) < std::pair(b.unknown.size(), b.missing.size());
  });
  throw InputError(
      fmt::format("{} fits no command; nearest is {}, which {}. If it is meant, say --app {} --command {}",
                  place, nearest->name(),
                  nearest->unknown.empty() ? "needs " + name_list(nearest->missing)
                                           : "does not know " + name_list(nearest->unknown),
                  nearest->owner.application.name, nearest->owner.command));
}

}  // namespace quintet
