#include "surrogates/potential/exported/compiled_package.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/files/zip_file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::potential {

namespace {

/// The JSON document of the member whose name ends so; null if there is none.
Tree document_of(const ZipFile& archive, std::string_view end) {
  for (const std::string& name : archive.names())
    if (name.ends_with(end)) return parse_yaml(archive.read(name), archive.path() + "/" + name);
  return {};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string text_of(const Tree& document, const char* key) {
  const Tree* value = document.find(key);
  return value ? value->as_text() : "";
}

bool is_true(const Tree& document, const char* key) {
  const Tree* value = document.find(key);
  return value && !value->is_null() && value->as_boolean();
}

std::int64_t count_of(const Tree& document, const char* key) {
  const Tree* value = document.find(key);
  return value && !value->is_null() ? value->as_integer() : 0;
}

std::string processor_features() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("flags", 0) == 0) return line.substr(line.find(':') + 1) + " ";
  return "";
}

constexpr const char* how_to_compile =
    "compile the model on this machine, for its cores: nequip-compile --mode aotinductor --device cpu, or "
    "DEVICE=cpu dp convert-backend";

/// Throws InputError where the code is not for this machine.
void require_machine(const std::string& path, const Tree& built) {
  const std::string device = text_of(built, "AOTI_DEVICE_KEY"), system = text_of(built, "AOTI_PLATFORM"),
                    machine = text_of(built, "AOTI_MACHINE");
  QUINTET_CHECK(device == "cpu",
                "{}: compiled for the device '{}', but dpmd runs such models on the cores; {}", path, device,
                how_to_compile);
  utsname here{};
  (void)uname(&here);
  QUINTET_CHECK((system.empty() || system == "linux") && (machine.empty() || machine == here.machine),
                "{}: compiled for {} on {}, but this is {} on linux; {}", path, machine, system, here.machine,
                how_to_compile);
  const auto missing = missing_instructions(text_of(built, "AOTI_CPU_ISA"), processor_features());
  QUINTET_CHECK(!missing, "{}: compiled for a processor with {}, which this one lacks; {}", path, *missing,
                how_to_compile);
}

double number_in(const std::string& path, const char* key, const std::string& text) {
  double value = 0;
  std::istringstream stream(text);
  QUINTET_CHECK(stream >> value && stream.eof(), "{}: its {} is '{}', not a number", path, key, text);
  return value;
}

/// What NequIP's compiler has written beside the code. Metadata are strings. Source: nequip 0.19.1.
void read_nequip(const Tree& says, const std::vector<double>& frame_parameters, CompiledPackage& package) {
  const std::string& path = package.path;
  const auto wanted = [&](const char* key) {
    const std::string text = text_of(says, key);
    QUINTET_CHECK(!text.empty(),
                  "{}: says no {}; compile the model by nequip-compile of NequIP 0.17 or later", path, key);
    return text;
  };
  QUINTET_CHECK(!says.has("nequip_custom_ops_libs"),
                "{}: needs the operators of {}, which dpmd does not have; compile the model without "
                "--modifiers that accelerate it",
                path, text_of(says, "nequip_custom_ops_libs"));
  QUINTET_CHECK(frame_parameters.empty(),
                "{}: NequIP reads no frame parameters, but frame_parameters gives {}", path,
                frame_parameters.size());
  package.facts.origin = "NequIP's or Allegro's compiled model";
  package.facts.cutoff = number_in(path, "r_max", wanted("r_max"));
  package.facts.type_names = words_of(wanted("type_names"));
  package.facts.gives_atom_virials = false;
  package.inputs = words_of(wanted("nequip_aoti_inputs"));
  package.outputs = words_of(wanted("nequip_aoti_outputs"));
  for (const std::string& input : package.inputs) {
    constexpr std::array known{"pos", "edge_index", "atom_types", "cell", "edge_cell_shift"};
    QUINTET_CHECK(
        std::find(known.begin(), known.end(), input) != known.end(),
        "{}: reads '{}', which dpmd does not give; compile it by --target pair_allegro (Allegro) or "
        "pair_nequip (NequIP)",
        path, input);
  }
  const std::size_t n = package.facts.type_names.size();
  if (const std::string said = text_of(says, "num_types"); !said.empty())
    QUINTET_CHECK(number_in(path, "num_types", said) == double(n),
                  "{}: num_types of its metadata is {}, but type_names names {}: {}; compile the model again",
                  path, said, counted(n, "type"), fmt::join(package.facts.type_names, ", "));
  package.reach.assign(n * n, package.facts.cutoff);
  const auto cutoffs = words_of(text_of(says, "per_edge_type_cutoff"));
  QUINTET_CHECK(cutoffs.empty() || cutoffs.size() == n * n, "{}: its per_edge_type_cutoff has {}, not {}",
                path, counted(cutoffs.size(), "number"), n * n);
  for (std::size_t p = 0; p < cutoffs.size(); ++p) {
    package.reach[p] = number_in(path, "per_edge_type_cutoff", cutoffs[p]);
    QUINTET_CHECK(package.reach[p] > 0 && package.reach[p] <= package.facts.cutoff,
                  "{}: its per_edge_type_cutoff has {:g}; expected above 0 to r_max, {:g}", path,
                  package.reach[p], package.facts.cutoff);
  }
}

/// Refuses what dpmd has no numbers for.
void refuse_the_uncommon(const std::string& path, const Tree& says) {
  const std::string kind = says.has("lower_input_kind") ? text_of(says, "lower_input_kind") : "nlist";
  QUINTET_CHECK(
      kind == "nlist",
      "{}: its inputs are a graph of the kind '{}', which dpmd does not make; train or convert the model "
      "with DeePMD-kit's PyTorch back end and freeze it to .pth: dp --pt freeze -o model.pth",
      path, kind);
  QUINTET_CHECK(
      !is_true(says, "has_message_passing"),
      "{}: atoms of this model pass messages to each other, of which dpmd runs those that are frozen "
      "to .pth: dp --pt freeze -o model.pth",
      path);
  QUINTET_CHECK(!is_true(says, "is_spin"), "{}: a model of atoms with spins, which dpmd does not have", path);
  QUINTET_CHECK(count_of(says, "dim_aparam") == 0,
                "{}: reads {} of each atom (aparam), which dpmd gives to models of .dp files alone: dp "
                "convert-backend, or train without numb_aparam",
                path, counted(count_of(says, "dim_aparam"), "parameter"));
  QUINTET_CHECK(count_of(says, "dim_chg_spin") == 0 && !is_true(says, "has_chg_spin_ebd"),
                "{}: reads the total charge and spin, which dpmd does not have", path);
}

/// The frame parameters that the code reads: those given, or the model's own.
std::vector<double> frame_parameters_of(const std::string& path, const Tree& says,
                                        std::vector<double> given) {
  const std::size_t wanted = count_of(says, "dim_fparam");
  if (given.empty() && is_true(says, "has_default_fparam"))
    for (const Tree& value : says.at("default_fparam").items()) given.push_back(value.as_number());
  QUINTET_CHECK(given.size() == wanted, "{}: the model reads {} (fparam), but frame_parameters gives {}",
                path, counted(wanted, "frame parameter"), given.size());
  return given;
}

/// DeePMD-kit's metadata.json. Source: DeePMD-kit 3.2, its exportable PyTorch back end.
void read_deepmd(const Tree& says, const std::vector<double>& frame_parameters, CompiledPackage& package) {
  const std::string& path = package.path;
  refuse_the_uncommon(path, says);
  package.maker = CompiledPackage::Maker::deepmd;
  package.facts.origin = "DeePMD-kit's compiled model";
  package.facts.cutoff = says.at("rcut").as_number();
  for (const Tree& name : says.at("type_map").items()) package.facts.type_names.push_back(name.as_text());
  for (const Tree& n : says.at("sel").items()) package.facts.sel.push_back(n.as_integer());
  package.facts.counts_together = is_true(says, "mixed_types");
  const auto& sel = package.facts.sel;
  const std::size_t n_sel = package.facts.counts_together ? 1 : package.facts.type_names.size();
  QUINTET_CHECK(
      sel.size() == n_sel && std::all_of(sel.begin(), sel.end(), [](auto most) { return most >= 0; }),
      "{}: its sel is [{}]; expected {} of 0 or more", path, fmt::join(sel, ", "), counted(n_sel, "number"));
  for (const Tree& name : says.at("output_keys").items()) package.outputs.push_back(name.as_text());
  package.facts.gives_atom_virials = false;
  package.frame_parameters = frame_parameters_of(path, says, frame_parameters);
  const int n = std::ssize(package.facts.type_names);
  package.reach.assign(std::size_t(n) * n, package.facts.cutoff);
  if (const Tree* pairs = says.find("pair_exclude_types"))
    for (const Tree& pair : pairs->items()) {
      const auto& types = pair.items();
      QUINTET_CHECK(types.size() == 2, "{}: its pair_exclude_types are no pairs", path);
      const std::int64_t a = types[0].as_integer(), b = types[1].as_integer();
      QUINTET_CHECK(a >= 0 && a < n && b >= 0 && b < n, "{}: excludes types {} and {} of {}", path, a, b, n);
      package.reach[a * n + b] = package.reach[b * n + a] = 0;
    }
}

}  // namespace

bool is_compiled_package(const std::vector<std::string>& members) {
  return std::any_of(members.begin(), members.end(), [](const std::string& name) {
    return ("/" + name).find("/aotinductor/") != std::string::npos || name.ends_with("archive_format");
  });
}

std::optional<std::string> missing_instructions(std::string_view named, std::string_view features) {
  const std::string all = fmt::format(" {} ", features);
  for (const std::string& word : words_of(std::string(named))) {
    std::vector<std::string> wanted;
    if (word.rfind("AVX2", 0) == 0) wanted = {"avx2", "fma"};
    if (word.rfind("AVX512", 0) == 0) wanted = {"avx512f", "avx512dq", "avx512bw", "avx512vl"};
    if (word.rfind("AMX", 0) == 0) wanted = {"amx_tile"};
    for (const std::string& feature : wanted)
      if (all.find(" " + feature + " ") == std::string::npos) return word;
  }
  return {};
}

CompiledPackage read_compiled_package(const std::string& path, const std::vector<double>& frame_parameters) {
  const ZipFile archive(path);
  const Tree built = document_of(archive, "_metadata.json");
  QUINTET_CHECK(built.is_map(), "{}: of AOTInductor, but it does not say what it was compiled for; {}", path,
                how_to_compile);
  require_machine(path, built);
  CompiledPackage package;
  package.path = path;
  const Tree deepmd = document_of(archive, "extra/metadata.json");
  if (deepmd.is_map()) {
    read_deepmd(deepmd, frame_parameters, package);
  } else {
    QUINTET_CHECK(built.has("r_max") || built.has("nequip_aoti_inputs"),
                  "{}: compiled by AOTInductor, but neither by nequip-compile nor by DeePMD-kit", path);
    read_nequip(built, frame_parameters, package);
  }
  QUINTET_CHECK(package.facts.cutoff > 0 && !package.facts.type_names.empty(),
                "{}: says a cutoff of {:g} angstrom and {}", path, package.facts.cutoff,
                counted(package.facts.type_names.size(), "type"));
  return package;
}

}  // namespace quintet::potential
