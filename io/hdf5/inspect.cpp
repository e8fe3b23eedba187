#include <filesystem>

#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/detail.hpp"
#include "io/hdf5/seal.hpp"

namespace quintet::hdf5 {
namespace {

constexpr int max_depth = 12;  ///< of groups; hard links can make a circle
constexpr std::size_t max_lines = 2000;

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", bytes * 1e-3);
  return fmt::format("{:.1f} MB", bytes * 1e-6);
}

/// A text attribute of a member, or "" if it is absent or no text.
std::string text_or_nothing(const Group& group, const std::string& member, const std::string& name) {
  try {
    return group.has_member_attribute(member, name)
               ? detail::printable(group.member_text_attribute(member, name))
               : "";
  } catch (const InputError&) {
    return "";
  }
}

std::string axes_text(const Group& group, const std::string& member) {
  try {
    if (!group.has_member_attribute(member, "axes")) return "";
    const auto axes = group.member_texts_attribute(member, "axes");
    return axes.empty() ? "" : fmt::format(" ({})", detail::joined(axes));
  } catch (const InputError&) {
    return "";
  }
}

std::string dataset_line(const Group& group, const std::string& name) {
  const std::string units = text_or_nothing(group, name, "units");
  const std::string about = text_or_nothing(group, name, "description");
  return fmt::format("{} {}{}{}{}", group.element_type(name), detail::shape_text(group.shape(name)),
                     axes_text(group, name), units.empty() ? "" : "  units " + units,
                     about.empty() ? "" : "  " + about);
}

/// The members of a group, one a line, groups before what they hold. A damaged member says so on its line.
void list_members(const Group& group, int depth, std::vector<std::string>& lines) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  for (const auto& name : group.names()) {
    if (lines.size() >= max_lines) return;
    const std::string shown = indent + detail::printable(name, 80);
    try {
      if (!group.is_group(name)) {
        lines.push_back(shown + "  " + dataset_line(group, name));
      } else {
        lines.push_back(shown + "/");
        if (depth < max_depth) list_members(group.open_group(name), depth + 1, lines);
      }
    } catch (const InputError& error) {
      lines.push_back(fmt::format("{}  unreadable: {}", shown, detail::printable(error.what(), 400)));
    }
  }
}

std::string tree_text(const Group& root) {
  std::vector<std::string> lines;
  list_members(root, 1, lines);
  std::string text = "contents:\n";
  for (const auto& line : lines) text += line + "\n";
  return lines.size() < max_lines ? text : text + fmt::format("  ... (only the first {} lines)\n", max_lines);
}

std::string provenance_text(const Group& root) {
  const auto p = read_provenance(root);
  using detail::printable;
  std::string text = fmt::format("made by: {} {} (git {}), {}\n", printable(p.program), printable(p.version),
                                 printable(p.git_hash), printable(p.build, 400));
  text += fmt::format("where and when: {}, {}, {} ranks x {} threads, seed {}{}\n", printable(p.host),
                      printable(p.date), p.ranks, p.threads, p.seed,
                      p.blas.empty() ? "" : ", " + printable(p.blas));
  const auto block = [&text](const char* title, const std::string& lines) {
    if (!lines.empty()) text += fmt::format("{}:\n", title);
    for (std::size_t start = 0; start < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', start), lines.size());
      text += "  " + printable(std::string_view(lines).substr(start, end - start), 400) + "\n";
      start = end + 1;
    }
  };
  block("configuration", p.configuration);
  block("input files", p.inputs);
  block("changed on restarts", p.changes);
  return text;
}

/// A value of a model's JSON on one line; "-" if it is absent.
std::string json_value(const Tree* tree, std::string_view key) {
  const Tree* value = tree && tree->is_map() ? tree->find(key) : nullptr;
  return value ? detail::printable(to_json(*value, 0)) : "-";
}

/// The summary of a Deep Potential model: what its JSON says of types, descriptor and networks.
std::string model_text(const std::string& path, const std::string& json) {
  const Tree document = parse_yaml(json, path + ": attribute 'json'");
  const Tree* model = document.is_map() ? document.find("model") : nullptr;
  const Tree* descriptor = model && model->is_map() ? model->find("descriptor") : nullptr;
  const Tree* fitting = model && model->is_map() ? model->find("fitting") : nullptr;
  std::string text = fmt::format("written by: {} {}, {}\n", json_value(&document, "software"),
                                 json_value(&document, "version"), json_value(&document, "time"));
  text += fmt::format("type_map: {}\n", json_value(model, "type_map"));
  text += fmt::format(
      "descriptor: {}, rcut {} angstrom, rcut_smth {} angstrom, sel {}, neuron {}, axis_neuron {}\n",
      json_value(descriptor, "type"), json_value(descriptor, "rcut"), json_value(descriptor, "rcut_smth"),
      json_value(descriptor, "sel"), json_value(descriptor, "neuron"), json_value(descriptor, "axis_neuron"));
  text += fmt::format("fitting: {}, neuron {}, activation {}, precision {}\n", json_value(fitting, "type"),
                      json_value(fitting, "neuron"), json_value(fitting, "activation_function"),
                      json_value(fitting, "precision"));
  return text;
}

/// Whether a checkpoint, or another file with a seal, is whole; nothing of others.
std::string seal_text(const Comm& comm, const File& file, const std::string& kind) {
  const bool is_checkpoint = kind.find(checkpoint_schema) != std::string::npos;
  if (!is_checkpoint && !is_sealed(comm, file.path())) return "";
  const char* const what = is_checkpoint ? "checkpoint, " : "";
  try {
    verify_checkpoint(comm, file.path());
    return fmt::format("{}whole (its checksum agrees)\n", what);
  } catch (const InputError& error) {
    return fmt::format("{}DAMAGED: {}\n", what, error.what());
  }
}

/// Text on the kind of the file, and on what only this kind has.
std::string kind_text(const File& file) {
  const Group& root = file.root();
  if (root.has_attribute("schema") && root.has_attribute("schema_version")) {
    const std::string schema = root.text_attribute("schema");
    std::string text = fmt::format("Quintet file, schema {} version {}\n", detail::printable(schema),
                                   root.integer_attribute("schema_version"));
    if (schema == checkpoint_schema) text += fmt::format("of step {}\n", checkpoint_step(file));
    return text + provenance_text(root);
  }
  if (root.has_attribute("json")) {
    return "Deep Potential model (DeePMD-kit .dp)\n" + model_text(file.path(), root.text_attribute("json"));
  }
  return "HDF5 file that is not of Quintet\n";
}

}  // namespace

std::string inspect(const Comm& comm, const std::string& path) {
  const File file = File::open(comm, path);
  std::uint64_t bytes = 0;
  const auto embedded = embedded_name(path);
  on_root(comm, [&] { bytes = embedded ? place_of(*embedded).bytes : std::filesystem::file_size(path); });
  const std::string heading = fmt::format("{} ({})\n", path, size_text(comm.broadcast(bytes)));
  std::string kind;
  try {
    kind = kind_text(file);
  } catch (const InputError& error) {
    kind = fmt::format("unreadable header: {}\n", error.what());
  }
  return heading + (embedded ? "" : seal_text(comm, file, kind)) + kind + tree_text(file.root());
}

}  // namespace quintet::hdf5
