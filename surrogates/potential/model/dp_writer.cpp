#include "surrogates/potential/model/dp_writer.hpp"

#include <algorithm>

#include "io/hdf5/file.hpp"
#include "surrogates/networks/activation_names.hpp"
#include "surrogates/potential/model/dp_document.hpp"

namespace quintet::potential {

namespace {

/// DeePMD-kit calls the linear activation none.
std::string name_of(Activation activation) {
  return activation == Activation::linear ? "none" : std::string(networks::name_of(activation));
}

Tree integers(const std::vector<int>& values) {
  Tree list = Tree::list();
  for (const int value : values) list.append(Tree::integer(value));
  return list;
}

Tree texts(const std::vector<std::string>& values) {
  Tree list = Tree::list();
  for (const auto& value : values) list.append(Tree::text(value));
  return list;
}

/// Types whose flag is set.
Tree flagged(const std::vector<bool>& flags) {
  Tree list = Tree::list();
  for (std::size_t t = 0; t < flags.size(); ++t)
    if (flags[t]) list.append(Tree::integer(t));
  return list;
}

/// Pairs whose flag is set, each once: [a, b] with a <= b.
Tree flagged_pairs(const std::vector<bool>& flags, int n_types) {
  Tree list = Tree::list();
  for (int a = 0; a < n_types; ++a)
    for (int b = a; b < n_types; ++b)
      if (!flags.empty() && flags[std::int64_t{a} * n_types + b]) list.append(integers({a, b}));
  return list;
}

std::vector<int> widths(const Network& network, bool without_last) {
  std::vector<int> n_out;
  for (const auto& layer : network.layers) n_out.push_back(layer.n_out);
  if (without_last) n_out.pop_back();
  return n_out;
}

bool has_timesteps(const DenseLayer& layer) {
  return std::any_of(layer.timestep.begin(), layer.timestep.end(), [](double dt) { return dt != 1.0; });
}

bool has_timesteps(const std::vector<Network>& networks) {
  return std::any_of(networks.begin(), networks.end(), [](const Network& network) {
    return std::any_of(network.layers.begin(), network.layers.end(),
                       [](const DenseLayer& layer) { return has_timesteps(layer); });
  });
}

/// Builds the tree and its arrays part by part.
class Writer {
 public:
  explicit Writer(const Model& model)
      : model_(model),
        readers_(model.readers ? &*model.readers : nullptr),
        fitting_(readers_ ? readers_->fitting : model.fitting),
        n_types_(model.n_types()),
        is_radial_(model.kind == DescriptorKind::se_e2_r),
        has_pairs_(model.kind == DescriptorKind::se_e3) {}

  [[nodiscard]] DpDocument document() {
    Tree top, script = model_script(), tree = model_tree();
    top.set("software", Tree::text("quintet"));
    top.set("version", Tree::text(hdf5::current_provenance().version));
    top.set("time", Tree::text(hdf5::current_provenance().date));
    top.set("backend", Tree::text("dpmodel"));
    top.set("model", std::move(tree));
    top.set("model_def_script", std::move(script));
    if (model_.least_distance) {
      Tree variables;
      variables.set("min_nbor_dist", document_.add({}, {*model_.least_distance}, false));
      top.set("@variables", std::move(variables));
    }
    document_.description = std::move(top);
    return std::move(document_);
  }

 private:
  [[nodiscard]] Tree precision() const { return Tree::text(model_.single_precision ? "float32" : "float64"); }
  [[nodiscard]] Tree array(std::vector<std::uint64_t> shape, std::vector<double> values) {
    return document_.add(std::move(shape), std::move(values), model_.single_precision);
  }
  /// Energies per type, float32 only if that loses nothing.
  [[nodiscard]] Tree bias_array(std::vector<std::uint64_t> shape, const std::vector<double>& values) {
    const bool exact = std::all_of(values.begin(), values.end(),
                                   [](double v) { return static_cast<double>(static_cast<float>(v)) == v; });
    return document_.add(std::move(shape), values, model_.single_precision && exact);
  }

  Tree layer(const DenseLayer& dense, bool is_output, bool has_bias = true) {
    const std::uint64_t n_in = dense.n_in, n_out = dense.n_out;
    const bool may_skip = dense.n_out == dense.n_in || dense.n_out == 2 * dense.n_in;
    // DeePMD-kit marks all hidden layers, and skips where the widths allow it.
    const bool resnet = may_skip ? dense.skip != DenseLayer::Skip::none : !is_output;
    Tree tree, variables;
    variables.set("w", array({n_in, n_out}, dense.weight));
    variables.set("b", has_bias ? array({n_out}, dense.bias) : Tree());
    variables.set("idt", has_timesteps(dense) ? array({n_out}, dense.timestep) : Tree());
    tree.set("@class", Tree::text("Layer"));
    tree.set("@version", Tree::integer(2));
    tree.set("bias", Tree::boolean(has_bias));
    tree.set("use_timestep", Tree::boolean(has_timesteps(dense)));
    tree.set("activation_function", Tree::text(name_of(dense.activation)));
    tree.set("resnet", Tree::boolean(resnet));
    tree.set("precision", precision());
    tree.set("trainable", Tree::boolean(true));
    tree.set("@variables", std::move(variables));
    return tree;
  }

  Tree network(const Network& network, bool fitting, bool has_bias = true) {
    Tree tree, layers = Tree::list();
    for (std::size_t i = 0; i < network.layers.size(); ++i)
      layers.append(layer(network.layers[i], fitting && i + 1 == network.layers.size(), has_bias));
    tree.set("@class", Tree::text(fitting ? "FittingNetwork" : "EmbeddingNetwork"));
    tree.set("@version", Tree::integer(fitting ? 1 : 2));
    tree.set("in_dim", Tree::integer(network.n_in()));
    if (fitting) tree.set("out_dim", Tree::integer(network.n_out()));
    tree.set("neuron", integers(widths(network, fitting)));
    tree.set("activation_function", Tree::text(name_of(network.layers.front().activation)));
    tree.set("resnet_dt", Tree::boolean(has_timesteps({network})));
    tree.set(fitting ? "bias_out" : "bias", Tree::boolean(has_bias));
    tree.set("precision", precision());
    tree.set("layers", std::move(layers));
    return tree;
  }

  /// @param n_dims how many types name one of the networks
  Tree collection(const std::vector<Network>& networks, bool fitting, int n_dims) {
    Tree tree, items = Tree::list();
    for (const auto& one : networks) items.append(network(one, fitting));
    tree.set("@class", Tree::text("NetworkCollection"));
    tree.set("@version", Tree::integer(1));
    tree.set("ndim", Tree::integer(n_dims));
    tree.set("ntypes", Tree::integer(model_.n_types()));
    tree.set("network_type", Tree::text(fitting ? "fitting_network" : "embedding_network"));
    tree.set("networks", std::move(items));
    return tree;
  }

  /// davg, dstd [n_types, n_slots, 4], of se_e2_r [n_types, n_slots, 1]: the same in all slots.
  Tree statistics(const std::vector<std::array<double, 4>>& rows) {
    const std::uint64_t columns = is_radial_ ? 1 : 4;
    std::vector<double> values;
    for (const auto& row : rows)
      for (int slot = 0; slot < model_.n_slots(); ++slot)
        values.insert(values.end(), row.begin(), row.begin() + columns);
    return array({n_types_, static_cast<std::uint64_t>(model_.n_slots()), columns}, std::move(values));
  }

  Tree tables() {
    Tree tree, variables, data = Tree::list(), info = Tree::list();
    const auto add = [&](const QuinticTable* table) {
      const bool is_absent = !table || table->coefficients.empty();
      const std::uint64_t width = is_absent ? 1 : 6 * static_cast<std::uint64_t>(table->n_channels);
      data.append(is_absent ? array({0}, {})
                            : array({table->coefficients.size() / width, width}, table->coefficients));
      info.append(is_absent ? array({0}, {})
                            : array({6}, {table->lower, table->upper, table->maximum, table->stride[0],
                                          table->stride[1], -1}));
    };
    if (has_pairs_)
      for (int u = 0; u < model_.n_types(); ++u)
        for (int t = 0; t < model_.n_types(); ++t)  // those of pairs in the other order are not used
          add(t <= u ? &model_.tables[model_.network_index(t, u)] : nullptr);
    else
      for (const auto& table : model_.tables) add(&table);
    variables.set("compress_data", std::move(data));
    variables.set("compress_info", std::move(info));
    if (readers_) {
      variables.set("type_embd_data", gates());
      tree.set("geo_compress", Tree::boolean(true));
    }
    tree.set("@variables", std::move(variables));
    return tree;
  }

  /// Gates of all pairs of types: [neighbours, channels], two-sided [centres, neighbours, channels] as one
  /// list of rows.
  Tree gates() {
    const auto rows = padded_gates(*readers_, model_.type_one_side);
    std::vector<double> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    return array({rows.size(), rows.front().size()}, std::move(values));
  }

  Tree environment() const {
    Tree tree;
    tree.set("rcut", document_number(model_.rcut));
    tree.set("rcut_smth", document_number(model_.rcut_smooth));
    tree.set("protection", document_number(model_.protection));
    tree.set("use_exp_switch", Tree::boolean(false));
    return tree;
  }

  /// What the serialised descriptor and the training input have in common.
  Tree descriptor_options() const {
    Tree tree;
    tree.set("type", Tree::text(potential::name_of(model_.kind)));
    tree.set("rcut", document_number(model_.rcut));
    tree.set("rcut_smth", document_number(model_.rcut_smooth));
    tree.set("sel", integers(model_.sel));
    if (readers_) add_type_options(tree);
    tree.set("neuron", integers(widths(model_.embedding.front(), false)));
    if (model_.axis_neuron > 0) tree.set("axis_neuron", Tree::integer(model_.axis_neuron));
    tree.set("resnet_dt", Tree::boolean(has_timesteps(model_.embedding)));
    tree.set("trainable", Tree::boolean(true));
    if (!has_pairs_) tree.set("type_one_side", Tree::boolean(model_.type_one_side));
    tree.set("exclude_types", flagged_pairs(model_.excluded_descriptor_pairs, model_.n_types()));
    tree.set("env_protection", document_number(model_.protection));
    tree.set("set_davg_zero", Tree::boolean(readers_ && !model_.smooth_gates));
    tree.set("activation_function", Tree::text(name_of(model_.embedding.front().layers.front().activation)));
    tree.set("precision", precision());
    return tree;
  }

  /// What dpa1 has beside se_e2_a.
  void add_type_options(Tree& tree) const {
    tree.set("tebd_dim", Tree::integer(readers_->types.n_out()));
    tree.set("tebd_input_mode", Tree::text(readers_->has_gate() ? "strip" : "concat"));
    tree.set("smooth_type_embedding", Tree::boolean(!readers_->has_gate() || model_.smooth_gates));
    tree.set("concat_output_tebd", Tree::boolean(readers_->fitting_reads_types));
    tree.set("use_tebd_bias", Tree::boolean(readers_->types_have_bias));
    tree.set("use_econf_tebd", Tree::boolean(false));
    tree.set("attn_layer", Tree::integer(0));
    tree.set("attn", Tree::integer(attention_width));
    for (const char* name : {"attn_dotr", "normalize", "trainable_ln"}) tree.set(name, Tree::boolean(true));
    tree.set("attn_mask", Tree::boolean(false));
    tree.set("scaling_factor", document_number(1.0));
    tree.set("ln_eps", document_number(1e-5));
  }

  /// The attention layers that a file of dpa1 names, none.
  Tree attention() const {
    Tree tree;
    tree.set("@class", Tree::text("NeighborGatedAttention"));
    tree.set("@version", Tree::integer(1));
    tree.set("layer_num", Tree::integer(0));
    tree.set("nnei", Tree::integer(model_.n_slots()));
    tree.set("embed_dim", Tree::integer(model_.n_channels()));
    tree.set("hidden_dim", Tree::integer(attention_width));
    for (const char* name : {"dotr", "normalize", "trainable_ln"}) tree.set(name, Tree::boolean(true));
    tree.set("do_mask", Tree::boolean(false));
    tree.set("scaling_factor", document_number(1.0));
    tree.set("temperature", Tree());
    tree.set("ln_eps", document_number(1e-5));
    tree.set("precision", precision());
    tree.set("attention_layers", Tree::list());
    return tree;
  }

  Tree type_embedding() {
    Tree tree;
    tree.set("@class", Tree::text("TypeEmbedNet"));
    tree.set("@version", Tree::integer(2));
    tree.set("ntypes", Tree::integer(model_.n_types()));
    tree.set("neuron", integers(widths(readers_->types, false)));
    tree.set("resnet_dt", Tree::boolean(has_timesteps({readers_->types})));
    tree.set("precision", precision());
    tree.set("activation_function", Tree::text(name_of(readers_->types.layers.front().activation)));
    tree.set("trainable", Tree::boolean(true));
    tree.set("padding", Tree::boolean(true));
    tree.set("use_econf_tebd", Tree::boolean(false));
    tree.set("use_tebd_bias", Tree::boolean(readers_->types_have_bias));
    tree.set("type_map", texts(model_.type_names));
    tree.set("embedding", network(readers_->types, false, readers_->types_have_bias));
    return tree;
  }

  /// Networks that read types.
  void add_readers(Tree& tree) {
    tree.set("ntypes", Tree::integer(model_.n_types()));
    tree.set("temperature", Tree());
    tree.set("embeddings", collection({readers_->embedding}, false, 0));
    tree.set("attention_layers", attention());
    tree.set("type_embedding", type_embedding());
    if (readers_->has_gate()) tree.set("embeddings_strip", collection({readers_->gate}, false, 0));
  }

  Tree descriptor() {
    Tree tree = descriptor_options(), variables;
    if (is_radial_) tree.set("type", Tree::text("se_r"));  // the name that files of DeePMD-kit have
    variables.set("davg", statistics(model_.mean));
    variables.set("dstd", statistics(model_.deviation));
    tree.set("@class", Tree::text("Descriptor"));
    tree.set("@version", Tree::integer(model_.tables.empty() ? 2 : 3));
    if (!has_pairs_) tree.set("spin", Tree());
    tree.set("type_map", texts(model_.type_names));
    tree.set("env_mat", environment());
    if (readers_)
      add_readers(tree);
    else if (has_pairs_)
      tree.set("embeddings", collection(in_square(), false, 2));
    else
      tree.set("embeddings", collection(model_.embedding, false, model_.type_one_side ? 1 : 2));
    tree.set("@variables", std::move(variables));
    if (!model_.tables.empty()) tree.set("compress", tables());
    return tree;
  }

  /// Networks of pairs of types t <= u among those of all pairs, [u * n_types + t]; others are 0.
  [[nodiscard]] std::vector<Network> in_square() const {
    Network zero = model_.embedding.front();
    for (auto& layer : zero.layers)
      for (auto* numbers : {&layer.weight, &layer.bias, &layer.timestep})
        if (numbers != &layer.timestep || has_timesteps(layer))
          std::fill(numbers->begin(), numbers->end(), 0.0);
    const int n = model_.n_types();
    std::vector<Network> all(std::int64_t{n} * n, zero);
    for (int u = 0; u < n; ++u)
      for (int t = 0; t <= u; ++t)
        all[model_.pair_index(t, u)] = model_.embedding[model_.network_index(t, u)];
    return all;
  }

  Tree fitting_options() const {
    Tree tree;
    tree.set("neuron", integers(widths(fitting_.front(), true)));
    tree.set("resnet_dt", Tree::boolean(has_timesteps(fitting_)));
    tree.set("numb_fparam", Tree::integer(0));
    tree.set("numb_aparam", Tree::integer(model_.atom_parameters.count()));
    tree.set("activation_function", Tree::text(name_of(fitting_.front().layers.front().activation)));
    tree.set("precision", precision());
    return tree;
  }

  /// A number for each parameter of atoms; none: null.
  Tree of_parameters(const std::vector<double>& values) {
    return values.empty() ? Tree() : bias_array({values.size()}, values);
  }

  /// All keys at once: DeePMD-kit 3.2 fails, or misreads a file, where some of them are missing.
  Tree fitting() {
    Tree tree = fitting_options(), variables, trainable = Tree::list();
    variables.set("bias_atom_e", bias_array({n_types_, 1}, model_.atom_bias));
    for (const char* name : {"case_embd", "fparam_avg", "fparam_inv_std"}) variables.set(name, Tree());
    variables.set("aparam_avg", of_parameters(model_.atom_parameters.mean));
    variables.set("aparam_inv_std", of_parameters(model_.atom_parameters.inverse_deviation));
    const bool is_shared = readers_ && fitting_.size() == 1;
    for (std::size_t i = 0; i < fitting_.front().layers.size(); ++i) trainable.append(Tree::boolean(true));
    tree.set("@class", Tree::text("Fitting"));
    tree.set("@version", Tree::integer(4));
    tree.set("type", Tree::text("ener"));
    tree.set("var_name", Tree::text("energy"));
    tree.set("ntypes", Tree::integer(model_.n_types()));
    tree.set("dim_descrpt", Tree::integer(fitting_.front().n_in() - model_.atom_parameters.count()));
    tree.set("dim_out", Tree::integer(1));
    tree.set("dim_case_embd", Tree::integer(0));
    for (const char* name : {"default_fparam", "rcond", "layer_name", "spin"}) tree.set(name, Tree());
    tree.set("mixed_types", Tree::boolean(is_shared));
    tree.set("exclude_types", flagged(model_.excluded_fitting));
    tree.set("type_map", texts(model_.type_names));
    tree.set("tot_ener_zero", Tree::boolean(false));
    tree.set("trainable", std::move(trainable));
    tree.set("use_aparam_as_mask", Tree::boolean(false));
    tree.set("atom_ener", Tree::list());
    tree.set("nets", collection(fitting_, true, is_shared ? 0 : 1));
    tree.set("@variables", std::move(variables));
    return tree;
  }

  Tree model_tree() {
    Tree tree, variables;
    variables.set("out_bias", document_.add({1, n_types_, 1}, model_.output_bias, false));
    variables.set("out_std", document_.add({1, n_types_, 1}, std::vector<double>(n_types_, 1.0), false));
    tree.set("@class", Tree::text("Model"));
    tree.set("@version", Tree::integer(2));
    tree.set("type", Tree::text("standard"));
    tree.set("type_map", texts(model_.type_names));
    tree.set("atom_exclude_types", flagged(model_.excluded_atoms));
    tree.set("pair_exclude_types", flagged_pairs(model_.excluded_pairs, model_.n_types()));
    tree.set("rcond", Tree());
    tree.set("preset_out_bias", Tree());
    tree.set("descriptor", descriptor());
    tree.set("fitting", fitting());
    tree.set("@variables", std::move(variables));
    return tree;
  }

  /// The `model` section of a training input, which conversion and compression by DeePMD-kit ask for.
  Tree model_script() const {
    Tree tree;
    tree.set("type_map", texts(model_.type_names));
    tree.set("descriptor", descriptor_options());
    tree.set("fitting_net", fitting_options());
    tree.set("atom_exclude_types", flagged(model_.excluded_atoms));
    tree.set("pair_exclude_types", flagged_pairs(model_.excluded_pairs, model_.n_types()));
    return tree;
  }

  static constexpr int attention_width = 128;  ///< of no layers; DeePMD-kit's default
  const Model& model_;
  const TypeReaders* readers_;  ///< of dpa1
  const std::vector<Network>& fitting_;
  std::uint64_t n_types_;
  bool is_radial_, has_pairs_;  ///< se_e2_r, se_e3
  DpDocument document_;
};

}  // namespace

bool has_embedding_timesteps(const Model& model) { return has_timesteps(model.embedding); }

void write_dp(const std::string& path, const Model& model) {
  require_trainable(model, "dpmd writes");
  write_document(path, Writer(model).document());
}

}  // namespace quintet::potential
