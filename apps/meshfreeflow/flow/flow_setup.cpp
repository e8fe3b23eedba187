#include "apps/meshfreeflow/flow/flow_setup.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/formula/formula.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/spectral/wave_statistics.hpp"

namespace quintet::meshfreeflow::periodic {

using namespace spectral;

FlowText flow_text(const std::string& name, const FormulaText& formula, const std::string& key) {
  const auto place = formula.place.text();
  return {name, formula.text, place.empty() ? key : place + ": " + key};
}

std::vector<FlowText> flow_texts(const NamedFormulas& formulas, const std::string& key) {
  std::vector<FlowText> texts;
  for (const auto& [name, formula] : formulas) texts.push_back(flow_text(name, formula, key + "." + name));
  return texts;
}

namespace {

Box box_of(const FlowOptions& options, const std::map<std::string, double>& parameters) {
  const auto length = [&](int axis) {
    const auto& formula = options.box.lengths[axis];
    const FlowText text = flow_text("", formula, fmt::format("box.lengths.{}", axis));
    const double value = Formula(text.text, {}, parameters, text.what)({});
    QUINTET_CHECK(std::isfinite(value) && value > 0, "{}: '{}' is {:g}; expected a length above 0", text.what,
                  text.text, value);
    return value;
  };
  const auto cells = [&](int axis) {
    const int n = options.box.cells[axis];
    QUINTET_CHECK(Fft::possible(n),
                  "box.cells.{} = {} has a prime factor above {}: no fast transform; {} has one", axis, n,
                  Fft::most_prime, Fft::next_possible(n));
    return n;
  };
  return {length(0), length(1), cells(0), cells(1), options.box.dealias};
}

FlowEquations equations_of(const FlowOptions& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, formula] : options.parameters) texts.emplace_back(name, formula.text);
  return {flow_texts(options.equations, "equations"), flow_texts(options.diagnosed, "diagnosed"),
          evaluate_constants(texts, "parameters")};
}

/// Number of a variable. Throws InputError.
std::size_t variable_of(const FlowOptions& options, const std::string& name, const std::string& key) {
  std::vector<std::string> names;
  for (const auto& [one, formula] : options.equations) names.push_back(one);
  const auto found = std::find(names.begin(), names.end(), name);
  QUINTET_CHECK(found != names.end(), "{}: '{}' is no variable{} (equations: {})", key, name,
                did_you_mean(name, names), name_list(names));
  return found - names.begin();
}

/// Formulas of the start know no fields, which they make, and no time, which is 0.
void fill_start(const FlowOptions& options, const std::map<std::string, double>& parameters,
                PeriodicFlow& flow) {
  FlowReader reader(FlowEquations{{}, {}, parameters, false});
  std::vector<FlowValue> values;
  std::vector<std::size_t> variables;
  for (const auto& text : flow_texts(options.start, "start")) {
    variables.push_back(variable_of(options, text.name, text.what));
    values.push_back(reader.read(text));
  }
  FlowMachine machine(flow.grid(), reader.program(), values);
  machine.run({}, 0);
  for (int m = 0; m < flow.n_members(); ++m)
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Modes& modes = flow.state(m)[variables[i]];
      machine.to_modes(i, modes);
      QUINTET_CHECK(std::isfinite(tail_share(flow.grid(), modes)), "start.{}: is not finite everywhere",
                    options.start[i].first);
    }
}

void add_noises(const FlowOptions& options, PeriodicFlow& flow) {
  for (std::size_t i = 0; i < options.noise.size(); ++i) {
    const auto& row = options.noise[i];
    const Noise noise{row.rms, row.least_wave, row.most_wave};
    const auto variable = variable_of(options, row.variable, fmt::format("noise.{}.variable", i));
    QUINTET_CHECK(
        row.most_wave <= std::min(flow.grid().waves_x(), flow.grid().waves_y()),
        "noise.{}.most_wave {:g}: box.cells keep waves up to {} x {}; expected no more than the lesser", i,
        row.most_wave, flow.grid().waves_x(), flow.grid().waves_y());
    QUINTET_CHECK(n_waves_of(noise, flow.grid().waves_x(), flow.grid().waves_y()) > 0,
                  "noise.{}: no wave has a number in [{:g}, {:g}]", i, row.least_wave, row.most_wave);
    for (int m = 0; m < flow.n_members(); ++m)
      add_noise(flow.grid(), noise, options.seeds[m], i, flow.state(m)[variable]);
  }
}

void check_seeds(const FlowOptions& options) {
  for (const auto seed : options.seeds)
    QUINTET_CHECK(std::count(options.seeds.begin(), options.seeds.end(), seed) == 1,
                  "seeds: {} is there twice; each flow needs its own", seed);
  QUINTET_CHECK(options.seeds.size() == 1 || !options.noise.empty(),
                "seeds: {} flows without noise are all the same; give noise, or one seed",
                options.seeds.size());
}

int waves_x(const Box& box) { return row_of(dealias_rows(), box.dealias).waves(box.n_x); }

}  // namespace

int most_ranks(const FlowOptions& options) {
  const Box box = box_of(options, equations_of(options).parameters);
  return std::min(waves_x(box) + 1, box.n_y);
}

double bytes_of_rank(const FlowOptions& options, int n_ranks) {
  const FlowEquations equations = equations_of(options);
  const Box box = box_of(options, equations.parameters);
  const double cells = static_cast<double>(box.n_x) * box.n_y / n_ranks;
  const double n_fields = equations.variables.size() + equations.diagnosed.size();
  const int n_flows = options.seeds.size();
  return PeriodicFlow::bytes(n_ranks, box, FlowReader(equations), n_flows) +
         3 * sizeof(double) * cells * n_fields + bytes_of_writing + (n_ranks > 1 ? bytes_of_messages : 0);
}

std::unique_ptr<PeriodicFlow> make_flow(const Context& context, const FlowOptions& options) {
  QUINTET_CHECK(!options.equations.empty(),
                "equations: none; expected at least one, such as {{w: nu*lap(w)}}");
  check_seeds(options);
  const FlowEquations equations = equations_of(options);
  const Box box = box_of(options, equations.parameters);
  const auto& comm = context.comm();
  const int most = most_ranks(options);
  QUINTET_CHECK(
      comm.size() <= most,
      "{} ranks share {} waves along x and {} rows of cells; start at most {}, or give box.cells more",
      comm.size(), waves_x(box) + 1, box.n_y, most);
  context.require_memory(bytes_of_rank(options, comm.size()), "the flows and their frames");
  std::vector<FlowText> speeds;
  for (std::size_t i = 0; i < options.time.speeds.size(); ++i)
    speeds.push_back(flow_text("", options.time.speeds[i], fmt::format("time.speeds.{}", i)));
  auto flow = std::make_unique<PeriodicFlow>(comm, box, FlowReader(equations), speeds,
                                             static_cast<int>(options.seeds.size()));
  fill_start(options, equations.parameters, *flow);
  add_noises(options, *flow);
  return flow;
}

std::string description(const FlowOptions& options, const PeriodicFlow& flow) {
  std::vector<std::string> names;
  for (const auto& [name, formula] : options.equations) names.push_back(name);
  return fmt::format("{} on {} x {} cells of {:.4g} x {:.4g}, {} x {} waves", fmt::join(names, ", "),
                     flow.box().n_x, flow.box().n_y, flow.box().length_x, flow.box().length_y,
                     flow.grid().waves_x(), flow.grid().waves_y());
}

}  // namespace quintet::meshfreeflow::periodic
