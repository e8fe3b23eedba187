#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "physics/spectral/periodic_flow.hpp"

namespace quintet::spectral::testing {

using Texts = std::vector<std::pair<std::string, std::string>>;
inline constexpr double pi = std::numbers::pi;

inline std::vector<FlowText> flow_texts(const Texts& texts) {
  std::vector<FlowText> all;
  for (const auto& [name, text] : texts) all.push_back({name, text, name});
  return all;
}

inline FlowEquations equations(const Texts& variables, const Texts& diagnosed = {},
                               const std::map<std::string, double>& parameters = {}) {
  return {flow_texts(variables), flow_texts(diagnosed), parameters};
}

/// Flows of the vorticity w, and with the potential a of a magnetic field.
inline FlowEquations vorticity(double nu) {
  return equations({{"w", "-u*dx(w) - v*dy(w) + nu*lap(w)"}},
                   {{"psi", "-inverse_lap(w)"}, {"u", "dy(psi)"}, {"v", "-dx(psi)"}}, {{"nu", nu}});
}
inline FlowEquations magnetic(double nu, double eta) {
  return equations({{"w", "-u*dx(w) - v*dy(w) + b_x*dx(j) + b_y*dy(j) + nu*lap(w)"},
                    {"a", "-u*dx(a) - v*dy(a) + eta*lap(a)"}},
                   {{"psi", "-inverse_lap(w)"},
                    {"u", "dy(psi)"},
                    {"v", "-dx(psi)"},
                    {"b_x", "dy(a)"},
                    {"b_y", "-dx(a)"},
                    {"j", "-lap(a)"}},
                   {{"nu", nu}, {"eta", eta}});
}

/// Give flow `member` the values of formulas of x and y, one a variable.
inline void start(PeriodicFlow& flow, const std::vector<std::string>& formulas, int member = 0) {
  FlowReader reader(FlowEquations{{}, {}, flow.reader().equations().parameters});
  std::vector<FlowValue> values;
  for (const auto& text : formulas) values.push_back(reader.read({"start", text, "start"}));
  FlowMachine machine(flow.grid(), reader.program(), values);
  machine.run({}, 0);
  for (std::size_t v = 0; v < formulas.size(); ++v) machine.to_modes(v, flow.state(member)[v]);
}

inline void advance(PeriodicFlow& flow, double end, int steps) {
  const double begin = flow.time(), h = (end - begin) / steps;
  for (int i = 1; i <= steps; ++i) {
    flow.begin_step();
    flow.advance(h, i == steps ? end : begin + h * i);
  }
}

/// The mean, and the greatest absolute value, of an expression.
struct Looked {
  double mean, most;
};
inline Looked look(const PeriodicFlow& flow, const std::string& text, int member = 0) {
  FlowReader reader = flow.reader();
  const FlowValue value = reader.read({"look", text, "look"});
  const FlowValue size = reader.program().on_points(reader.read({"look", "abs(" + text + ")", "look"}));
  FlowMachine machine(flow.grid(), reader.program(), {value, size});
  machine.run(flow.state(member), flow.time());
  return {machine.mean(0), machine.maximum(1)};
}

}  // namespace quintet::spectral::testing
