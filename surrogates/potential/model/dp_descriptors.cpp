#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/potential/model/dp_source.hpp"

namespace quintet::potential {

namespace {

/// mean and deviation [n_types][columns], of columns that the file has not `absent`; the file keeps them per
/// slot, equal in all slots.
std::vector<std::array<double, 4>> read_statistics(const DpFile& file, const Tree& descriptor,
                                                   const char* name, const DescriptorModel& model,
                                                   double absent) {
  const int n_types = model.n_types(), n_slots = model.n_slots();
  const int columns = model.kind == DescriptorKind::se_e2_r ? 1 : 4;
  const auto values = file.array(descriptor, name, static_cast<long>(columns) * n_types * n_slots);
  QUINTET_CHECK(!values.empty(), "{}: the descriptor has no {}", file.path(), name);
  std::vector<std::array<double, 4>> statistics(n_types, {absent, absent, absent, absent});
  for (int t = 0; t < n_types; ++t)
    for (int slot = 0; slot < n_slots; ++slot)
      for (int c = 0; c < columns; ++c) {
        const double value = values[(std::int64_t{t} * n_slots + slot) * columns + c];
        if (slot == 0) statistics[t][c] = value;
        if (value != statistics[t][c])
          refuse(file, fmt::format("a descriptor whose {} differs between neighbour slots", name));
      }
  return statistics;
}

QuinticTable read_table(const DpFile& file, const std::string& data, const std::string& info,
                        const DescriptorModel& model) {
  const auto numbers = file.dataset(info, "compress_info", 6);
  QuinticTable table;
  table.lower = numbers[0];
  table.upper = numbers[1];
  table.maximum = numbers[2];
  table.stride = {numbers[3], numbers[4]};
  table.n_channels = model.n_channels();
  table.two_sided = model.kind == DescriptorKind::se_e3;
  QUINTET_CHECK(table.stride[0] > 0 && table.stride[1] > 0 && table.upper > table.lower &&
                    table.maximum >= table.upper && table.minimum() <= table.lower,
                "{}: compression table {} has the impossible ranges [{}]", file.path(), info,
                fmt::join(numbers, ", "));
  constexpr double most_rows = 1e9;
  QUINTET_CHECK((table.upper - table.lower) / table.stride[0] < most_rows &&
                    (table.maximum - table.minimum()) / table.stride[1] < most_rows,
                "{}: compression table {} asks for more than {:.0e} rows: [{}]", file.path(), info, most_rows,
                fmt::join(numbers, ", "));
  table.coefficients =
      file.dataset(data, "compress_data", QuinticRanges(table).n_rows() * 6 * table.n_channels);
  return table;
}

/// Tables of the networks among the `expected` ones that the file lists; that of the i-th is [places[i]].
void read_tables(const DpFile& file, const Tree& descriptor, const std::vector<int>& places,
                 std::int64_t expected, DescriptorModel& model) {
  const Tree& variables = descriptor.at("compress").at("@variables");
  const auto& data = variables.at("compress_data").items();
  const auto& info = variables.at("compress_info").items();
  QUINTET_CHECK(std::ssize(data) == expected && info.size() == data.size(),
                "{}: {} compression tables and {} table ranges for {} embedding networks", file.path(),
                data.size(), info.size(), expected);
  for (const int place : places) {
    const auto shape = file.shape(data[place].as_text());
    const bool excluded =
        std::find(shape.begin(), shape.end(), 0u) != shape.end();  // a net that no pair uses
    model.tables.push_back(excluded ? QuinticTable{}
                                    : read_table(file, data[place].as_text(), info[place].as_text(), model));
  }
}

void read_tables(const DpFile& file, const Tree& descriptor, DescriptorModel& model) {
  if (!descriptor.has("compress") || descriptor.at("compress").is_null()) return;
  std::vector<int> places(model.embedding.size());
  std::iota(places.begin(), places.end(), 0);
  read_tables(file, descriptor, places, std::ssize(places), model);
}

/// The table of dpa1's network of s. Gates are made of the file's own networks; the table of them that the
/// file has, too, must be the same.
void read_gated_tables(const DpFile& file, const Tree& descriptor, const TypeReaders& readers, bool single,
                       DescriptorModel& model) {
  if (!descriptor.has("compress") || descriptor.at("compress").is_null()) return;
  if (!readers.has_gate()) refuse(file, "a compressed dpa1 with tebd_input_mode: concat");
  const Tree& tree = descriptor.at("compress");
  const auto gates = padded_gates(readers, model.type_one_side);
  const auto stored = file.array(tree, "type_embd_data", std::ssize(gates) * std::ssize(gates.front()));
  QUINTET_CHECK(!stored.empty(), "{}: a compressed dpa1 without gates of pairs of types (type_embd_data)",
                file.path());
  const double tolerance = single ? 1e-5 : 1e-10;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const double own = gates[i / gates.front().size()][i % gates.front().size()];
    QUINTET_CHECK(
        std::abs(stored[i] - own) <= tolerance * std::max(1.0, std::abs(own)),
        "{}: the table of the gates of pairs of types (type_embd_data) is {} at position {}, but the "
        "file's own networks give {}: compress the model again",
        file.path(), stored[i], i, own);
  }
  if (given(tree, "geo_compress")) read_tables(file, descriptor, model);
}

/// The cutoffs, the statistics' protection, and what no descriptor may have.
void read_environment(const DpFile& file, const Tree& tree, DescriptorModel& model) {
  if (given(tree, "spin")) refuse(file, "spin");
  model.rcut = tree.at("rcut").as_number();
  model.rcut_smooth = tree.at("rcut_smth").as_number();
  if (const Tree* p = tree.find("env_protection")) model.protection = p->as_number();
  if (const Tree* env = tree.find("env_mat"); env && given(*env, "use_exp_switch"))
    refuse(file, "use_exp_switch");
  QUINTET_CHECK(
      model.rcut > 0 && model.rcut < 1000 && model.rcut_smooth >= 0 && model.rcut_smooth < model.rcut,
      "{}: cutoffs rcut_smth = {}, rcut = {} angstrom make no sense (0 <= rcut_smth < rcut expected)",
      file.path(), model.rcut_smooth, model.rcut);
}

/// The room for neighbours: of each type, or of all together.
void read_sel(const DpFile& file, const Tree& sel, int expected, DescriptorModel& model) {
  if (sel.is_list())
    for (const auto& n : sel.items()) model.sel.push_back(n.as_integer());
  else
    model.sel.push_back(sel.as_integer());
  QUINTET_CHECK(std::ssize(model.sel) == expected, "{}: sel has {} entries for {} types{}", file.path(),
                model.sel.size(), model.n_types(),
                expected == 1 ? "; this descriptor counts them together" : "");
  for (int n : model.sel) QUINTET_CHECK(n >= 0 && n < 100000, "{}: sel = {} makes no sense", file.path(), n);
  QUINTET_CHECK(model.n_slots() > 0, "{}: sel leaves no room for neighbours", file.path());
}

void check_channels(const DpFile& file, const DescriptorModel& model) {
  for (const auto& network : model.embedding)
    QUINTET_CHECK(network.n_out() == model.n_channels(), "{}: embedding networks of {} and {} outputs",
                  file.path(), network.n_out(), model.n_channels());
}

void read_axis(const DpFile& file, const Tree& tree, DescriptorModel& model) {
  model.axis_neuron = tree.at("axis_neuron").as_integer();
  QUINTET_CHECK(model.axis_neuron > 0 && model.axis_neuron <= model.n_channels(),
                "{}: axis_neuron = {} with {} embedding outputs", file.path(), model.axis_neuron,
                model.n_channels());
}

void read_all_statistics(const DpFile& file, const Tree& tree, DescriptorModel& model) {
  model.mean = read_statistics(file, tree, "davg", model, 0.0);
  model.deviation = read_statistics(file, tree, "dstd", model, 1.0);
  for (const auto& row : model.deviation)
    for (double d : row) QUINTET_CHECK(d > 0, "{}: dstd holds {}, positive values expected", file.path(), d);
}

void read_se_e2_a(const DpFile& file, const Tree& tree, DpDescriptor& descriptor) {
  DescriptorModel& model = descriptor.model;
  const int n = model.n_types();
  read_environment(file, tree, model);
  read_sel(file, tree.at("sel"), n, model);
  model.type_one_side = !tree.has("type_one_side") || tree.at("type_one_side").as_boolean();
  model.embedding = read_networks(file, tree.at("embeddings"), model.type_one_side ? n : n * n, 1);
  check_channels(file, model);
  read_axis(file, tree, model);
  read_all_statistics(file, tree, model);
  read_tables(file, tree, model);
}

void read_se_e2_r(const DpFile& file, const Tree& tree, DpDescriptor& descriptor) {
  DescriptorModel& model = descriptor.model;
  read_environment(file, tree, model);
  if (given(tree, "exclude_types"))
    refuse(file, "exclude_types of a descriptor se_e2_r", "the model's pair_exclude_types is");
  if (tree.has("type_one_side") && !tree.at("type_one_side").as_boolean())
    refuse(file, "type_one_side: false of a descriptor se_e2_r");
  read_sel(file, tree.at("sel"), model.n_types(), model);
  model.embedding = read_networks(file, tree.at("embeddings"), model.n_types(), 1);
  check_channels(file, model);
  model.axis_neuron = 0;
  read_all_statistics(file, tree, model);
  read_tables(file, tree, model);
}

/// Networks of pairs of neighbours of types t <= u. Files have others, which DeePMD-kit does not use either.
void read_se_e3(const DpFile& file, const Tree& tree, DpDescriptor& descriptor) {
  DescriptorModel& model = descriptor.model;
  const int n = model.n_types();
  read_environment(file, tree, model);
  read_sel(file, tree.at("sel"), n, model);
  for (int t = 0; t < n; ++t)
    QUINTET_CHECK(model.sel[t] > 0,
                  "{}: sel = 0 for type {}: the descriptor se_e3 divides by it; expected at least 1",
                  file.path(), model.type_names[t]);
  model.type_one_side = false;
  const auto all = read_networks(file, tree.at("embeddings"), std::int64_t{n} * n, 1);
  std::vector<int> places;
  for (int u = 0; u < n; ++u)
    for (int t = 0; t <= u; ++t) {
      places.push_back(model.pair_index(t, u));
      model.embedding.push_back(all[places.back()]);
    }
  check_channels(file, model);
  model.axis_neuron = 0;
  read_all_statistics(file, tree, model);
  if (tree.has("compress") && !tree.at("compress").is_null())
    read_tables(file, tree, places, std::int64_t{n} * n, model);
}

/// The network that embeds types, and whether it has a bias.
void read_type_network(const DpFile& file, const Tree& tree, int n_types, TypeReaders& readers) {
  const Tree& embedding = tree.at("type_embedding");
  if (given(tree, "use_econf_tebd") || given(embedding, "use_econf_tebd"))
    refuse(file, "use_econf_tebd (type embeddings from electronic configurations)",
           "train with use_econf_tebd: false");
  readers.types = read_network(file, embedding.at("embedding"), n_types);
  readers.types_have_bias = !embedding.has("use_tebd_bias") || given(embedding, "use_tebd_bias");
}

/// Networks of s and a pair's embedding (tebd_input_mode concat), or of s, and a gate of the embedding
/// (strip).
TypeReaders read_readers(const DpFile& file, const Tree& tree, const std::string& mode,
                         DescriptorModel& model) {
  TypeReaders readers;
  read_type_network(file, tree, model.n_types(), readers);
  const int width = readers.types.n_out() * (model.type_one_side ? 1 : 2);
  const bool has_gate = mode == "strip";
  readers.embedding = read_networks(file, tree.at("embeddings"), 1, has_gate ? 1 : 1 + width).front();
  readers.fitting_reads_types = !tree.has("concat_output_tebd") || tree.at("concat_output_tebd").as_boolean();
  if (!has_gate) return readers;
  model.smooth_gates = !tree.has("smooth_type_embedding") || tree.at("smooth_type_embedding").as_boolean();
  readers.gate = read_networks(file, tree.at("embeddings_strip"), 1, width).front();
  QUINTET_CHECK(readers.gate.n_out() == readers.embedding.n_out(),
                "{}: embedding networks of {} and {} outputs", file.path(), readers.gate.n_out(),
                readers.embedding.n_out());
  return readers;
}

/// With statistics that are not centred, empty slots add something, of a pair of types that is not theirs:
/// DeePMD-kit takes the type of the frame's first atom, or adds nothing, by the backend.
void check_empty_slots(const DpFile& file, const DescriptorModel& model) {
  if (!model.gates.empty() && model.smooth_gates) return;  // w = 0 there: the pair does not matter
  for (const auto& row : model.mean)
    for (const double value : row)
      if (value != 0)
        refuse(file, "a descriptor dpa1 whose davg is not 0",
               "its energy depends on which atom comes first; train with set_davg_zero: true");
}

void read_dpa1(const DpFile& file, const Tree& tree, DpDescriptor& descriptor) {
  DescriptorModel& model = descriptor.model;
  if (given(tree, "attn_layer"))
    refuse(file, fmt::format("attn_layer: {} (attention layers)", tree.at("attn_layer").as_integer()),
           "train with attn_layer: 0, or use DeePMD-kit for this model");
  read_environment(file, tree, model);
  read_sel(file, tree.at("sel"), 1, model);
  model.type_one_side = tree.has("type_one_side") && tree.at("type_one_side").as_boolean();
  const bool old = tree.at("type").as_text() == "se_atten_v2";
  const std::string mode = tree.has("tebd_input_mode") ? tree.at("tebd_input_mode").as_text()
                           : old                       ? "strip"
                                                       : "concat";
  if (mode != "concat" && mode != "strip") refuse(file, fmt::format("tebd_input_mode: {}", mode));
  descriptor.readers = read_readers(file, tree, mode, model);
  resolve_descriptor(*descriptor.readers, model);
  read_axis(file, tree, model);
  read_all_statistics(file, tree, model);
  check_empty_slots(file, model);
  read_gated_tables(file, tree, *descriptor.readers, descriptor.single, model);
  descriptor.mixed_types = true;
  if (descriptor.readers->fitting_reads_types)
    descriptor.constants = type_embeddings(descriptor.readers->types);
}

struct DescriptorRow {
  DescriptorKind value;
  const char* other_name;  ///< in files, beside its own
  void (*read)(const DpFile&, const Tree&, DpDescriptor&);
};
constexpr DescriptorRow descriptors[] = {
    {DescriptorKind::se_e2_a, "se_a", read_se_e2_a}, {DescriptorKind::se_e2_r, "se_r", read_se_e2_r},
    {DescriptorKind::se_e3, "se_at", read_se_e3},    {DescriptorKind::se_e3, "se_a_3be", read_se_e3},
    {DescriptorKind::dpa1, "se_atten", read_dpa1},   {DescriptorKind::dpa1, "se_atten_v2", read_dpa1},
};
constexpr int newest_version = 3;

}  // namespace

DpDescriptor read_descriptor(const DpFile& file, const Tree& tree,
                             const std::vector<std::string>& type_names) {
  const std::string type = tree.at("type").as_text();
  for (const auto& row : descriptors) {
    if (type != name_of(row.value) && type != row.other_name) continue;
    DpDescriptor descriptor;
    descriptor.version = tree.has("@version") ? tree.at("@version").as_integer() : 1;
    QUINTET_CHECK(descriptor.version <= newest_version,
                  "{}: descriptor version {} is newer than this program knows ({})", file.path(),
                  descriptor.version, newest_version);
    descriptor.model.kind = row.value;
    descriptor.model.type_names = type_names;
    descriptor.single = single_precision(file, tree, "descriptor");
    row.read(file, tree, descriptor);
    descriptor.model.excluded_descriptor_pairs =
        read_pairs(file, tree, "exclude_types", descriptor.model.n_types());
    return descriptor;
  }
  refuse(file, fmt::format("descriptor '{}'", type),
         "train one of them on the same data (dpmd train), or use DeePMD-kit for this model");
}

}  // namespace quintet::potential
