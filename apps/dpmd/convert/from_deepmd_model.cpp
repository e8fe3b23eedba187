#include "apps/dpmd/convert/from_deepmd_model.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/config/suggest.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

void activation(Source& from, Tree& to) {
  const Tree* value = from.find("activation_function");
  if (!value) return;
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"tanh", "tanh"},     {"gelu", "gelu"},   {"gelu_tf", "gelu"},      {"silu", "silu"},
      {"relu", "relu"},     {"relu6", "relu6"}, {"softplus", "softplus"}, {"sigmoid", "sigmoid"},
      {"linear", "linear"}, {"none", "linear"}};
  std::string text = value->as_text();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto at = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == text; });
  std::vector<std::string> known;
  for (const auto& entry : names) known.push_back(entry.first);
  QUINTET_CHECK(at != names.end(), "{}: {} = '{}' is not known here; expected one of {}",
                value->location().text(), from.name("activation_function"), value->as_text(),
                name_list(known));
  to.set("activation", Tree::text(at->second));
}

/// "double", "single" or nothing.
std::optional<std::string> precision(Source& from) {
  const Tree* value = from.find("precision");
  if (!value) return std::nullopt;
  const auto& text = value->as_text();
  if (text == "default" || text == "float64" || text == "double") return "double";
  QUINTET_CHECK(text == "float32" || text == "single",
                "{}: {} = '{}' is not supported; expected default, float64 or float32",
                value->location().text(), from.name("precision"), text);
  return "single";
}

std::string type_name(const Tree& type, const Tree* type_map) {
  const auto t = type.as_integer();
  const auto n = type_map ? std::ssize(type_map->items()) : 0;
  QUINTET_CHECK(t >= 0 && t < n, "{}: type {} is not in model.type_map, which has {}", type.location().text(),
                t, counted(n, "name"));
  return type_map->items()[t].as_text();
}

/// [[0, 1]] as [O-H], with the names of the type map.
void excluded_pairs(Source& from, const char* key, const Tree* type_map, Tree& to, const char* our_key) {
  const Tree* value = from.find(key);
  if (!value || value->items().empty()) return;
  Tree names = Tree::list();
  for (const auto& pair : value->items()) {
    QUINTET_CHECK(pair.items().size() == 2, "{}: {}: expected pairs of types", pair.location().text(),
                  from.name(key));
    names.append(
        Tree::text(type_name(pair.items()[0], type_map) + "-" + type_name(pair.items()[1], type_map)));
  }
  to.set(our_key, names);
}

/// A descriptor of all types together counts the neighbours of all: of a list the sum matters.
void translate_sel(Source& from, bool is_together, Tree& to) {
  const Tree* value = from.find("sel");
  if (!value) return;
  if (is_together && value->is_list() && value->items().size() > 1) {
    std::int64_t sum = 0;
    for (const auto& n : value->items()) sum += n.as_integer();
    return to.set("sel", Tree::list({Tree::integer(sum)}));
  }
  to.set("sel", value->is_scalar() && value->as_text() != "auto" && !value->as_text().starts_with("auto:")
                    ? Tree::list({*value})
                    : *value);
}

bool is_dpa1(const std::string& type) { return type == "dpa1" || type.starts_with("se_atten"); }

bool is_se_e3(const std::string& type) { return type == "se_e3" || type == "se_at" || type == "se_a_3be"; }

/// What dpa1 has beside se_e2_a; se_atten_v2 is dpa1 with a gate.
void translate_types(Source& from, bool is_strip, Tree& to) {
  const char* no_attention = "dpa1 is trained without attention layers here";
  QUINTET_CHECK(from.find("attn_layer"), "{}: {} has 2 where it is left out; {}: give attn_layer: 0",
                from.place(), from.name("attn_layer"), no_attention);
  from.only("attn_layer", {"0"}, no_attention);
  from.ignore({"attn", "attn_dotr", "attn_mask", "normalize", "temperature", "scaling_factor", "trainable_ln",
               "ln_eps"});
  from.only("use_econf_tebd", {"false", "False"}, "types are embedded by a network here");
  from.only("use_tebd_bias", {"false", "False"}, "a bias would be the same for all types");
  to.set("type", Tree::text("dpa1"));
  Tree types = Tree::map();
  copy(from, "tebd_dim", types, "width");
  copy(from, "tebd_input_mode", types, "mode");
  if (const Tree* strip = from.find("stripped_type_embedding"))
    types.set("mode", Tree::text(strip->as_boolean() ? "strip" : "concat"));
  copy(from, {"smooth_type_embedding", "smooth_type_embdding"}, types, "smooth");
  if (is_strip && !types.has("mode")) types.set("mode", Tree::text("strip"));
  if (!is_strip && !types.has("smooth")) types.set("smooth", Tree::boolean(false));
  const bool has_mean = types.has("mode") && types.at("mode").as_text() == "strip" &&
                        (!types.has("smooth") || types.at("smooth").as_boolean());
  if (!has_mean) from.only("set_davg_zero", {"true", "True"}, "types.smooth with strip alone takes a mean");
  if (!is_strip && !from.find("set_davg_zero")) to.set("set_davg_zero", Tree::boolean(true));
  copy(from, "concat_output_tebd", types, "in_fitting");
  to.set("types", types);
}

Tree translate_descriptor(Source from, const Tree* type_map, std::vector<std::string>& warnings) {
  Tree to = Tree::map();
  QUINTET_CHECK(from.given(), "model.descriptor is missing");
  from.only(
      "type",
      {"se_e2_a", "se_a", "se_e2_r", "se_r", "se_e3", "se_at", "se_a_3be", "dpa1", "se_atten", "se_atten_v2"},
      "the descriptors here are se_e2_a, se_e2_r, se_e3, and dpa1 without attention layers");
  if (const Tree* type = from.find("type"); type && is_se_e3(type->as_text()))
    to.set("type", Tree::text("se_e3"));
  if (const Tree* type = from.find("type"); type && type->as_text().ends_with("r")) {
    to.set("type", Tree::text("se_e2_r"));
    from.only("type_one_side", {"true", "True"}, "networks of se_e2_r depend on the neighbour's type alone");
    from.refuse("exclude_types", "of se_e2_r take model.pair_exclude_types");
  }
  if (const Tree* type = from.find("type"); type && is_dpa1(type->as_text()))
    translate_types(from, type->as_text() == "se_atten_v2", to);
  from.only("trainable", {"true", "True"}, "all networks are trained");
  from.refuse("spin", "there are no spins here");
  copy_angstrom(from, "rcut", to, "rcut");
  copy_angstrom(from, "rcut_smth", to, "rcut_smooth");
  const Tree* type = from.find("type");
  translate_sel(from, type && is_dpa1(type->as_text()), to);
  copy(from, "neuron", to, "neurons");
  const bool has_axis = !type || (!is_se_e3(type->as_text()) && !type->as_text().ends_with("r"));
  if (has_axis)
    copy(from, {"axis_neuron", "n_axis_neuron"}, to, "axis_neurons");
  else
    for (const char* key : {"axis_neuron", "n_axis_neuron"})
      from.refuse(key, "se_e2_r and se_e3 have none, in DeePMD-kit too");
  copy(from, "type_one_side", to, "type_one_side");
  copy(from, "resnet_dt", to, "timestep");
  activation(from, to);
  excluded_pairs(from, "exclude_types", type_map, to, "exclude_types");
  copy_angstrom(from, "env_protection", to, "protection");
  copy(from, "set_davg_zero", to, "set_davg_zero");
  from.ignore({"precision"});  // of the whole model
  from.drop({"seed"}, "one seed (training.seed) starts all random numbers here", warnings);
  from.finish();
  return to;
}

Tree translate_fitting(Source from, std::vector<std::string>& warnings) {
  Tree to = Tree::map();
  from.only("type", {"ener"}, "energies are fitted here");
  for (const char* key : {"numb_fparam", "default_fparam", "dim_case_embd"})
    from.refuse(key, "no parameters of frames are trained here");
  from.refuse("use_aparam_as_mask", "parameters of atoms are no masks here");
  copy(from, "numb_aparam", to, "atom_parameters");
  from.refuse("atom_ener", "energies of atoms in vacuum cannot be given here");
  from.only("trainable", {"true", "True"}, "all networks are trained");
  from.refuse("layer_name", "layers are not shared here");
  copy(from, {"neuron", "n_neuron"}, to, "neurons");
  copy(from, "resnet_dt", to, "timestep");
  activation(from, to);
  from.ignore({"precision"});
  from.drop({"seed"}, "one seed (training.seed) starts all random numbers here", warnings);
  from.drop({"rcond"}, "energy biases are minimum-norm least squares here", warnings);
  from.finish();
  return to;
}

/// One precision for both parts.
void translate_precision(Source& model, Tree& to) {
  Source descriptor = model.section("descriptor"), fitting = model.section("fitting_net");
  const auto a = precision(descriptor), b = precision(fitting);
  QUINTET_CHECK(a.value_or("double") == b.value_or("double"),
                "{}: model.descriptor is {}, model.fitting_net {}: one precision is needed for both",
                model.place(), a.value_or("double"), b.value_or("double"));
  if (a || b) to.set("precision", Tree::text(a ? *a : *b));
}

}  // namespace

Tree translate_model(Source from, std::vector<std::string>& warnings) {
  QUINTET_CHECK(from.given(), "no section 'model': is this DeePMD-kit's training input?");
  Tree to = Tree::map();
  const Tree* type_map = from.find("type_map");
  from.only("type", {"standard"}, "one standard energy model is trained here");
  for (const char* key :
       {"type_embedding", "spin", "use_srtab", "modifier", "hybrid", "model_dict", "finetune_head"})
    from.refuse(key, "one of se_e2_a, se_e2_r, se_e3 and dpa1 is trained here");
  if (type_map) to.set("type_map", *type_map);
  translate_precision(from, to);
  to.set("descriptor", translate_descriptor(from.section("descriptor"), type_map, warnings));
  set_if_any(to, "fitting", translate_fitting(from.section("fitting_net"), warnings));
  excluded_pairs(from, "pair_exclude_types", type_map, to, "pair_exclude_types");
  if (const Tree* types = from.find("atom_exclude_types"); types && !types->items().empty()) {
    Tree names = Tree::list();
    for (const auto& type : types->items()) names.append(Tree::text(type_name(type, type_map)));
    to.set("atom_exclude_types", names);
  }
  copy(from, "data_stat_nbatch", to, "statistics_batches");
  from.drop({"data_stat_protect", "data_bias_nsample", "srtab_add_bias", "preset_out_bias"},
            "no counterpart here", warnings);
  from.ignore({"compress", "smin_alpha", "sw_rmin", "sw_rmax", "info", "model_branch_alias"});
  from.finish();
  return to;
}

}  // namespace quintet::dpmd
