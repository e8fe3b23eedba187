#include "apps/quintet/bench/flags.hpp"

#include "apps/application/cli/option_flags.hpp"
#include "apps/quintet/bench/metg.hpp"
#include "io/config/suggest.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::bench {
namespace {

using Flags = std::vector<Application::Flag>;

enum Place : std::size_t { what, file, app, set, n_words };

const Flags words = {
    {"WHAT", "metg: how short tasks may be before half of the time is lost", true, ""},
    {"FILE", "with --app: its input, the largest case", false, ""},
    {"--app", "measure the own step of vlasov, dpmd or submatrix, with ever fewer cells or atoms a rank",
     false, ""},
    {"--set", "with --app: KEY.PATH=VALUE put over FILE (repeatable)", false, ""}};

template <class Options>
Flags own_flags() {
  Options options;
  return flags_of(described(options));
}

/// The groups of flags in their order, each with the place of its first one.
struct Groups {
  Flags shared = own_flags<MetgOptions>(), graph = own_flags<GraphMetgOptions>(),
        application = own_flags<ApplicationMetgOptions>();
  [[nodiscard]] std::size_t first_graph() const { return n_words + shared.size(); }
  [[nodiscard]] std::size_t first_application() const { return first_graph() + graph.size(); }
};

/// The name of the first of these flags that is given, or "".
std::string given(const Application::Arguments& arguments, const Flags& flags, std::size_t first) {
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (!arguments.at(first + i).empty()) return flags[i].name;
  return "";
}

void refuse_if(const std::string& flag, const char* why) {
  if (!flag.empty()) throw UsageError(fmt::format("quintet bench metg: {} {}", flag, why));
}

void require_metg(const Application::Arguments& arguments) {
  const auto& word = arguments[what].front();
  if (word != "metg")
    throw UsageError(
        fmt::format("quintet bench: there is no '{}'{}; there is: metg", word, did_you_mean(word, {"metg"})));
}

}  // namespace

Flags flags() {
  Flags all = words;
  const Groups groups;
  for (const auto* group : {&groups.shared, &groups.graph, &groups.application})
    all.insert(all.end(), group->begin(), group->end());
  return all;
}

void parse_graph_flags(const Application::Arguments& arguments, MetgOptions& options,
                       GraphMetgOptions& graph) {
  require_metg(arguments);
  const Groups groups;
  constexpr auto why = "is for the step of an application: --app says which";
  for (const auto place : {file, set}) refuse_if(arguments[place].empty() ? "" : words[place].name, why);
  refuse_if(given(arguments, groups.application, groups.first_application()), why);
  parse_flags(arguments, n_words, described(options));
  parse_flags(arguments, groups.first_graph(), described(graph));
}

ApplicationWords parse_application_flags(const Application::Arguments& arguments, MetgOptions& options,
                                         ApplicationMetgOptions& application) {
  require_metg(arguments);
  const Groups groups;
  refuse_if(given(arguments, groups.graph, groups.first_graph()), "is for graphs of tasks, not for --app");
  if (arguments[file].empty()) throw UsageError("quintet bench metg --app: the input file is missing");
  parse_flags(arguments, n_words, described(options));
  parse_flags(arguments, groups.first_application(), described(application));
  return {arguments[app].front(), arguments[file].front(), arguments[set]};
}

}  // namespace quintet::bench
