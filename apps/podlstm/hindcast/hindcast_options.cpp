#include "apps/podlstm/hindcast/hindcast_options.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "apps/podlstm/hindcast/indices.hpp"
#include "io/config/schema.hpp"
#include "io/config/table.hpp"

namespace quintet::podlstm {

namespace {

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void describe_data(Schema& schema, HindcastOptions& options) {
  schema
      .text("modes", options.modes,
            "modes.h5 as `podlstm fit` writes it, the same at all origins; absent: modes of `fields`, fitted "
            "anew at each origin")
      .existing_file();
  schema.section("fields", options.fields,
                 "The record, as in `podlstm fit`: modes are fitted anew at each origin to the times before "
                 "it");
  schema.section("pod", options.pod, "The modes of `fields`");
  describe_points(schema, options.points);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.modes.empty() == options.fields.has_value()) return std::nullopt;
    return "modes, fields: give one of them, modes.h5 for the same modes at all origins or the record for "
           "modes that are fitted anew";
  });
}

// What may differ after a restart: forecasts stay as they are, only their judgement changes.
void describe_judgement(Schema& schema, HindcastOptions& options) {
  schema.section("verification", options.verification,
                 "The climatology of the whole record that all anomalies are judged about; no forecast knows "
                 "it");
  describe_block(schema, options.block).on_restart(OnRestart::free);
  schema.integer("draws", options.draws, "Draws of the bootstrap")
      .at_least(100)
      .at_most(100000)
      .on_restart(OnRestart::free);
  schema.text("against", options.against, "The method that all others are compared with")
      .on_restart(OnRestart::free);
  schema
      .integers("leads", options.leads,
                "First and last lead that are judged together; empty: the second half of all")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema.texts("indices", options.indices,
               fmt::format("Indices that are judged by themselves, where there is a grid: {}",
                           fmt::join(index_names(), ", ")));
  schema.sections("regions", options.regions, "Further boxes, whose means are judged");
  schema
      .section("maps", options.maps,
               "Scores at each point of the sea, marine heat waves and the reliability of terciles, where "
               "there is a grid; null: none")
      .on_restart(OnRestart::free);
  schema.integer("members", options.members, "Members of the ensemble in forecast.nc; 0: none, and no file")
      .at_least(0)
      .at_most(10000)
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Of their noise").at_least(0).on_restart(OnRestart::free);
}

/// What names of methods, indices and leads contradict each other, before anything is read.
std::optional<std::string> error_of(const HindcastOptions& options) {
  auto known = options.methods.names;
  if (options.methods.networks) {
    const std::string base = row_of(sequence::references(), options.methods.networks->forecast.base).name;
    const bool has_base = is_one_of(base, known);
    known.emplace_back("networks");
    if (has_base) known.emplace_back(earned_name);
    const bool wanted =
        options.against == earned_name || (options.mixture && is_one_of(earned_name, options.mixture->of));
    if (wanted && !has_base)
      return fmt::format("methods: {} needs the base of the networks, {}, among them", earned_name, base);
  }
  if (options.mixture) {
    for (const auto& part : options.mixture->of)
      if (!is_one_of(part, known))
        return fmt::format(
            "mixture.of: '{}' is not among the methods; expected some of {} (`mixture: null` leaves the "
            "mixture out)",
            part, fmt::join(known, ", "));
    known.emplace_back(mixture_name);
  }
  if (!is_one_of(options.against, known))
    return fmt::format("against: '{}' is not among the methods; expected one of {}", options.against,
                       fmt::join(known, ", "));
  if (options.fields && options.methods.networks && options.methods.networks->every > 1)
    return fmt::format(
        "networks.every: is {}, but the modes of `fields` are fitted anew at each origin, and networks of "
        "other modes cannot stay; expected 1, or `modes` in place of `fields`",
        options.methods.networks->every);
  if (options.fields && !options.fields->also.empty() && options.methods.networks &&
      options.methods.networks->forecast.network.is_graph())
    return std::string(
        "networks.network.kind: graph reads the field of one variable; leave fields.also out, or expect "
        "recurrent networks");
  for (const auto& name : options.indices)
    if (!is_one_of(name, index_names()))
      return fmt::format("indices: '{}' is no index; expected some of {}", name,
                         fmt::join(index_names(), ", "));
  const auto& leads = options.leads;
  const bool good =
      leads.empty() || (leads.size() == 2 && leads[0] <= leads[1] && leads[1] <= options.window.out);
  if (!good)
    return fmt::format("leads: expected the first and last lead, within 1 to window.out: {}",
                       options.window.out);
  for (std::size_t i = 0; options.maps && i < options.maps->leads.size(); ++i) {
    const auto& own = options.maps->leads;
    if (own[i] > options.window.out || (i > 0 && own[i] <= own[i - 1]))
      return fmt::format("maps.leads: expected leads in ascending order, within 1 to window.out: {}",
                         options.window.out);
  }
  return std::nullopt;
}

}  // namespace

HindcastOptions::HindcastOptions() : mixture(MixtureOptions()), indices(index_names()) {
  verification.trend = 0;
}

void describe(Schema& schema, MixtureOptions& options) {
  schema.texts("of", options.of, "The methods that are mixed").length(2);
  schema
      .number("pull", options.pull,
              "Pull of the weights towards equal ones, in units of the mean square error of the methods")
      .at_least(0);
}

void describe(Schema& schema, MapsOptions& options) {
  schema
      .integers("leads", options.leads,
                "Leads that have maps; empty: the first and last of those that are judged together")
      .at_least(1)
      .on_restart(OnRestart::free)
      .example("[1, 8]");
}

void describe(Schema& schema, HindcastOptions& options) {
  describe_data(schema, options);
  schema.section("window", options.window, "Length of a forecast's past and future");
  schema.section("origins", options.origins, "When all methods are fitted anew");
  schema.choice("irregular_steps", options.irregular, choices_of(sequence::irregular_rows()),
                "A step of time unlike the others: avoid lets no window or memory cross it");
  describe(schema, options.methods);
  schema.section("mixture", options.mixture,
                 "A further method, `mixture`: a mean of others with weights for each lead that minimise the "
                 "errors after earlier origins, of those that could be fitted; null: none");
  describe_judgement(schema, options);
  describe(schema, options.checkpoints);
  schema.check([&options] { return error_of(options); });
}

sequence::WindowShape leads_of(const HindcastOptions& options) {
  if (!options.leads.empty()) return {static_cast<int>(options.leads[0]), static_cast<int>(options.leads[1])};
  return {std::max(1, options.window.out / 2), options.window.out};
}

}  // namespace quintet::podlstm
