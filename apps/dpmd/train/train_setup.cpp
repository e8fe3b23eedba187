#include "apps/dpmd/train/train_setup.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include "apps/dpmd/test/parity.hpp"
#include "apps/dpmd/train/start_check.hpp"
#include "io/config/suggest.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/training/finetune.hpp"

namespace quintet::dpmd {

namespace {

using potential::LabelledSystem;
using potential::Model;
using potential::NetworkOptions;

int type_index(const std::string& name, const std::vector<std::string>& type_map, const std::string& key) {
  const auto at = std::find(type_map.begin(), type_map.end(), name);
  QUINTET_CHECK(at != type_map.end(), "{}: type '{}' is not in the type map: {}{}", key, name,
                name_list(type_map), did_you_mean(name, type_map));
  return at - type_map.begin();
}

std::size_t n_frames(const std::vector<LabelledSystem>& systems) {
  return std::accumulate(systems.begin(), systems.end(), std::size_t{0},
                         [](std::size_t n, const LabelledSystem& s) { return n + s.frames.size(); });
}

void announce(const char* what, const std::vector<LabelledSystem>& systems) {
  std::size_t least = systems.front().n_atoms(), most = least;
  for (const auto& system : systems) {
    least = std::min(least, system.n_atoms());
    most = std::max(most, system.n_atoms());
  }
  log::info("{}: {} of {}, {} each", what, counted(n_frames(systems), "frame"),
            counted(systems.size(), "system"),
            least == most ? counted(least, "atom") : fmt::format("{} to {}", least, counted(most, "atom")));
}

/// The model's own types, where it is given.
std::vector<std::string> wanted_types(const ModelOptions& options, const std::optional<Model>& start,
                                      const std::optional<KnownModel>& known) {
  if (options.initial_model && known) return known->type_map;
  if (options.initial_model && !options.type_map.empty()) return options.type_map;
  if (options.initial_model) return start->type_names;
  if (start) {
    QUINTET_CHECK(
        options.type_map.empty() || options.type_map == start->type_names,
        "model.type_map is {}, but {} has {}: leave it out, or give the same names in the same order",
        name_list(options.type_map), *options.start, name_list(start->type_names));
    return start->type_names;
  }
  return known ? known->type_map : options.type_map;
}

// Training data must have what the loss weighs; data held out may lack it, for they are compared in what they
// have.
TrainingData read_data(const TrainOptions& options, std::vector<std::string> type_map, int n_atom_parameters,
                       const Interrupt& interrupt) {
  TrainingData data;
  potential::DataOptions read;
  read.type_map = std::move(type_map);
  read.types_in_order = !read.type_map.empty();
  read.may_grow = options.model.initial_model && options.model.type_map.empty();
  read.min_pair_distance = options.data.min_pair_distance;
  read.need_energy = options.loss.energy.active();
  read.need_force = options.loss.force.active();
  read.need_virial = options.loss.virial.active();
  read.n_atom_parameters = n_atom_parameters;
  read.interrupt = interrupt;
  read.labels = source_of(options.data.labels);
  read.stress_limit = stress_limit_of(options.data.labels);
  data.training = potential::read_systems(options.data.training.systems, read);
  announce("Training", data.training);
  data.type_map = read.type_map;
  read.may_grow = false;
  if (options.data.validation) {
    read.need_energy = read.need_force = read.need_virial = false;
    data.validation = potential::read_systems(options.data.validation->systems, read);
    QUINTET_CHECK(n_frames(data.validation) > 0,
                  "data.validation has no frames; leave the section out to train without");
    announce("Validation", data.validation);
  } else {
    log::info("No frames are held out (data.validation): the errors reported are those of training");
  }
  const auto& weights = options.data.training.probabilities;
  QUINTET_CHECK(weights.empty() || weights.size() == data.training.size(),
                "data.training.probabilities has {} for {}", counted(weights.size(), "value"),
                counted(data.training.size(), "system"));
  QUINTET_CHECK(weights.empty() || *std::max_element(weights.begin(), weights.end()) > 0,
                "data.training.probabilities are all 0");
  return data;
}

void warn_of_unused_types(const TrainingData& data) {
  std::vector<bool> met(data.type_map.size(), false);
  for (const auto& system : data.training)
    for (const int type : system.frames.front().types) met[type] = true;
  for (std::size_t t = 0; t < met.size(); ++t)
    if (!met[t])
      log::warning("No training frame has an atom of type {}: nothing will be learnt of it",
                   data.type_map[t]);
}

/// DeePMD-kit's prefactor rule leaves a term out where one end is 0: say so.
void warn_of_half_terms(const LossOptions& loss) {
  const auto say = [](const char* name, const PrefactorOptions& p) {
    if ((p.start != 0) != (p.limit != 0))
      log::warning("loss.{}: start = {:g}, limit = {:g}: the term is left out, as one of them is 0", name,
                   p.start, p.limit);
  };
  say("energy", loss.energy);
  say("force", loss.force);
  say("virial", loss.virial);
}

/// "auto:FACTOR": like automatic_sel(), with another factor.
std::vector<int> scaled_sel(const std::vector<int>& most_neighbours, double factor) {
  std::vector<int> sel;
  for (const int most : most_neighbours)
    sel.push_back(std::max(4, (static_cast<int>(std::ceil(most * factor)) + 3) / 4 * 4));
  return sel;
}

std::vector<int> choose_sel(const DescriptorOptions& options, const TrainingData& data) {
  const SelRequest request = parse_sel(options.sel);
  if (!request.sel.empty()) {
    const bool together = options.kind == potential::DescriptorKind::dpa1;
    QUINTET_CHECK(request.sel.size() == (together ? 1 : data.type_map.size()),
                  "model.descriptor.sel has {} for {} ({}): give {}, or 'auto'",
                  counted(request.sel.size(), "number"), counted(data.type_map.size(), "type"),
                  name_list(data.type_map), together ? "one for all types" : "one for each");
    return request.sel;
  }
  const auto sel = request.factor == SelRequest().factor
                       ? automatic_sel(data.census, options.kind)
                       : scaled_sel(data.census.most_of(options.kind), request.factor);
  log::info("sel = [{}] from the training data", fmt::join(sel, ", "));
  return sel;
}

/// A model that was not made from these data may have too little room; initial_model() says it of new ones.
void check_sel(const Model& model, const TrainingData& data) {
  const auto most = data.census.most_of(model.kind);
  for (std::size_t t = 0; t < most.size(); ++t)
    if (most[t] > model.sel[t])
      log::warning(
          "sel is too small: up to {} {} neighbours within {:g} angstrom in the training data, sel holds {}; "
          "the farthest are not seen, and energies jump where they change. 'sel: auto' fits",
          most[t], model.sel.size() == 1 ? name_list(data.type_map) : data.type_map[t], model.rcut,
          model.sel[t]);
}

// One place where keys of the input become the network's options: types excluded by name become pairs of
// indices here.
NetworkOptions network_options(const ModelOptions& model, const TrainingData& data, std::uint64_t seed) {
  const auto& descriptor = model.descriptor;
  const auto to_int = [](const std::vector<std::int64_t>& widths) {
    return std::vector<int>(widths.begin(), widths.end());
  };
  NetworkOptions options;
  options.type_map = data.type_map;
  options.kind = descriptor.kind;
  options.type_width = descriptor.types.width;
  options.has_gate = descriptor.types.has_gate;
  options.smooth_gates = descriptor.types.smooth;
  options.fitting_reads_types = descriptor.types.in_fitting;
  options.rcut = descriptor.rcut;
  options.rcut_smooth = descriptor.rcut_smooth;
  options.embedding = to_int(descriptor.neurons);
  options.fitting = to_int(model.fitting.neurons);
  options.axis_neuron = descriptor.axis_neurons;
  options.type_one_side = descriptor.type_one_side;
  options.embedding_timestep = descriptor.timestep;
  options.fitting_timestep = model.fitting.timestep;
  options.embedding_activation = descriptor.activation;
  options.fitting_activation = model.fitting.activation;
  options.single_precision = model.single_precision;
  options.set_davg_zero = descriptor.set_davg_zero;
  options.protection = descriptor.protection;
  options.excluded_descriptor_pairs =
      parse_type_pairs(descriptor.exclude_types, data.type_map, "model.descriptor.exclude_types");
  options.excluded_pairs =
      parse_type_pairs(model.pair_exclude_types, data.type_map, "model.pair_exclude_types");
  for (const auto& name : model.atom_exclude_types)
    options.excluded_atoms.push_back(type_index(name, data.type_map, "model.atom_exclude_types"));
  options.n_atom_parameters = model.fitting.atom_parameters;
  options.seed = seed;
  return options;
}

int statistics_frames(const TrainOptions& options) {
  return options.model.statistics_batches *
         std::max(1, parse_batch_size(options.data.training.batch_size).frames);
}

Model new_model(const TrainOptions& options, const TrainingData& data,
                const std::optional<KnownModel>& known) {
  auto network = network_options(options.model, data, options.seed);
  network.sel = known ? known->sel : choose_sel(options.model.descriptor, data);
  validate(network);
  network.statistics_frames = statistics_frames(options);
  return initial_model(network, data.training, data.census);
}

Model read_start(const std::string& path) {
  Model model = potential::read_dp(path);
  potential::require_trainable(model, path + ": training starts from");
  QUINTET_CHECK(model.tables.empty(),
                "{}: a compressed model cannot be trained; give the model that it was made from", path);
  return model;
}

/// Let the energies of the data be the model's in the mean, as far as biases can.
void change_bias(Model& model, const std::vector<LabelledSystem>& systems, int frames_a_system) {
  std::vector<FrameIndex> frames;
  std::vector<potential::FrameOfSystem> labelled;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const std::size_t n = systems[s].frames.size(), taken = std::min<std::size_t>(n, frames_a_system);
    for (std::size_t k = 0; k < taken; ++k)
      if (const std::size_t f = k * n / taken; systems[s].frames[f].energy) {
        frames.push_back({s, f});
        labelled.push_back({s, f});
      }
  }
  if (frames.empty()) return log::info("No energies: the biases stay");
  potential::DeepPotential field(model, {});
  const auto predictions = predict(Comm::self(), field, systems, frames);
  const auto change = potential::change_energy_bias(model, systems, labelled,
                                                    [&](std::size_t k) { return predictions[k].energy; });
  std::string text;
  for (std::size_t t = 0; t < change.size(); ++t)
    text += fmt::format("{}{} {:+.6g} eV", t == 0 ? "" : ", ", model.type_names[t], change[t]);
  log::info("Energy biases change by least squares on {}: {}", counted(frames.size(), "frame"), text);
}

/// The model of model.initial_model with the types of the data.
Model fine_tuned(const Model& from, const TrainOptions& options, const TrainingData& data, bool is_known) {
  Model model = potential::with_types(from, data.type_map, data.training, data.census,
                                      statistics_frames(options), options.seed);
  std::vector<std::string> added;
  for (const auto& name : model.type_names)
    if (std::find(from.type_names.begin(), from.type_names.end(), name) == from.type_names.end())
      added.push_back(name);
  log::info("Fine-tunes {}: {}; {}", *options.model.initial_model, model.summary(),
            added.empty() ? "no new types" : "new, with random networks: " + name_list(added));
  if (!is_known) change_bias(model, data.training, statistics_frames(options));
  return model;
}

void apply(const KnownModel& known, Model& model) {
  QUINTET_CHECK(known.type_map == model.type_names && known.sel.size() == model.sel.size() &&
                    known.mean.size() == model.mean.size() &&
                    known.output_bias.size() == model.output_bias.size() &&
                    known.atom_parameters.count() == model.atom_parameters.count(),
                "the checkpoint is of another model: types {}, here {}", name_list(known.type_map),
                name_list(model.type_names));
  model.sel = known.sel;
  model.mean = known.mean;
  model.deviation = known.deviation;
  model.output_bias = known.output_bias;
  model.atom_parameters = known.atom_parameters;
}

}  // namespace

FrameStore::FrameStore(const std::vector<LabelledSystem>& systems, double cutoff, std::size_t budget)
    : systems_(systems), cutoff_(cutoff), budget_(budget) {
  for (const auto& system : systems_) kept_.emplace_back(system.frames.size());
}

std::span<const potential::TrainingFrame* const> FrameStore::take(std::size_t system,
                                                                  std::span<const std::size_t> frames) {
  passing_.clear();
  taken_.clear();
  for (const std::size_t frame : frames) {
    auto& kept = kept_[system][frame];
    if (!kept) {
      auto made = std::make_unique<potential::TrainingFrame>(
          potential::make_frame(systems_[system].frames[frame], cutoff_));
      const bool keep = bytes_ + made->bytes() <= budget_;
      if (keep) bytes_ += made->bytes();
      auto& place = keep ? kept : passing_.emplace_back();
      place = std::move(made);
      taken_.push_back(place.get());
    } else {
      taken_.push_back(kept.get());
    }
  }
  return taken_;
}

TrainingSetup set_up_training(const TrainOptions& options, const std::optional<KnownModel>& known,
                              const Interrupt& interrupt) {
  std::optional<Model> start;
  const auto& file = options.model.start ? options.model.start : options.model.initial_model;
  if (file) start = read_start(*file);
  warn_of_half_terms(options.loss);
  TrainingSetup setup;
  setup.data =
      read_data(options, wanted_types(options.model, start, known),
                start ? start->atom_parameters.count() : options.model.fitting.atom_parameters, interrupt);
  auto& data = setup.data;
  warn_of_unused_types(data);
  const double rcut = start ? start->rcut : options.model.descriptor.rcut;
  const int n_types = data.type_map.size();
  data.census = count_neighbours(data.training, n_types, rcut, interrupt);
  data.least_distance = data.census.least_distance;
  if (!data.validation.empty())
    data.least_distance = std::min(
        data.least_distance, count_neighbours(data.validation, n_types, rcut, interrupt).least_distance);
  give_up_if_asked(interrupt);
  if (start && !known && start->type_names == data.type_map)
    check_start(*start, data.training, options.loss, options.data.labels);
  if (options.model.initial_model)
    setup.model = fine_tuned(*start, options, data, known.has_value());
  else
    setup.model = start ? *std::move(start) : new_model(options, data, known);
  if (file) setup.model.single_precision = options.model.single_precision;
  if (options.model.start) log::info("Goes on from {}: {}", *options.model.start, setup.model.summary());
  if (known) apply(*known, setup.model);
  if (file) check_sel(setup.model, data);
  const double least = data.census.least_distance;
  if (least > 0) setup.model.least_distance = std::min(least, setup.model.least_distance.value_or(least));
  return setup;
}

namespace {

/// Weights of systems by blocks: w_s = (weight of its block) (its batches)/(batches of its block), as
/// DeePMD-kit's "prob_sys_size;FIRST:END:WEIGHT;...".
std::vector<double> block_weights(const std::vector<std::string>& blocks, const potential::Sampler& sampler,
                                  std::size_t n_systems) {
  std::vector<double> weights(n_systems, 0.0);
  std::vector<bool> taken(n_systems, false);
  for (const auto& text : blocks) {
    const SystemBlock block = parse_block(text);
    QUINTET_CHECK(block.end <= n_systems, "data.training.blocks: block '{}' ends behind the last of {}", text,
                  counted(n_systems, "system"));
    double batches = 0;
    for (std::size_t s = block.first; s < block.end; ++s) batches += sampler.n_batches(s);
    for (std::size_t s = block.first; s < block.end; ++s) {
      QUINTET_CHECK(!taken[s], "data.training.blocks: block '{}' holds system {}, as another block does",
                    text, s);
      taken[s] = true;
      weights[s] = block.weight * sampler.n_batches(s) / batches;
    }
  }
  return weights;
}

}  // namespace

potential::Sampler training_sampler(const TrainOptions& options,
                                    const std::vector<potential::LabelledSystem>& systems) {
  const auto& section = options.data.training;
  const BatchSize size = parse_batch_size(section.batch_size);
  const std::uint64_t seed = options.seed;
  potential::Sampler sampler(systems, size.frames, size.atoms, section.probabilities, seed);
  if (section.blocks.empty()) return sampler;
  return {systems, size.frames, size.atoms, block_weights(section.blocks, sampler, systems.size()), seed};
}

std::vector<std::array<int, 2>> parse_type_pairs(const std::vector<std::string>& pairs,
                                                 const std::vector<std::string>& type_map,
                                                 const std::string& key) {
  const auto index = [&](const std::string& name) -> int {
    const auto at = std::find(type_map.begin(), type_map.end(), name);
    return at == type_map.end() ? -1 : at - type_map.begin();
  };
  std::vector<std::array<int, 2>> result;
  for (const auto& pair : pairs) {
    std::array<int, 2> found{-1, -1};
    for (auto dash = pair.find('-'); dash != std::string::npos; dash = pair.find('-', dash + 1)) {
      const std::array<int, 2> split{index(pair.substr(0, dash)), index(pair.substr(dash + 1))};
      if (split[0] >= 0 && split[1] >= 0) found = split;
    }
    QUINTET_CHECK(found[0] >= 0, "{}: '{}': expected two of the types {} with '-' between them", key, pair,
                  name_list(type_map));
    result.push_back(found);
  }
  return result;
}

}  // namespace quintet::dpmd
