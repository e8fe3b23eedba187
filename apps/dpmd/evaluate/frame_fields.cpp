#include "apps/dpmd/evaluate/frame_fields.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/experts/expert_cache.hpp"
#include "surrogates/experts/router.hpp"

namespace quintet::dpmd {
namespace {

enum Value { registry, router, budget, pin, prefetch };

/// The flags as a section.
struct CacheSection {
  double budget = 1e3;  ///< (MB)
  int prefetch = 1;
  std::vector<std::string> pin;
};
void describe(Schema& schema, CacheSection& section) {
  schema.quantity("budget", section.budget, "MB", "Memory for experts").above(0).at_most(1e9);
  schema.integer("prefetch", section.prefetch, "Experts that are read ahead").at_least(0).at_most(64);
}

experts::RouterOptions router_of(std::span<const std::vector<std::string>> values) {
  experts::RouterOptions options;
  if (!values[router].empty())
    parse_options(parse_yaml(values[router].front(), "--router"), described(options));
  return options;
}

experts::CacheOptions cache_of(std::span<const std::vector<std::string>> values) {
  Tree tree = Tree::map();
  for (const auto& [key, place] : {std::pair("budget", budget), std::pair("prefetch", prefetch)})
    if (!values[place].empty()) {
      Tree leaf = Tree::scalar(values[place].front());
      leaf.set_location({std::string("--") + key, 0, 0});
      tree.set(key, leaf);
    }
  CacheSection section;
  parse_options(tree, described(section));
  experts::CacheOptions options;
  options.host = static_cast<std::size_t>(section.budget * 1e6);
  options.prefetch = section.prefetch;
  options.key = "--budget";
  if (!values[pin].empty()) options.pin = names_in(values[pin].front());
  return options;
}

}  // namespace

struct FrameFields::Experts {
  experts::Registry list;
  experts::Router chooser;
  std::vector<std::vector<std::string>> types;  ///< [experts] in the model's order
  experts::ExpertCache cache;
  ReadCache::Hold held;

  explicit Experts(std::span<const std::vector<std::string>> values)
      : list(experts::Registry::read(Comm::self(), values[registry].front())),
        chooser(list, "dpmd", router_of(values)),
        types(types_of(list)),
        cache(list, "dpmd", cache_of(values), [](const std::string& name) {
          PotentialOptions options;
          options.models = {name};
          return std::shared_ptr<ForceField>(make_force_field(options));
        }) {}

  static std::vector<std::vector<std::string>> types_of(const experts::Registry& list) {
    std::vector<std::vector<std::string>> all;
    for (const auto& expert : list.experts()) {
      all.emplace_back();
      for (const auto& [key, word] : expert.words)
        if (key == "type") all.back().push_back(word);
    }
    return all;
  }
};

std::vector<Application::Flag> FrameFields::flags() {
  return {
      {"--experts", "A registry of models instead: each frame's is chosen by its composition", false, ""},
      {"--router", "How, as in 'experts.router' of other commands: '{by: [fraction_O], outside: nearest}'",
       false, ""},
      {"--budget", "Memory for experts (default: 1 GB)", false, ""},
      {"--pin", "IDs of experts that stay in memory: copper,water", false, ""},
      {"--prefetch", "Experts that are read ahead (default: 1)", false, ""}};
}

FrameFields::FrameFields(std::unique_ptr<ForceField> single, std::span<const std::vector<std::string>> values)
    : single_(std::move(single)) {
  if (!single_) experts_ = std::make_unique<Experts>(values);
}
FrameFields::~FrameFields() = default;

FrameFields::Choice FrameFields::choose(const Configuration& frame, const std::string& name) const {
  if (single_) return {};
  experts::Request request{name, {}, {}};
  const auto n = static_cast<double>(frame.n_atoms());
  std::set<std::string> words;
  for (const auto& known : experts_->types)
    for (const auto& type : known) request.values["fraction_" + type] = 0;
  for (const int type : frame.types) {
    const auto& element = frame.type_names.at(static_cast<std::size_t>(type));
    words.insert(element);
    request.values["fraction_" + element] += 1;
  }
  for (auto& [key, value] : request.values) value /= n;
  request.words["type"] = {words.begin(), words.end()};
  const auto choice = experts_->chooser.choose(request);
  if (choice.outside) log::warning("{}: expert {}: {}", name, id(choice.expert), choice.reason);
  return {choice.expert, choice.reason};
}

const std::vector<std::string>& FrameFields::type_names(int model) const {
  return single_ ? single_->type_names() : experts_->types[model];
}

std::vector<std::string> FrameFields::all_types() const {
  if (single_) return single_->type_names();
  std::set<std::string> all;
  for (const auto& known : experts_->types) all.insert(known.begin(), known.end());
  return {all.begin(), all.end()};
}

std::string FrameFields::id(int model) const { return single_ ? "" : experts_->list.experts()[model].id; }

std::vector<int> FrameFields::order(std::span<const int> models) const {
  return grouped(models, [this](int model) { return single_ || experts_->cache.holds(model); });
}

ForceField& FrameFields::use(int model, int next) {
  if (single_) return *single_;
  auto& held = experts_->held;
  { const ReadCache::Hold before = std::move(held); }
  held = experts_->cache.hold(model);
  if (next >= 0 && next != model) experts_->cache.fetch(next);
  auto& field = *static_cast<ForceField*>(held.get());
  if (field.type_names() != type_names(model))
    throw InputError(fmt::format("{}: its types are not those that the registry says; add it again",
                                 experts_->list.name_of(model)));
  return field;
}

void FrameFields::report() const {
  if (experts_) log::info("Experts: {}", experts_->cache.summary());
}

}  // namespace quintet::dpmd
