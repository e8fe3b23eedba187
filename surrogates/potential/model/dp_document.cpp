#include "surrogates/potential/model/dp_document.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "io/log/error.hpp"

namespace quintet::potential {

std::string document_digits(double value, bool single) {
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  const auto exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

namespace {

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

Tree document_number(double value) { return Tree::scalar(document_digits(value, false)); }

bool is_text_document(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

DpDocument read_text_document(const std::string& path) {
  const Tree tree = read_yaml(path);
  DpDocument document;
  document.description = without_arrays(tree, document);
  return document;
}

}  // namespace quintet::potential
