#include <filesystem>
#include <system_error>

#include "io/files/output_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/model/dp_document.hpp"

namespace quintet::potential {

namespace {

namespace fs = std::filesystem;

/// Nested lists of the values from `at` on, axis by axis.
void append_values(const DpDocument::Array& array, std::size_t axis, std::size_t& at, std::string& text) {
  if (axis == array.shape.size()) {
    text += document_digits(array.values[at++], array.single);
    return;
  }
  text += '[';
  for (std::uint64_t i = 0; i < array.shape[axis]; ++i) {
    if (i > 0) text += ", ";
    append_values(array, axis + 1, at, text);
  }
  text += ']';
}

// Arrays are written as DeePMD-kit's YAML and JSON files have them: a map of class, type and nested values.
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

}  // namespace

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

}  // namespace quintet::potential
