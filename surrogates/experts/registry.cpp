#include "surrogates/experts/registry.hpp"

#include <algorithm>
#include <cmath>

#include "io/config/suggest.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::experts {

const KeyRange* Expert::range_of(const std::string& key) const {
  const auto found = std::find_if(range.begin(), range.end(), [&](const auto& r) { return r.key == key; });
  return found == range.end() ? nullptr : &*found;
}

bool Expert::knows(const std::string& key, const std::vector<std::string>& wanted) const {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), std::pair(key, word)) != words.end();
  });
}

namespace {

void check(const Expert& expert, const std::string& where) {
  for (const auto& [key, least, most, unit] : expert.range)
    QUINTET_CHECK(!key.empty() && std::isfinite(least) && std::isfinite(most) && least <= most,
                  "{}: {} is valid from {} to {} {}; expected two finite numbers, the least first", where,
                  key.empty() ? "''" : key, least, most, unit);
  for (std::size_t i = 0; i < expert.range.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      QUINTET_CHECK(expert.range[i].key != expert.range[k].key, "{}: {} has two ranges", where,
                    expert.range[i].key);
}

constexpr const char* texts[] = {"app", "kind", "precision", "source", "licence"};
std::string& text_of(Expert& expert, std::size_t i) {
  std::string* const all[] = {&expert.app, &expert.kind, &expert.precision, &expert.source, &expert.licence};
  return *all[i];
}

}  // namespace

Tree to_tree(const Expert& expert) {
  Tree tree = Tree::map(), range = Tree::map(), words = Tree::list();
  for (std::size_t i = 0; i < std::size(texts); ++i)
    tree.set(texts[i], Tree::text(text_of(const_cast<Expert&>(expert), i)));
  tree.set("memory", Tree::integer(expert.memory));
  for (const auto& [key, least, most, unit] : expert.range) {
    Tree one = Tree::map();
    one.set("least", Tree::number(least));
    one.set("most", Tree::number(most));
    one.set("unit", Tree::text(unit));
    range.set(key, one);
  }
  for (const auto& [key, word] : expert.words) words.append(Tree::text(key + "=" + word));
  tree.set("range", range);
  tree.set("words", words);
  return tree;
}

namespace {

std::pair<std::string, std::string> word_of(const std::string& text) {
  const auto equals = text.find('=');
  QUINTET_CHECK(equals != std::string::npos && equals > 0, "'{}' is no KEY=WORD", text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Expert expert_of(const Tree& tree) {
  Expert expert;
  for (std::size_t i = 0; i < std::size(texts); ++i)
    if (const Tree* text = tree.find(texts[i])) text_of(expert, i) = text->as_text();
  expert.memory = std::max<std::int64_t>(0, tree.at("memory").as_integer());
  if (const Tree* range = tree.find("range"))
    for (const auto& [key, one] : range->entries())
      expert.range.push_back(
          {key, one.at("least").as_number(), one.at("most").as_number(), one.at("unit").as_text()});
  if (const Tree* words = tree.find("words"))
    for (const auto& word : words->items()) expert.words.push_back(word_of(word.as_text()));
  check(expert, expert.app);
  return expert;
}

namespace {

/// Texts of a file, fit for a terminal.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 127; }, '?');
  return text;
}

// The registry is other people's file: texts are made printable, and lengths are held against each other.
Expert read_expert(const hdf5::Group& group, const std::string& id, const std::string& where) {
  Expert expert;
  expert.id = id;
  for (std::size_t i = 0; i < std::size(texts); ++i)
    text_of(expert, i) = printable(group.text_attribute(texts[i]));
  expert.checksum = group.text_attribute("checksum");
  const auto count = [&](const char* name) {
    const auto value = group.integer_attribute(name);
    QUINTET_CHECK(value > 0, "{}: {} is {}; expected a number of bytes", where, name, value);
    return static_cast<std::uint64_t>(value);
  };
  expert.bytes = count("bytes");
  expert.memory = count("memory");
  const auto shape = group.shape("parameters");
  QUINTET_CHECK(shape == hdf5::Shape{expert.bytes}, "{}: has {} bytes of parameters, but says {}", where,
                shape.empty() ? 0 : shape[0], expert.bytes);
  if (group.has_attribute("range_keys")) {
    const auto keys = group.texts_attribute("range_keys"), units = group.texts_attribute("range_units");
    const auto least = group.number_attribute("range_least"), most = group.number_attribute("range_most");
    QUINTET_CHECK(units.size() == keys.size() && least.size() == keys.size() && most.size() == keys.size(),
                  "{}: has ranges of {} keys, but {} units, {} least and {} most values", where, keys.size(),
                  units.size(), least.size(), most.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      expert.range.push_back({printable(keys[i]), least[i], most[i], printable(units[i])});
  }
  if (group.has_attribute("words"))
    for (const auto& word : group.texts_attribute("words")) expert.words.push_back(word_of(printable(word)));
  check(expert, where);
  return expert;
}

}  // namespace

Registry Registry::read(const Comm& comm, const std::string& path) {
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, hdf5::registry_schema, hdf5::registry_version);
  Registry registry;
  registry.path_ = path;
  const auto experts = file.root().open_group("experts");
  for (const auto& id : experts.names()) hdf5::check_embedded_id(id);
  for (const auto& id : experts.names())
    registry.experts_.push_back(read_expert(experts.open_group(id), id, path + ":" + id));
  if (file.root().has("router")) registry.router_ = read_router(file.root(), path);
  return registry;
}

int Registry::find(const std::string& id) const {
  std::vector<std::string> ids;
  for (const auto& expert : experts_) ids.push_back(expert.id);
  const auto found = std::find(ids.begin(), ids.end(), id);
  QUINTET_CHECK(found != ids.end(), "{}: there is no expert '{}'; there {}{}", path_, id,
                ids.empty() ? "is none" : "are: " + name_list(ids), did_you_mean(id, ids));
  return found - ids.begin();
}

std::string Registry::name_of(int expert) const { return path_ + ":" + experts_[expert].id; }

}  // namespace quintet::experts
