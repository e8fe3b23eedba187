#include <cmath>

#include "io/parallel/comm.hpp"
#include "surrogates/search/store.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/integer_gene.hpp"

/// Readers of podlstm's trained models, of trainings that go on, and of the trials of a search.
namespace quintet::fuzz {
namespace {

constexpr int n_modes = 2;

/// Forty weeks of 2024.
CoefficientSeries series() {
  CoefficientSeries series;
  series.n_modes = n_modes;
  for (int t = 0; t < 40; ++t) {
    series.time.push_back(81815 + 7.0 * t);
    for (int m = 0; m < n_modes; ++m) series.values.push_back(0.1 * t - m);
  }
  return series;
}

sequence::ForecastModel model(sequence::Head head, int members) {
  sequence::ForecastModel model;
  model.shape = {4, 3};
  model.step = {7, 0};
  model.modes = "0123";
  model.trained_from = 66410, model.trained_until = 78000, model.validated_until = 80000;
  model.seasons = 1;
  auto& base = model.base;
  base.name = "ridge";
  base.out = model.shape.out;
  base.features = {2, {3}, 1};
  base.climatology = sequence::Climatology(1, n_modes, 72000, 66410, 78000, 90000,
                                           std::vector<double>(std::size_t{4} * n_modes, 0.5));
  base.offset.assign(std::int64_t{base.out} * n_modes, 0.25);
  base.weights.assign(base.features.count(n_modes) * base.offset.size(), 0.125);
  model.input = model.output = {{0, 1}, {1, 2}};
  model.architecture = sequence::make_architecture({{"3", "identity", "dense 2"}, {"0->2", "1->3"}, head},
                                                   model.n_inputs(), n_modes, model.shape.out);
  model.members.assign(members, std::vector<double>(graph_of(model.architecture).n_parameters, 0.0625));
  return model;
}

std::vector<std::string> models() {
  std::vector<std::string> files;
  for (const int members : {0, 2})
    files.push_back(written("model.h5", [&](const std::string& path) {
      sequence::write_forecast_model(Comm::self(), path, model(sequence::Head::last_state, members),
                                     hdf5::current_provenance());
      leave_seal(path);
    }));
  return files;
}

/// What `forecast` and `evaluate` do with a model.
void read_model(const std::string& path) {
  const auto model = sequence::read_forecast_model(Comm::self(), path);
  if (graph_of(model.architecture).n_parameters > 100'000) return;  // networks of any size are the user's own
  const auto past = series();
  static_cast<void>(forecast(model, past, window_at(past, model.shape, 39, model.irregular)));
  static_cast<void>(forecast(model, past, windows_of(past, model.shape, {0, 40}, model.irregular)));
}

/// A training of two small networks on waves.
sequence::ForecastTraining small_training() {
  static const CoefficientSeries waves = [] {
    CoefficientSeries made;
    made.n_modes = n_modes;
    for (int t = 0; t < 200; ++t) {
      made.time.push_back(66410 + 7.0 * t);
      made.values.push_back(std::sin(0.12 * t) + 0.3 * std::sin(1.7 * t * t));
      made.values.push_back(std::cos(0.05 * t) + 0.2 * std::sin(2.9 * t * t));
    }
    return made;
  }();
  static const auto split = sequence::make_split(waves, {4, 2}, {});
  sequence::ForecastOptions options;
  options.base = sequence::Reference::damped_persistence;
  options.members = 2;
  options.network.nodes = {"3"};
  options.training.epochs = 4;
  return {Comm::self(), waves, split, sequence::Irregular::avoid, options, {}};
}

std::vector<std::string> training_files() {
  return {written("state.h5", [](const std::string& path) {
    auto training = small_training();
    training.advance();
    auto file = hdf5::File::create(Comm::self(), path);
    training.save(file.root());
    file.close();
  })};
}

/// What is read goes on for an epoch.
void read_training(const std::string& path) {
  auto training = small_training();
  training.restore(hdf5::File::open(Comm::self(), path).root());
  if (!training.finished()) training.advance();
  static_cast<void>(training.result());
}

search::Space space() {
  return search::Space({search::integer_gene("units", 1, 4), {"skip", {"no", "yes"}}});
}

std::vector<std::string> trial_files() {
  return {written("trials.h5", [](const std::string& path) {
    auto store =
        search::TrialStore::create(path, {space(), "random, seed 1", 3, {"r2"}}, hdf5::current_provenance());
    for (std::int64_t id = 0; id < 3; ++id) {
      search::Record record;
      record.trial = {id, {1, 0}, "key", 77, id - 1, id, {{2, 0.25}}};
      record.outcome.state = id < 2 ? search::TrialState::done : search::TrialState::running;
      record.outcome.objective = 0.5;
      record.outcome.curve = {0.25, 0.5};
      record.outcome.facts = {0.5};
      record.outcome.position = id < 2 ? id : -1;
      store.write(record);
    }
  })};
}

/// What `search` does to replay trials, to go on with them, and to write them as a table.
void read_trials(const std::string& path) {
  const auto records = search::read_trials(path, space());
  search::write_trials_csv(path + ".csv", space(), {"r2"}, records);
  const auto store =
      search::TrialStore::open(path, {space(), "random, seed 1", 3, {"r2"}}, hdf5::current_provenance());
  static_cast<void>(store.found());
}

}  // namespace

std::vector<Reader> readers() {
  return {{"forecast_model", "model.h5", models, read_model},
          {"forecast_training", "state.h5", training_files, read_training},
          {"trials", "trials.h5", trial_files, read_trials}};
}

}  // namespace quintet::fuzz
