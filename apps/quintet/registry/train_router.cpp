#include "apps/quintet/registry/train_router.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "io/files/input_file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/experts/registry.hpp"

namespace quintet::commands {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    const auto first = cell.find_first_not_of(" \t\r"), last = cell.find_last_not_of(" \t\r");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// Every column but `expert` is a key that the router sees; an unknown expert ends here, where the line is
// known.
experts::RouterExamples read_examples(const std::string& table, const experts::Registry& registry) {
  std::istringstream stream(read_input_file(table));
  std::string line;
  std::getline(stream, line);
  const auto names = cells_of(line);
  const auto label = std::find(names.begin(), names.end(), "expert") - names.begin();
  QUINTET_CHECK(label < std::ssize(names) && names.size() > 1,
                "{}:1: expected names of keys and 'expert', such as Ra,Pr,expert", table);
  experts::RouterExamples examples;
  for (const auto& name : names)
    if (name != "expert") examples.by.push_back(name);
  for (int number = 2; std::getline(stream, line); ++number) {
    const auto cells = cells_of(line);
    if (cells.empty()) continue;
    QUINTET_CHECK(cells.size() == names.size(), "{}:{}: {}; expected {}", table, number,
                  counted(cells.size(), "value"), names.size());
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const auto& cell = cells[k];
      if (static_cast<std::ptrdiff_t>(k) == label) {
        static_cast<void>(registry.find(cell));
        const auto at = std::find(examples.ids.begin(), examples.ids.end(), cell);
        examples.labels.push_back(at - examples.ids.begin());
        if (at == examples.ids.end()) examples.ids.push_back(cell);
        continue;
      }
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      QUINTET_CHECK(error == std::errc() && end == cell.data() + cell.size() && std::isfinite(value),
                    "{}:{}: '{}' is no finite number", table, number, cell);
      examples.rows.push_back(value);
    }
  }
  return examples;
}

/// Every fifth row, or the others.
experts::RouterExamples part_of(const experts::RouterExamples& all, bool fifth) {
  experts::RouterExamples part{all.by, all.ids, {}, {}};
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    if ((i % 5 == 4) != fifth) continue;
    part.labels.push_back(all.labels[i]);
    const auto row = all.rows.begin() + i * all.by.size();
    part.rows.insert(part.rows.end(), row, row + all.by.size());
  }
  return part;
}

}  // namespace

void train_router_on(const std::string& registry, const std::string& table) {
  const auto known = experts::Registry::read(Comm::self(), registry);
  const auto examples = read_examples(table, known);
  QUINTET_CHECK(!examples.ids.empty(), "{}: there are no rows in it", table);
  const auto app_of = [&](const std::string& id) { return known.experts()[known.find(id)].app; };
  for (const auto& id : examples.ids)
    QUINTET_CHECK(app_of(id) == app_of(examples.ids.front()),
                  "{}: {} is a model of {}, {} one of {}; a router chooses among those of one application",
                  table, id, app_of(id), examples.ids.front(), app_of(examples.ids.front()));
  const auto held_out = part_of(examples, true);
  const auto network = experts::train_router(app_of(examples.ids.front()), part_of(examples, false));
  experts::write_router(registry, network);
  log::info(
      "{}: a router among {} by {}, right about {:.1f} % of {} and {:.1f} % of {} that it was not trained on",
      registry, counted(network.ids.size(), "expert"), counted(network.by.size(), "key"),
      100 * experts::accuracy(network, examples), counted(examples.labels.size(), "example"),
      100 * experts::accuracy(network, held_out), held_out.labels.size());
}

}  // namespace quintet::commands
