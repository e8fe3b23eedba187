#include "surrogates/potential/device/device_tables.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_table.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

namespace {

/// Nearer neighbours than this (angstrom) are rare, and evaluated one by one.
double usual_distance(const Model& model) { return model.least_distance ? 0.9 * *model.least_distance : 0.8; }

std::vector<double> flat(const std::vector<std::array<double, 4>>& rows, bool inverse) {
  std::vector<double> values;
  for (const auto& row : rows)
    for (const double value : row) values.push_back(inverse ? 1 / value : value);
  return values;
}

/// What divides T: n, of se_e2_r 5 n (RadialEmbedding).
double divisor_of(const DescriptorModel& model) {
  return (model.kind == DescriptorKind::se_e2_r ? 5.0 : 1.0) * model.n_slots();
}

/// What one empty slot adds to T: e_a G(e_0) / n with e = -mean/deviation; of se_e2_r G(e_0) / 5n.
std::vector<double> empty_slots(const DescriptorModel& model) {
  std::vector<double> values, g, dg;
  for (int centre = 0; centre < model.n_types(); ++centre)
    for (int t = 0; t < model.n_types(); ++t) {
      const auto e = [&](int a) { return -model.mean[centre][a] / model.deviation[centre][a]; };
      evaluate_scalar(model.embedding[model.network_index(centre, t)], e(0), g, dg);
      for (int a = 0; a < (has_axis(model.kind) ? 4 : 1); ++a)
        for (const double value : g)
          values.push_back((has_axis(model.kind) ? e(a) : 1.0) * value / divisor_of(model));
    }
  return values;
}

DeviceLayer layer_of(const DenseLayer& dense) {
  DeviceLayer layer;
  layer.n_in = dense.n_in;
  layer.n_out = dense.n_out;
  layer.skip = dense.skip == DenseLayer::Skip::none ? 0 : dense.skip == DenseLayer::Skip::identity ? 1 : 2;
  layer.activation = dense.activation;
  layer.weight = dense.weight;
  layer.bias = dense.bias;
  layer.timestep = dense.timestep;
  return layer;
}

/// Weights of twins among the inputs (D is symmetric) added up.
void tie(DeviceLayer& layer, const FittingInputs& inputs) {
  std::vector<double> weight(std::int64_t{inputs.size} * layer.n_out, 0.0);
  for (std::size_t i = 0; i < inputs.tied.size(); ++i)
    for (int o = 0; o < layer.n_out; ++o)
      weight[std::int64_t{inputs.tied[i]} * layer.n_out + o] += layer.weight[i * layer.n_out + o];
  layer.weight = std::move(weight);
  layer.n_in = inputs.size;
}

DeviceFitting fitting_of(const Network& network, const FittingInputs& inputs) {
  const auto& last = network.layers.back();
  QUINTET_CHECK(
      last.activation == Activation::linear && last.skip == DenseLayer::Skip::none && last.n_out == 1 &&
          network.layers.size() > 1 && network.layers.front().skip == DenseLayer::Skip::none,
      "a fitting network on a device must have hidden layers, the first without a skip, and end with "
      "a linear layer of one output");
  DeviceFitting fitting;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l)
    fitting.hidden.push_back(layer_of(network.layers[l]));
  tie(fitting.hidden.front(), inputs);
  for (const double w : last.weight) fitting.last.push_back(w * last.timestep[0]);
  fitting.constant = last.bias[0] * last.timestep[0];
  return fitting;
}

/// How many neighbours have room. Those of dpa1 are counted together: which type an empty slot of theirs has
/// makes no difference (read_dpa1 sees to it), so that all are the first's.
void set_slots(const DescriptorModel& model, SelRule rule, DevicePart& d) {
  const bool together = model.kind == DescriptorKind::dpa1;
  d.limits_total = together || rule == SelRule::two_stage;
  d.sel = together ? std::vector<int>(d.n_types, d.n_slots) : model.sel;
  d.slots = d.sel;
  if (together) std::fill(d.slots.begin() + 1, d.slots.end(), 0);
}

/// Smooth gates stay factors: near the cutoff w is no function of s that polynomials reach.
void set_gates(const DescriptorModel& model, DevicePart& d) {
  if (model.gates.empty() || !model.smooth_gates) return;
  for (int centre = 0; centre < d.n_types; ++centre)
    for (int t = 0; t < d.n_types; ++t) {
      const auto& c = model.gates[model.pair_index(centre, t)];
      d.gate.insert(d.gate.end(), c.begin(), c.end());
    }
}

/// G of each pair of types. Gates that are not smooth make of G_s a network for each pair, (1 + c) G_s.
void set_networks(const DescriptorModel& model, const SpectralLayout& layout, DevicePart& d) {
  const bool scaled = !model.gates.empty() && !model.smooth_gates;
  const auto add = [&](const std::vector<double>& c, auto&& factor) {
    for (std::size_t i = 0; i < c.size(); ++i)
      d.polynomial.push_back(c[i] * factor(i % d.n_channels) / divisor_of(model));
  };
  for (const auto& network : model.embedding) {
    const auto c = spectral_coefficients(network, layout);
    if (!scaled) add(c, [](std::size_t) { return 1.0; });
    for (int t = 0; scaled && t < d.n_types; ++t)
      for (int centre = 0; centre < (model.type_one_side ? 1 : d.n_types); ++centre)
        add(c, [&](std::size_t m) { return 1 + model.gates[model.pair_index(centre, t)][m]; });
  }
  d.one_sided = model.type_one_side;
  for (int centre = 0; centre < d.n_types; ++centre)
    for (int t = 0; t < d.n_types; ++t)
      d.network.push_back(!scaled       ? model.network_index(centre, t)
                          : d.one_sided ? t
                                        : model.pair_index(centre, t));
}

/// What a descriptor's kernels are told of neighbours, whatever its networks.
DevicePart environment_of(const DescriptorModel& model, SelRule rule) {
  DevicePart d;
  d.n_types = model.n_types();
  d.n_channels = model.n_channels();
  d.axis = model.axis_neuron;
  d.n_slots = model.n_slots();
  d.rcut = model.rcut;
  d.rcut_smooth = model.rcut_smooth;
  d.protection = model.protection;
  set_slots(model, rule, d);
  d.mean = flat(model.mean, false);
  d.inverse_deviation = flat(model.deviation, true);
  d.dropped.assign(model.excluded_descriptor_pairs.begin(), model.excluded_descriptor_pairs.end());
  d.emptied.assign(model.excluded_pairs.begin(), model.excluded_pairs.end());
  return d;
}

constexpr int kernel_orders = 8;  ///< the kernels are made for whole multiples of it

void require_polynomials(bool are_there) {
  QUINTET_CHECK(
      are_there,
      "this model's embedding cannot be evaluated on a device: it needs polynomials to round-off of its "
      "networks (potential.compress: auto, and no coarse table in the file); use device: cpu");
}

/// The tables of a descriptor of triplets.
DevicePart triplets_of(const DescriptorModel& model, const DeepPotentialOptions& options, bool single) {
  const auto layout = triplet_layout(model, options.compression, kernel_orders, single);
  require_polynomials(layout.has_value());
  DevicePart d = environment_of(model, options.sel_rule);
  d.has_triplets = true;
  d.order = layout->order;
  d.n_intervals = layout->n_intervals();
  d.part_bits = layout->part_bits;
  d.width = 1;  // of intervals in s, which nothing reads
  for (int i = 0; i < d.n_intervals; ++i) d.x_by_theta.push_back(2 / layout->width(i));
  for (int u = 0; u < d.n_types; ++u)
    for (int t = 0; t <= u; ++t)
      for (const double c : triplet_coefficients(model.embedding[model.network_index(t, u)], *layout))
        d.polynomial.push_back(c / model.sel[t] / model.sel[u]);
  return d;
}

/// The tables of a descriptor. @param usual_distance (angstrom) nearer neighbours are rare
DevicePart part_of(const DescriptorModel& model, const DeepPotentialOptions& options, bool single,
                   double usual_distance) {
  if (model.kind == DescriptorKind::se_e3) return triplets_of(model, options, single);
  const auto layout = spectral_layout(model, options.compression, kernel_orders, single);
  require_polynomials(layout.has_value());
  DevicePart d = environment_of(model, options.sel_rule);
  d.order = layout->order;
  d.n_intervals = layout->n_intervals;
  d.width = layout->width;
  d.lower = layout->lower;
  set_gates(model, d);
  double usual = 0;
  for (int centre = 0; centre < d.n_types; ++centre)
    usual = std::max(usual, model.normalised_s(centre, usual_distance));
  // The moments of an atom, a column's of each power, interval and type, lie in a part of a GPU's shared
  // memory.
  const int most = 40000 / (d.columns() * static_cast<int>(sizeof(double)) * (d.order + 1) * d.n_groups());
  QUINTET_CHECK(most >= 1,
                "this model has {} types of atoms, too many for the device engines; use device: cpu",
                d.n_types);
  d.n_dense = std::clamp(static_cast<int>((usual - d.lower) / d.width) + 1, 1, std::min(most, d.n_intervals));
  set_networks(model, *layout, d);
  d.empty = empty_slots(model);
  return d;
}

/// Reals of an atom's temporaries in a part.
double reals_of(const DevicePart& part) {
  return double(part.columns()) * part.n_moments() + (part.axis > 0 ? 8.0 * part.n_channels : 0.0);
}

}  // namespace

double device_bytes(const DeviceModel& model, bool single, double n_local, double n_all, double listed) {
  constexpr double chunk = 65536;
  // Positions, their copy by cells, forces in whole numbers and as reals; type, place in the cells.
  const double an_atom = 4 * 24 + 2 * 4, a_local_atom = 8 + 4 + 4 * listed;
  double widest = 0, layers = 0, reals = model.n_inputs();
  for (const auto& part : model.parts) reals += reals_of(part);
  for (const auto& fitting : model.fitting) {
    layers = std::max<double>(layers, fitting.hidden.size());
    for (const auto& layer : fitting.hidden) widest = std::max<double>(widest, layer.n_out);
  }
  reals += (2 + layers) * widest;
  const double rows = 4 * 1.5 * listed * static_cast<double>(model.parts.size());
  const double a_row = (single ? 4 : 8) * reals + 10 * 8 + rows;
  return 1.06 * (n_all * an_atom + n_local * a_local_atom) + std::min(n_local, chunk) * a_row;
}

bool is_single(const Model& model, const DeepPotentialOptions& options) {
  return options.precision == Precision::mixed ||
         (options.precision == Precision::model && model.single_precision);
}

DeviceModel device_model(const Model& model, const DeepPotentialOptions& options) {
  QUINTET_CHECK(options.precision != Precision::bf16,
                "potential.precision: bf16 is for device: cpu; on a device take precision: mixed");
  require_without_parameters(model, "a device evaluates");
  DeviceModel d;
  d.n_types = model.n_types();
  d.rcut = model.cutoff();
  for (int i = 0; i < model.n_descriptors(); ++i)
    d.parts.push_back(
        part_of(model.descriptor(i), options, is_single(model, options), usual_distance(model)));
  const FittingInputs inputs(model, 1);
  for (int t = 0; t < d.n_types; ++t) {
    d.fitting.push_back(fitting_of(model.fitting[t], inputs));
    auto& fitting = d.fitting.back();
    fitting.evaluated = !model.excluded_atoms[t] && !model.excluded_fitting[t];
    fitting.constant = fitting.evaluated ? fitting.constant + model.atom_bias[t] + model.output_bias[t]
                       : model.excluded_atoms[t] ? 0.0
                                                 : model.output_bias[t];
  }
  return d;
}

}  // namespace quintet::potential
