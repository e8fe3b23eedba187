#include "surrogates/potential/model/dp_document.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "io/files/output_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"

namespace quintet::potential {

namespace {

namespace fs = std::filesystem;

/// Shortest digits that give the value back. PyYAML takes 1e-05 for text: its numbers need a point.
std::string digits(double value, bool single) {
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  const auto exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

/// Nested lists of the values from `at` on, axis by axis.
void append_values(const DpDocument::Array& array, std::size_t axis, std::size_t& at, std::string& text) {
  if (axis == array.shape.size()) {
    text += digits(array.values[at++], array.single);
    return;
  }
  text += '[';
  for (std::uint64_t i = 0; i < array.shape[axis]; ++i) {
    if (i > 0) text += ", ";
    append_values(array, axis + 1, at, text);
  }
  text += ']';
}

void append_text(const DpDocument& document, const Tree& tree, const std::string& indent, std::string& text) {
  const std::string below = indent + " ";
  const char* separator = "\n";
  if (tree.is_map()) {
    text += '{';
    for (const auto& [key, value] : tree.entries()) {
      text += separator + below + '"' + key + "\": ";
      append_text(document, value, below, text);
      separator = ",\n";
    }
    text += '}';
  } else if (tree.is_list()) {
    text += '[';
    separator = "";
    for (const auto& item : tree.items()) {
      text += separator;
      append_text(document, item, below, text);
      separator = ", ";
    }
    text += ']';
  } else if (const auto array =
                 tree.is_scalar() ? document.arrays.find(tree.as_text()) : document.arrays.end();
             array != document.arrays.end()) {
    text += fmt::format(
        R"({{"@class": "np.ndarray", "@is_variable": true, "@version": 1, "dtype": "{}", "value": )",
        array->second.single ? "float32" : "float64");
    std::size_t at = 0;
    append_values(array->second, 0, at, text);
    text += '}';
  } else {
    text += to_json(tree, 0);
  }
}

std::string to_text(const DpDocument& document) {
  std::string text;
  append_text(document, document.description, "", text);
  return text + "\n";
}

void write_hdf5(const std::string& path, const DpDocument& document) {
  auto file = hdf5::File::create(Comm::self(), path);
  for (const auto& [name, array] : document.arrays) {
    if (array.single) {
      const std::vector<float> values(array.values.begin(), array.values.end());
      file.root().write<float>(name.substr(1), values, array.shape, {});
    } else {
      file.root().write<double>(name.substr(1), array.values, array.shape, {});
    }
  }
  file.root().set_attribute("json", to_json(document.description, 0));
  file.flush();
  file.close();
}

bool is_array(const Tree& tree) {
  const Tree* kind = tree.is_map() ? tree.find("@class") : nullptr;
  return kind && kind->is_scalar() && kind->as_text() == "np.ndarray";
}

/// Lengths of nested lists, by the first elements on the way down.
std::vector<std::uint64_t> shape_of(const Tree& tree) {
  std::vector<std::uint64_t> shape;
  for (const Tree* level = &tree; level->is_list(); level = &level->items().front()) {
    shape.push_back(level->items().size());
    if (level->items().empty()) break;
  }
  return shape;
}

/// Append the numbers of nested lists, which must have the array's shape from `axis` on.
void read_values(const Tree& tree, std::size_t axis, DpDocument::Array& array) {
  if (axis == array.shape.size()) {
    array.values.push_back(tree.as_number());
    return;
  }
  QUINTET_CHECK(tree.is_list() && tree.items().size() == array.shape[axis],
                "{}: an array whose rows differ: {} where {} values are expected", tree.location().text(),
                tree.found(), array.shape[axis]);
  for (const auto& item : tree.items()) read_values(item, axis + 1, array);
}

Tree without_arrays(const Tree& tree, DpDocument& document) {
  if (is_array(tree)) {
    DpDocument::Array array;
    array.shape = shape_of(tree.at("value"));
    read_values(tree.at("value"), 0, array);
    const bool single = tree.has("dtype") && tree.at("dtype").as_text() == "float32";
    if (single)  // the digits are those of a float
      for (double& value : array.values) value = static_cast<float>(value);
    Tree name = document.add(std::move(array.shape), std::move(array.values), single);
    name.set_location(tree.location());
    return name;
  }
  Tree copy = tree;
  if (tree.is_map())
    for (const auto& [key, value] : tree.entries()) copy.set(key, without_arrays(value, document));
  if (tree.is_list()) {
    Tree::List items;
    for (const auto& item : tree.items()) items.push_back(without_arrays(item, document));
    copy = Tree::list(std::move(items));
    copy.set_location(tree.location());
  }
  return copy;
}

}  // namespace

Tree DpDocument::add(std::vector<std::uint64_t> shape, std::vector<double> values, bool single) {
  const std::string name = fmt::format("/variable_{:04}", arrays.size());
  arrays[name] = {std::move(shape), std::move(values), single};
  return Tree::text(name);
}

Tree document_number(double value) { return Tree::scalar(digits(value, false)); }

bool is_text_document(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

void write_document(const std::string& path, const DpDocument& document) {
  if (is_text_document(path)) return write_text_file(path, to_text(document));
  const auto folder = fs::path(path).parent_path();
  QUINTET_CHECK(folder.empty() || fs::is_directory(folder), "{}: there is no folder {} to write it to", path,
                folder.string());
  const std::string unfinished = path + ".unfinished";
  std::error_code problem;
  try {
    make_new_file(unfinished);
    write_hdf5(unfinished, document);
    hdf5::seal(Comm::self(), unfinished);  // after the end of the HDF5 data, where DeePMD-kit does not look
    fs::rename(unfinished, path, problem);
    if (problem) throw ResourceError(fmt::format("{}: cannot write it: {}", path, problem.message()));
  } catch (...) {
    fs::remove(unfinished, problem);
    throw;
  }
}

DpDocument read_text_document(const std::string& path) {
  const Tree tree = read_yaml(path);
  DpDocument document;
  document.description = without_arrays(tree, document);
  return document;
}

}  // namespace quintet::potential
