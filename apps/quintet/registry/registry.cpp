#include "apps/quintet/registry/registry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/ranges.h>

#include "apps/quintet/owner/owner.hpp"
#include "apps/quintet/registry/train_router.hpp"
#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"
#include "io/parallel/comm.hpp"
#include "io/tiers/ledger.hpp"
#include "surrogates/experts/registry.hpp"

namespace quintet::commands {
namespace {

namespace fs = std::filesystem;
using experts::Expert;
using experts::Registry;

/// Application to which a model belongs, by the schema in its file.
struct AppRow {
  const char *schema, *app;
};
constexpr AppRow apps[] = {{"quintet.flow_model", "meshfreeflow"}, {"quintet.ocean_forecast", "podlstm"}};

std::string app_of(const std::string& model) {
  const auto opened = hdf5::File::open(Comm::self(), model);
  const auto& root = opened.root();
  if (root.has_attribute("json")) return "dpmd";
  const std::string schema = root.has_attribute("schema") ? root.text_attribute("schema") : "";
  for (const auto& row : apps)
    if (schema == row.schema) return row.app;
  throw InputError(fmt::format(
      "{}: is no model that a registry takes; expected one of dpmd (.dp; other forms: dpmd convert), of "
      "meshfreeflow train or of podlstm train",
      model));
}

/// Description of a model by its application.
Expert described(const std::string& model) {
  const auto program = sibling_named(app_of(model));
  const auto answer = run_command({program.executable, "expert", model}, 120);
  if (!answer.good()) {
    std::string reason = last_line(answer.errors);
    for (const char* prefix : {"error: ", "Error: "})
      if (reason.starts_with(prefix)) reason.erase(0, std::string(prefix).size());
    throw InputError(fmt::format("{} cannot take it: {}", program.name, reason));
  }
  return experts::expert_of(parse_yaml(answer.out, program.name + " expert " + model));
}

double number_in(const std::string& text, const std::string& flag) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  QUINTET_CHECK(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
                "{}: '{}' is no finite number", flag, text);
  return value;
}

/// "Ra=1e5:1e6" or "temperature=300:400:K".
experts::KeyRange range_in(const std::string& text) {
  const std::string flag = "--range " + text;
  const auto equals = text.find('='), colon = text.find(':', equals == std::string::npos ? 0 : equals);
  QUINTET_CHECK(equals != std::string::npos && equals > 0 && colon != std::string::npos,
                "{}: expected KEY=LEAST:MOST or KEY=LEAST:MOST:UNIT, for example --range Ra=1e5:1e6", flag);
  const auto second = text.find(':', colon + 1);
  experts::KeyRange found{
      text.substr(0, equals), number_in(text.substr(equals + 1, colon - equals - 1), flag),
      number_in(text.substr(colon + 1, second == std::string::npos ? second : second - colon - 1), flag),
      second == std::string::npos ? "1" : text.substr(second + 1)};
  QUINTET_CHECK(found.least <= found.most, "{}: {:g} is more than {:g}", flag, found.least, found.most);
  return found;
}

void add(const RegistryOptions& options) {
  const auto& given = options.models;
  const auto& ids = options.ids;
  QUINTET_CHECK(!given.empty(), "no model is given; expected quintet registry add {} --id ID MODEL",
                options.file);
  QUINTET_CHECK(ids.empty() || ids.size() == given.size(),
                "{} and {} --id; give one for each, in the same order, or none (the files' names)",
                counted(given.size(), "model"), ids.size());
  std::vector<experts::KeyRange> ranges;
  for (const auto& text : options.ranges) ranges.push_back(range_in(text));
  for (const auto& one : ids) hdf5::check_embedded_id(one);
  auto provenance = hdf5::current_provenance();
  provenance.program = "quintet registry";
  for (std::size_t i = 0; i < given.size(); ++i) {
    Expert expert = described(given[i]);
    expert.id = ids.empty() ? fs::path(given[i]).stem().string() : ids[i];
    for (const auto& wanted : ranges) {
      std::erase_if(expert.range, [&](const auto& own) { return own.key == wanted.key; });
      expert.range.push_back(wanted);
    }
    if (options.licence) expert.licence = *options.licence;
    if (options.source) expert.source = *options.source;
    experts::add_expert(options.file, expert, given[i], options.replace, provenance);
    log::info("{}:{} is {}", options.file, expert.id, given[i]);
  }
}

std::string range_text(const Expert& expert) {
  std::vector<std::string> parts;
  for (const auto& [key, least, most, unit] : expert.range)
    parts.push_back(fmt::format("{} {:g} to {:g}{}", key, least, most, unit == "1" ? "" : " " + unit));
  std::string last;
  for (const auto& [key, word] : expert.words) {
    if (key == last)
      parts.back() += " " + word;
    else
      parts.push_back(key + " " + word);
    last = key;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void list(const RegistryOptions& options) {
  const auto registry = Registry::read(Comm::self(), options.file);
  std::size_t width = 2;
  for (const auto& expert : registry.experts()) width = std::max(width, expert.id.size());
  std::string text = fmt::format("{:<{}}  {:<13} {:<15} {:<9} {:>8} {:>8}  {}\n", "ID", width, "application",
                                 "kind", "precision", "file", "memory", "valid for");
  for (const auto& expert : registry.experts())
    text += fmt::format("{:<{}}  {:<13} {:<15} {:<9} {:>8} {:>8}  {}\n", expert.id, width, expert.app,
                        expert.kind, expert.precision, text_of_bytes(expert.bytes),
                        text_of_bytes(expert.memory), range_text(expert));
  std::fputs(text.c_str(), stdout);
}

void verify(const RegistryOptions& options) {
  const auto registry = Registry::read(Comm::self(), options.file);
  std::vector<std::string> damaged;
  for (std::size_t i = 0; i < registry.experts().size(); ++i) try {
      experts::verify_expert(registry, i);
    } catch (const InputError& error) {
      log::error("{}", error.what());
      damaged.push_back(registry.experts()[i].id);
    }
  QUINTET_CHECK(damaged.empty(), "{}: {} of {} experts are damaged: {}", registry.path(), damaged.size(),
                registry.experts().size(), fmt::join(damaged, ", "));
  log::info("{}: {} written", registry.path(),
            counted(registry.experts().size(), "expert, as it was", "experts, all as they were"));
}

void remove(const RegistryOptions& options) {
  QUINTET_CHECK(!options.ids.empty(), "say which: --id ID; {} has: {}", options.file, [&] {
    std::vector<std::string> ids;
    const auto registry = Registry::read(Comm::self(), options.file);
    for (const auto& expert : registry.experts()) ids.push_back(expert.id);
    return fmt::format("{}", fmt::join(ids, ", "));
  }());
  for (const auto& one : options.ids) experts::remove_expert(options.file, one);
}

void train_router(const RegistryOptions& options) {
  QUINTET_CHECK(options.data, "a table is missing: --data TABLE.csv, of keys and who was best");
  train_router_on(options.file, *options.data);
}

struct ActionRow {
  const char *name, *doc;
  void (*run)(const RegistryOptions&);
};
constexpr ActionRow actions[] = {{"add", "put models in", add},
                                 {"list", "what is in it, and what that is valid for", list},
                                 {"verify", "whether all is as it was written", verify},
                                 {"remove", "take --id out", remove},
                                 {"train-router", "a network that chooses, from --data", train_router}};

}  // namespace

void describe(Schema& schema, RegistryOptions& options) {
  std::string doc;
  for (const auto& row : actions) doc += fmt::format("{}{}: {}", doc.empty() ? "" : "; ", row.name, row.doc);
  schema.text("action", options.action, doc).required();
  schema.text("file", options.file, "the registry").required();
  schema.texts("id", options.ids,
               "name of the expert (add: of each model in turn; default: the file's name)");
  schema.texts("range", options.ranges,
               "where it is valid, KEY=LEAST:MOST[:UNIT], in place of what the model says; repeatable");
  schema.text("licence", options.licence, "under which the model may be used");
  schema.text("source", options.source, "where it comes from, in place of what the model says");
  schema.flag("replace", options.replace, "take the place of an expert of the same name");
  schema.text("data", options.data,
              "table of requests for train-router: columns of keys, and 'expert', who answered best");
  schema.texts("models", options.models, "models of dpmd (.dp), meshfreeflow or podlstm");
}

void registry(const RegistryOptions& options) {
  row_given(actions, options.action, "quintet registry").run(options);
}

}  // namespace quintet::commands
