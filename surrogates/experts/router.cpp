#include "surrogates/experts/router.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::experts {
namespace {

struct KindRow {
  RouterKind value;
  const char *name, *doc;
};
constexpr KindRow kinds[] = {
    {RouterKind::rule, "rule", "the first of `order`; without an order one alone may hold it"},
    {RouterKind::nearest, "nearest", "the one whose range has its middle nearest"},
    {RouterKind::network, "network",
     "the one that the registry's network, by the keys it was trained on, finds most likely"}};
struct OutsideRow {
  Outside value;
  const char *name, *doc;
};
constexpr OutsideRow outsides[] = {{Outside::refuse, "refuse", "refuse it"},
                                   {Outside::nearest, "nearest", "take the one whose range is nearest"},
                                   {Outside::fallback, "fallback", "take the one that `fallback` names"}};

/// "rule: the first ...; nearest: the one ..."
template <class Table>
std::string docs_of(const Table& table) {
  std::string text;
  for (const auto& row : table) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", row.name, row.doc);
  return text;
}

/// A value as the expert's range counts it: longitudes (degrees) by whole turns nearest to the range's
/// middle.
double counted_as(const KeyRange& range, double value) {
  if (range.key != "longitude") return value;
  return value + 360 * std::round(((range.least + range.most) / 2 - value) / 360);
}

/// "type O H, modes 12ab"
std::string words_text(const Request& request) {
  std::vector<std::string> all;
  for (const auto& [key, words] : request.words)
    all.push_back(fmt::format("{} {}", key, fmt::join(words, " ")));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

void describe(Schema& schema, RouterOptions& options) {
  schema.choice("kind", options.kind, choices_of(kinds),
                "Who answers a request that several experts' ranges hold: " + docs_of(kinds));
  schema.texts("by", options.by, "Keys of the experts' ranges that count").example("[Ra, Pr]");
  schema.texts("order", options.order, "IDs, the one to be asked first in front (kind: rule)");
  schema.choice("outside", options.outside, choices_of(outsides),
                "A request that no expert's range holds: " + docs_of(outsides));
  schema.text("fallback", options.fallback, "ID of the expert that answers such a request");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.outside == Outside::fallback && options.fallback.empty())
      return "outside: fallback needs the ID of an expert: fallback: ID";
    if (options.outside != Outside::fallback && !options.fallback.empty())
      return "fallback is for outside: fallback";
    if (options.kind != RouterKind::rule && !options.order.empty()) return "order is for kind: rule";
    if (options.by.empty() && (options.kind == RouterKind::nearest || options.outside == Outside::nearest))
      return "nearest needs keys to measure a distance by: by: [KEY]";
    return std::nullopt;
  });
}

void describe(Schema& schema, ExpertsOptions& options) {
  schema.text("registry", options.registry, "A file of many models, which `quintet registry` makes")
      .required()
      .existing_file()
      .example("models.h5");
  schema.section("router", options.router, "Which of them answers");
}

Router::Router(const Registry& registry, std::string app, RouterOptions options)
    : registry_(registry), app_(std::move(app)), options_(std::move(options)) {
  const auto require = [&](const std::string& id, const char* key) {
    const int number = registry.find(id);
    QUINTET_CHECK(expert(number).app == app_, "{}: {}:{} is a model of {}; expected one of {}", key,
                  registry.path(), id, expert(number).app, app_);
    return number;
  };
  for (const auto& id : options_.order) experts_.push_back(require(id, "order"));
  for (int i = 0; i < std::ssize(registry.experts()); ++i)
    if (expert(i).app == app_ && std::find(experts_.begin(), experts_.end(), i) == experts_.end())
      experts_.push_back(i);
  QUINTET_CHECK(!experts_.empty(), "{}: holds no model of {}; 'quintet registry add' puts one in",
                registry.path(), app_);
  if (!options_.fallback.empty()) static_cast<void>(require(options_.fallback, "fallback"));
  if (options_.kind == RouterKind::network) {
    QUINTET_CHECK(registry.router() && registry.router()->app == app_,
                  "kind: network: {} has no router of {}; 'quintet registry train-router' makes one",
                  registry.path(), app_);
    if (options_.by.empty()) options_.by = registry.router()->by;
  }
  std::vector<std::string> known;
  for (const int i : experts_)
    for (const auto& range : expert(i).range)
      if (std::find(known.begin(), known.end(), range.key) == known.end()) known.push_back(range.key);
  for (const auto& key : options_.by)
    QUINTET_CHECK(std::find(known.begin(), known.end(), key) != known.end(),
                  "by: no expert of {} has a range of '{}'{}; there {}", registry.path(), key,
                  did_you_mean(key, known), known.empty() ? "are none" : "are: " + name_list(known));
}

double Router::distance(const Expert& one, const Request& request, const std::vector<int>& candidates,
                        bool to_middle) const {
  double square = 0;
  for (const auto& key : options_.by) {
    const KeyRange* range = one.range_of(key);
    if (!range) return std::numeric_limits<double>::infinity();
    double least = range->least, most = range->most;
    for (const int i : candidates)
      if (const KeyRange* other = expert(i).range_of(key)) {
        least = std::min(least, other->least);
        most = std::max(most, other->most);
      }
    const double value = counted_as(*range, request.values.at(key));
    const bool logarithms = least > 0 && most / least >= 100 && value > 0;
    const auto scaled = [&](double x) { return logarithms ? std::log(x) : x; };
    const double x = scaled(value), low = scaled(range->least), high = scaled(range->most);
    const double nearest = to_middle ? (low + high) / 2 : std::clamp(x, low, high);
    const double width = scaled(most) - scaled(least);
    square += std::pow((x - nearest) / (width > 0 ? width : std::max(1.0, std::abs(nearest))), 2);
  }
  return std::sqrt(square);
}

std::string Router::text_of(const Expert& one, const Request& request) const {
  std::vector<std::string> parts;
  for (const auto& key : options_.by) {
    const auto value = request.values.find(key);
    const KeyRange* range = one.range_of(key);
    parts.push_back(fmt::format("{} = {}", key,
                                value == request.values.end() ? "?" : fmt::format("{:.6g}", value->second)) +
                    (range ? fmt::format(" ({:.6g} to {:.6g})", range->least, range->most) : " (no range)"));
  }
  if (!request.words.empty()) parts.push_back(words_text(request));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Choice Router::most_likely(const std::vector<int>& inside, const Request& request) const {
  const auto& network = *registry_.router();
  for (const auto& key : network.by)
    QUINTET_CHECK(request.values.contains(key), "{}: its {} is not known, by which the router was trained",
                  request.name, key);
  const auto p = network.probabilities(request.values);
  int best = -1;
  double most = -1;
  for (const int i : inside) {
    const auto at = std::find(network.ids.begin(), network.ids.end(), expert(i).id) - network.ids.begin();
    if (at == std::ssize(p) || p[at] <= most) continue;
    best = i;
    most = p[at];
  }
  QUINTET_CHECK(best >= 0, "{}: the router was not trained with {}; train it again", request.name,
                expert(inside.front()).id);
  return {best, false, fmt::format("probability {:.3f}: {}", most, text_of(expert(best), request))};
}

Choice Router::choose(const Request& request) const {
  std::vector<int> candidates, inside;
  for (const auto& key : options_.by)
    QUINTET_CHECK(request.values.contains(key) && std::isfinite(request.values.at(key)),
                  "{}: its {} is not known, by which experts are chosen (router.by)", request.name, key);
  for (const int i : experts_) {
    const bool knows = std::all_of(request.words.begin(), request.words.end(), [&](const auto& entry) {
      return expert(i).knows(entry.first, entry.second);
    });
    if (!knows) continue;
    candidates.push_back(i);
    const bool holds = std::all_of(options_.by.begin(), options_.by.end(), [&](const auto& key) {
      const KeyRange* range = expert(i).range_of(key);
      if (!range) return false;
      const double value = counted_as(*range, request.values.at(key));
      return value >= range->least && value <= range->most;
    });
    if (holds) inside.push_back(i);
  }
  const auto nearest = [&](const std::vector<int>& among, bool to_middle) {
    return *std::min_element(among.begin(), among.end(), [&](int a, int b) {
      return distance(expert(a), request, candidates, to_middle) <
             distance(expert(b), request, candidates, to_middle);
    });
  };
  const auto chosen = [&](int number, bool outside, const std::string& how) {
    return Choice{number, outside, fmt::format("{}: {}", how, text_of(expert(number), request))};
  };
  if (!inside.empty()) {
    if (options_.kind == RouterKind::network) return most_likely(inside, request);
    if (options_.kind == RouterKind::nearest) return chosen(nearest(inside, true), false, "nearest middle");
    const auto ordered = std::find(options_.order.begin(), options_.order.end(), expert(inside.front()).id);
    if (inside.size() == 1 || ordered != options_.order.end())
      return chosen(inside.front(), false, "inside its range");
    std::vector<std::string> ids;
    for (const int i : inside) ids.push_back(expert(i).id);
    throw InputError(fmt::format("{}: {} would answer; say who comes first (router.order)", request.name,
                                 fmt::join(ids, " and ")));
  }
  if (options_.outside == Outside::fallback) {
    const int number = registry_.find(options_.fallback);
    if (std::find(candidates.begin(), candidates.end(), number) != candidates.end())
      return chosen(number, true, "the fallback, outside its range");
  }
  if (options_.outside == Outside::nearest && !candidates.empty()) {
    const int number = nearest(candidates, false);
    if (std::isfinite(distance(expert(number), request, candidates, false)))
      return chosen(number, true, "nearest, outside its range");
  }
  refuse(request, candidates);
}

void Router::refuse(const Request& request, const std::vector<int>& candidates) const {
  constexpr std::size_t most = 8;
  std::vector<std::string> known;
  for (const int i : candidates.empty() ? experts_ : candidates) {
    std::string text = candidates.empty() ? " knows" : " (" + text_of(expert(i), request) + ")";
    if (candidates.empty())
      for (const auto& [key, word] : expert(i).words)
        if (request.words.contains(key)) text += " " + word;
    if (known.size() < most) known.push_back(expert(i).id + text);
  }
  throw InputError(fmt::format("{}: no expert of {} {}; there are: {}", request.name, registry_.path(),
                               candidates.empty() ? "knows " + words_text(request) : "is valid for it",
                               fmt::join(known, ", ")));
}

}  // namespace quintet::experts
