#include "apps/campaign/sweep.hpp"

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

/// A value on one line, as --set takes it.
std::string setting_text(const Tree& value) {
  if (value.is_scalar()) return value.quoted() ? to_json(value, 0) : value.as_text();
  return to_json(value, 0);
}

}  // namespace

std::vector<SweepPoint> sweep_points(const Tree& document) {
  constexpr std::size_t most = 1'000'000;
  std::vector<SweepPoint> points = {{}};
  const Tree* sweep = document.is_map() ? document.find("sweep") : nullptr;
  if (sweep == nullptr) return points;
  QUINTET_CHECK(sweep->is_map() && !sweep->entries().empty(),
                "{}: sweep: expected keys with lists of values such as {{integrator.temperature: [300 K, 320 "
                "K]}}, found {}",
                sweep->location().text(), sweep->found());
  for (const auto& [key, values] : sweep->entries()) {
    QUINTET_CHECK(values.is_list() && !values.items().empty(),
                  "{}: sweep.{}: expected a list of values, found {}", values.location().text(), key,
                  values.found());
    QUINTET_CHECK(points.size() <= most / values.items().size(), "{}: sweep: more than {}",
                  sweep->location().text(), counted(most, "point"));
    std::vector<SweepPoint> next;
    for (const auto& point : points)
      for (const auto& value : values.items()) {
        next.push_back(point);
        next.back().push_back(key + "=" + setting_text(value));
      }
    points = std::move(next);
  }
  return points;
}

Tree without_sweep(const Tree& document) {
  if (!document.is_map()) return document;
  Tree rest = Tree::map();
  for (const auto& [key, value] : document.entries())
    if (key != "sweep") rest.set(key, value);
  rest.set_location(document.location());
  return rest;
}

}  // namespace quintet
