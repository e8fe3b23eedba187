#include "apps/dpmd/evaluate/frame_fields.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "apps/dpmd/setup/command_line.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/experts/expert_cache.hpp"
#include "surrogates/experts/router.hpp"

namespace quintet::dpmd {
namespace {

experts::RouterOptions router_of(const ExpertFlags& flags) {
  experts::RouterOptions options;
  if (flags.router) parse_options(parse_yaml(*flags.router, "--router"), described(options));
  return options;
}

experts::CacheOptions cache_of(const ExpertFlags& flags) {
  experts::CacheOptions options;
  options.host = static_cast<std::size_t>(flags.budget.value_or(1e3) * 1e6);
  options.prefetch = flags.prefetch.value_or(1);
  options.key = "--budget";
  if (flags.pin) options.pin = names_in(*flags.pin);
  return options;
}

}  // namespace

struct FrameFields::Experts {
  experts::Registry list;
  experts::Router chooser;
  std::vector<std::vector<std::string>> types;  ///< [experts] in the model's order
  experts::ExpertCache cache;
  ReadCache::Hold held;

  explicit Experts(const ExpertFlags& flags)
      : list(experts::Registry::read(Comm::self(), flags.experts.value())),
        chooser(list, "dpmd", router_of(flags)),
        types(types_of(list)),
        cache(list, "dpmd", cache_of(flags), [](const std::string& name) {
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

void describe(Schema& schema, ExpertFlags& options) {
  schema.text("experts", options.experts,
              "A registry of models instead: each frame's is chosen by its composition");
  schema.text("router", options.router,
              "How, as in 'experts.router' of other commands: '{by: [fraction_O], outside: nearest}'");
  schema.quantity("budget", options.budget, "MB", "Memory for experts; absent: 1 GB").above(0).at_most(1e9);
  schema.text("pin", options.pin, "IDs of experts that stay in memory: copper,water");
  schema.integer("prefetch", options.prefetch, "Experts that are read ahead; absent: 1")
      .at_least(0)
      .at_most(64);
}

std::string surplus_flag(const ExpertFlags& options) {
  return options.router     ? "--router"
         : options.budget   ? "--budget"
         : options.pin      ? "--pin"
         : options.prefetch ? "--prefetch"
                            : "";
}

FrameFields::FrameFields(std::unique_ptr<ForceField> single, const ExpertFlags& flags)
    : single_(std::move(single)) {
  if (!single_) experts_ = std::make_unique<Experts>(flags);
}
FrameFields::~FrameFields() = default;

FrameFields::Choice FrameFields::choose(const Configuration& frame, const std::string& name) const {
  if (single_) return {};
  experts::Request request{name, {}, {}};
  const double n = frame.n_atoms();
  std::set<std::string> words;
  for (const auto& known : experts_->types)
    for (const auto& type : known) request.values["fraction_" + type] = 0;
  for (const int type : frame.types) {
    const auto& element = frame.type_names.at(type);
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
