#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"

/// Options with every kind of key, as an application would write them.
namespace sample {

using quintet::Schema;

enum class Ensemble { nve, nvt, npt };

struct Time {
  double dt = 0.0005;
  std::int64_t steps = 0;
};

inline void describe(Schema& schema, Time& o) {
  schema.quantity("dt", o.dt, "ps", "Time step").above(0).at_most(0.1).example("0.5 fs");
  schema.integer("steps", o.steps, "Number of steps").required().at_least(0);
}

struct Barostat {
  std::vector<double> pressure = {1, 1, 1};
  std::optional<double> relaxation;
};

inline void describe(Schema& schema, Barostat& o) {
  schema.quantities("pressure", o.pressure, "bar", "Target pressure along x, y, z").length(3, 3);
  schema.quantity("relaxation", o.relaxation, "ps", "Relaxation time").above(0);
}

struct Observer {
  std::string name = "thermo";
  int every = 100;
};

inline void describe(Schema& schema, Observer& o) {
  schema.text("name", o.name, "What to observe");
  schema.integer("every", o.every, "Steps between records").at_least(1);
}

struct Run {
  Time time;
  Ensemble ensemble = Ensemble::nve;
  std::optional<Barostat> barostat;
  std::vector<Observer> observers;
  std::vector<std::int64_t> replicate = {1, 1, 1};
  std::vector<std::string> types;
  std::vector<double> weights = {0.1, 1.0 / 3.0};
  double temperature = 300;
  double fraction = 0.5;
  double cutoff = 6;
  std::optional<double> tolerance;
  std::optional<std::int64_t> seed;
  std::optional<std::string> label;
  std::optional<std::string> model;
  bool wrap = true;
};

inline void describe(Schema& schema, Run& o) {
  schema.section("time", o.time, "How time advances");
  schema.choice("ensemble", o.ensemble,
                {{"nve", Ensemble::nve}, {"nvt", Ensemble::nvt}, {"npt", Ensemble::npt}},
                "Thermodynamic ensemble");
  schema.section("barostat", o.barostat, "Pressure control");
  schema.sections("observers", o.observers, "What is recorded");
  schema.integers("replicate", o.replicate, "Copies along each cell vector").length(3, 3).at_least(1);
  schema.texts("types", o.types, "Chemical symbols");
  schema.numbers("weights", o.weights, "Weights | of parts").at_least(0);
  schema.quantity("temperature", o.temperature, "K", "Temperature").at_least(0);
  schema.quantity("fraction", o.fraction, "1", "A fraction").at_least(0).at_most(1);
  schema.quantity("cutoff", o.cutoff, "angstrom", "Cutoff radius").above(0);
  schema.number("tolerance", o.tolerance, "Tolerance").above(0).below(1);
  schema.integer("seed", o.seed, "Seed of the random numbers");
  schema.text("label", o.label, "Free text");
  schema.text("model", o.model, "Model file").existing_file();
  schema.flag("wrap", o.wrap, "Wrap positions into the cell");
  schema.check([&o]() -> std::optional<std::string> {
    if (o.ensemble == Ensemble::npt && !o.barostat) return "ensemble npt needs a section 'barostat'";
    return std::nullopt;
  });
}

/// Options from a YAML text called run.yaml.
inline Run parse(const std::string& text) {
  Run run;
  quintet::parse_options(quintet::parse_yaml(text, "run.yaml"), quintet::described(run));
  return run;
}

/// The message of the InputError that `work` throws; "" if it throws none.
template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const quintet::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace sample
