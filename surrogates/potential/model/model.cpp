#include "surrogates/potential/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

namespace {

struct DescriptorName {
  DescriptorKind value;
  const char* name;
};
constexpr DescriptorName descriptor_names[] = {{DescriptorKind::se_e2_a, "se_e2_a"},
                                               {DescriptorKind::se_e2_r, "se_e2_r"},
                                               {DescriptorKind::se_e3, "se_e3"},
                                               {DescriptorKind::dpa1, "dpa1"}};

void apply(const DenseLayer& layer, std::vector<double>& x, std::vector<double>& dx) {
  std::vector<double> z(layer.bias), dz(layer.n_out, 0.0);
  for (int i = 0; i < layer.n_in; ++i)
    for (int o = 0; o < layer.n_out; ++o) {
      const double w = layer.weight[std::int64_t{i} * layer.n_out + o];
      z[o] += x[i] * w;
      dz[o] += dx[i] * w;
    }
  std::vector<double> y(layer.n_out), dy(layer.n_out);
  with_activation(layer.activation, [&]<Activation A>() {
    for (int o = 0; o < layer.n_out; ++o) {
      double value, slope;
      activate<A, double, 1>(z[o], value, slope);
      y[o] = value * layer.timestep[o];
      dy[o] = slope * dz[o] * layer.timestep[o];
    }
  });
  if (layer.skip != DenseLayer::Skip::none)
    for (int o = 0; o < layer.n_out; ++o) {
      y[o] += x[o % layer.n_in];
      dy[o] += dx[o % layer.n_in];
    }
  x = std::move(y);
  dx = std::move(dy);
}

}  // namespace

std::string name_of(DescriptorKind kind) { return row_of(descriptor_names, kind).name; }

std::vector<double> outputs_of(const Network& network, std::vector<double> x) {
  std::vector<double> dx(x.size(), 0.0);
  for (const auto& layer : network.layers) apply(layer, x, dx);
  return x;
}

Network with_constants(Network network, const std::vector<std::optional<double>>& constants) {
  DenseLayer& layer = network.layers.front();
  QUINTET_CHECK(
      layer.skip == DenseLayer::Skip::none,
      "the first layer of a network has {} inputs and {} outputs and adds its inputs (resnet), some "
      "of them constants: such a model is not supported; train it with another width of that layer",
      layer.n_in, layer.n_out);
  std::vector<double> weight;
  for (int i = 0; i < layer.n_in; ++i) {
    const double* row = layer.weight.data() + std::int64_t{i} * layer.n_out;
    if (!constants[i])
      weight.insert(weight.end(), row, row + layer.n_out);
    else
      for (int o = 0; o < layer.n_out; ++o) layer.bias[o] += *constants[i] * row[o];
  }
  layer.n_in = static_cast<int>(weight.size()) / layer.n_out;
  layer.weight = std::move(weight);
  return network;
}

std::vector<std::vector<double>> type_embeddings(const Network& types) {
  const int n_types = types.n_in();
  std::vector<std::vector<double>> embeddings;
  for (int t = 0; t < n_types; ++t) {
    std::vector<double> unit(n_types, 0.0);
    unit[t] = 1;
    embeddings.push_back(outputs_of(types, unit));
  }
  return embeddings;
}

std::vector<double> pair_embedding(const std::vector<std::vector<double>>& embeddings, bool one_side,
                                   int neighbour, int centre) {
  std::vector<double> both = embeddings[neighbour];
  if (!one_side) both.insert(both.end(), embeddings[centre].begin(), embeddings[centre].end());
  return both;
}

std::vector<std::vector<double>> padded_gates(const TypeReaders& readers, bool one_side) {
  auto embeddings = type_embeddings(readers.types);
  embeddings.emplace_back(readers.types.n_out(), 0.0);
  const int n = static_cast<int>(embeddings.size());
  std::vector<std::vector<double>> gates;
  for (int centre = 0; centre < (one_side ? 1 : n); ++centre)
    for (int neighbour = 0; neighbour < n; ++neighbour)
      gates.push_back(outputs_of(readers.gate, pair_embedding(embeddings, one_side, neighbour, centre)));
  return gates;
}

/// With a gate a network of s and a factor 1 + c w for each pair; else a network of s for each pair.
void resolve_descriptor(const TypeReaders& readers, DescriptorModel& model) {
  const int n = model.n_types();
  const auto embeddings = type_embeddings(readers.types);
  model.embedding.clear();
  model.gates.clear();
  if (readers.has_gate()) model.embedding.push_back(readers.embedding);
  for (int neighbour = 0; neighbour < n; ++neighbour)
    for (int centre = 0; centre < (model.type_one_side && !readers.has_gate() ? 1 : n); ++centre) {
      const auto both = pair_embedding(embeddings, model.type_one_side, neighbour, centre);
      if (readers.has_gate()) {
        model.gates.push_back(outputs_of(readers.gate, both));
        continue;
      }
      std::vector<std::optional<double>> inputs(1);
      inputs.insert(inputs.end(), both.begin(), both.end());
      model.embedding.push_back(with_constants(readers.embedding, inputs));
    }
}

void resolve_types(Model& model) {
  const auto& readers = *model.readers;
  resolve_descriptor(readers, model);
  const auto embeddings = type_embeddings(readers.types);
  model.fitting.clear();
  for (int t = 0; t < model.n_types(); ++t) {
    const auto& network = readers.fitting[readers.fitting.size() == 1 ? 0 : t];
    if (!readers.fitting_reads_types) {
      model.fitting.push_back(network);
      continue;
    }
    std::vector<std::optional<double>> inputs(network.n_in());  // D, the embedding, parameters of atoms
    std::copy(embeddings[t].begin(), embeddings[t].end(),
              inputs.end() - model.atom_parameters.count() - std::ssize(embeddings[t]));
    model.fitting.push_back(with_constants(network, inputs));
  }
}

namespace {

/// Parameters of a model as a network reads them.
std::vector<std::optional<double>> normalised(const Model::ReadParameters& parameters,
                                              const std::vector<double>& values) {
  std::vector<std::optional<double>> numbers;
  for (int k = 0; k < parameters.count(); ++k)
    numbers.push_back((values[k] - parameters.mean[k]) * parameters.inverse_deviation[k]);
  return numbers;
}

/// A network that no longer reads some inputs: those before its last `n_behind` ones are constants.
Network with_constants_before(Network network, int n_behind,
                              const std::vector<std::optional<double>>& values) {
  std::vector<std::optional<double>> constants(network.n_in());
  std::copy(values.begin(), values.end(), constants.end() - n_behind - std::ssize(values));
  return with_constants(std::move(network), constants);
}

/// The values of each type of the model, in its order.
std::vector<std::vector<double>> by_type(const Model& model, const std::vector<AtomParameters>& given) {
  std::vector<std::vector<double>> values(model.n_types());
  for (const auto& some : given) {
    QUINTET_CHECK(
        std::ssize(some.values) == model.atom_parameters.count(),
        "the model reads {} of each atom (aparam), {} given: give as many numbers as it was trained "
        "with (potential.atom_parameters)",
        counted(model.atom_parameters.count(), "number"), some.values.size());
    for (const auto& name : some.types) {
      const auto at = std::find(model.type_names.begin(), model.type_names.end(), name);
      QUINTET_CHECK(at != model.type_names.end(), "atom_parameters names the type {}; the model knows {}",
                    name, fmt::join(model.type_names, ", "));
      auto& of_type = values[at - model.type_names.begin()];
      QUINTET_CHECK(of_type.empty(), "atom_parameters names the type {} twice", name);
      of_type = some.values;
    }
  }
  for (int t = 0; t < model.n_types(); ++t)
    QUINTET_CHECK(
        !values[t].empty(),
        "atom_parameters says nothing of the type {}; give the numbers of all types of the model ({})",
        model.type_names[t], fmt::join(model.type_names, ", "));
  return values;
}

}  // namespace

Model with_frame_parameters(Model model, const std::vector<double>& values) {
  const auto& wanted = model.frame_parameters;
  if (wanted.count() == 0 && values.empty()) return model;
  const auto& given = values.empty() ? wanted.usual : values;
  QUINTET_CHECK(
      std::ssize(given) == wanted.count(),
      "the model reads {} frame parameters (fparam), {} given: give as many numbers as it was trained "
      "with (potential.frame_parameters: [...]; none for a model that reads none)",
      wanted.count(), given.size());
  const auto constants = normalised(wanted, given);
  for (auto& network : model.fitting)
    network = with_constants_before(std::move(network), model.atom_parameters.count(), constants);
  model.frame_parameters = {};
  return model;
}

Model with_atom_parameters(Model model, const std::vector<AtomParameters>& given) {
  if (given.empty() || model.atom_parameters.count() == 0) return model;
  const auto values = by_type(model, given);
  for (int t = 0; t < model.n_types(); ++t)
    model.fitting[t] =
        with_constants_before(std::move(model.fitting[t]), 0, normalised(model.atom_parameters, values[t]));
  model.atom_parameters = {};
  model.readers.reset();  // their fitting networks still read them
  return model;
}

namespace {

void require_no_atom_parameters(const Model& model, const std::string& what) {
  QUINTET_CHECK(
      model.atom_parameters.count() == 0,
      "{} models without parameters of atoms (aparam); this one reads {}. Where those of a type are "
      "the same, give them by type: potential.atom_parameters",
      what, model.atom_parameters.count());
}

void require_no_frame_parameters(const Model& model, const std::string& what) {
  QUINTET_CHECK(model.frame_parameters.count() == 0,
                "{} models without frame parameters (fparam); this one reads {}", what,
                model.frame_parameters.count());
}

void require_kind(const Model& model, bool is_one_of_them, const std::string& what, const char* kinds) {
  QUINTET_CHECK(is_one_of_them && model.further.empty(),
                "{} models with the descriptor {} alone, not {}: dpmd run, evaluate and test run it on "
                "CPUs (device: cpu) in double or mixed precision",
                what, kinds, model.summary());
  require_no_frame_parameters(model, what);
}

}  // namespace

void require_with_axis(const Model& model, const std::string& what) {
  require_kind(model, has_axis(model.kind), what, "se_e2_a or dpa1");
  require_no_atom_parameters(model, what);
}

void require_without_parameters(const Model& model, const std::string& what) {
  require_no_frame_parameters(model, what);
  require_no_atom_parameters(model, what);
}

void require_trainable(const Model& model, const std::string& what) {
  require_kind(model, true, what, "se_e2_a, se_e2_r, se_e3 or dpa1");
}

void evaluate_scalar(const Network& network, double x, std::vector<double>& g, std::vector<double>& dg) {
  g = {x};
  dg = {1.0};
  for (const auto& layer : network.layers) apply(layer, g, dg);
}

QuinticRanges::QuinticRanges(const QuinticTable& t) {
  std::int64_t first = 0;
  const auto range = [&first](double begin, double end, double stride) {
    const Range result{begin, end, stride, first, std::llround((end - begin) / stride)};
    first += result.rows;
    return result;
  };
  ranges_[0] = range(t.minimum(), t.lower, t.stride[1]);
  ranges_[1] = range(t.lower, t.upper, t.stride[0]);
  ranges_[2] = range(t.upper, t.maximum, t.stride[1]);
}

QuinticRanges::Place QuinticRanges::place(double s) const {
  const double inside = std::clamp(s, ranges_.front().begin, ranges_.back().end);
  Place place{0, 0, s - inside};
  for (const auto& [begin, end, stride, first, rows] : ranges_) {
    if (rows > 0) {
      const auto row = static_cast<std::int64_t>((inside - begin) / stride);
      place.row = std::clamp<std::int64_t>(row, 0, rows - 1);
      place.x = inside - (begin + static_cast<double>(place.row) * stride);
      place.row += first;
    }
    if (inside < end) break;
  }
  return place;
}

void QuinticTable::evaluate(double s, double* g, double* dg) const {
  const auto [row, x, beyond] = QuinticRanges(*this).place(s);
  const double* a = coefficients.data() + row * n_channels * 6;
  for (int m = 0; m < n_channels; ++m, a += 6) {
    dg[m] = a[1] + x * (2 * a[2] + x * (3 * a[3] + x * (4 * a[4] + x * 5 * a[5])));
    g[m] = a[0] + x * (a[1] + x * (a[2] + x * (a[3] + x * (a[4] + x * a[5])))) + beyond * dg[m];
  }
}

int DescriptorModel::n_slots() const { return std::accumulate(sel.begin(), sel.end(), 0); }

double DescriptorModel::normalised_s(int centre, double r) const {
  const double u = std::clamp((r - rcut_smooth) / (rcut - rcut_smooth), 0.0, 1.0);
  return (smooth_switch(u) / (r + protection) - mean[centre][0]) / deviation[centre][0];
}

double Model::cutoff() const {
  double most = rcut;
  for (const auto& other : further) most = std::max(most, other.rcut);
  return most;
}

namespace {

std::string widths_of(const Network& network) {
  std::vector<int> n_out;
  for (const auto& layer : network.layers) n_out.push_back(layer.n_out);
  return fmt::format("{}", fmt::join(n_out, "-"));
}

/// Without the types, which all descriptors of a model share.
std::string summary_of(const DescriptorModel& descriptor) {
  const std::string gates = descriptor.gates.empty()  ? ""
                            : descriptor.smooth_gates ? ", smooth gates of types"
                                                      : ", gates of types";
  return fmt::format("rcut {} angstrom, sel {}, embedding {}{}{}", descriptor.rcut,
                     fmt::join(descriptor.sel, " "), widths_of(descriptor.embedding.front()),
                     descriptor.axis_neuron > 0 ? fmt::format(" (axis {})", descriptor.axis_neuron) : "",
                     gates);
}

}  // namespace

std::string Model::summary() const {
  std::string text =
      fmt::format("{}, types {}, {}", name_of(kind), fmt::join(type_names, " "), summary_of(*this));
  for (const auto& other : further) text += fmt::format(" + {}, {}", name_of(other.kind), summary_of(other));
  std::string read;
  if (const int n = frame_parameters.count(); n > 0)
    read += fmt::format(", {} (fparam)", counted(n, "frame parameter"));
  if (const int n = atom_parameters.count(); n > 0)
    read += fmt::format(", {} of each atom (aparam)", counted(n, "parameter"));
  return fmt::format("{}, fitting {}{}, {}{}", text, widths_of(fitting.front()), read,
                     single_precision ? "float32" : "float64", tables.empty() ? "" : ", compressed");
}

}  // namespace quintet::potential
