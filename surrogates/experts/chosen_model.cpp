#include "surrogates/experts/chosen_model.hpp"

#include "io/config/schema.hpp"
#include "io/log/log.hpp"

namespace quintet::experts {

void describe_model(Schema& schema, std::string& model, std::optional<ExpertsOptions>& experts,
                    const std::string& doc) {
  schema.text("model", model, doc + ", or registry.h5:ID, an expert of a registry; or leave it to `experts`")
      .existing_file();
  schema.section("experts", experts, "A registry of models, of which a router chooses one");
  schema.check([&model, &experts]() -> std::optional<std::string> {
    if (model.empty() == experts.has_value()) return std::nullopt;
    return model.empty() ? "no model: name one as `model`, or a registry as `experts: {registry: FILE}`"
                         : "give `model` or `experts`, not both";
  });
}

ChosenModel chosen_model(const Comm& comm, const std::string& model,
                         const std::optional<ExpertsOptions>& experts, const std::string& app,
                         const Request& request) {
  if (!experts) return {model, "", "", false};
  const auto registry = Registry::read(comm, experts->registry);
  const auto choice = Router(registry, app, experts->router).choose(request);
  ChosenModel chosen{registry.name_of(choice.expert), registry.experts()[choice.expert].id, choice.reason,
                     choice.outside};
  if (choice.outside)
    log::warning("Expert {}: {}", chosen.expert, chosen.reason);
  else
    log::info("Expert {}: {}", chosen.expert, chosen.reason);
  return chosen;
}

}  // namespace quintet::experts
