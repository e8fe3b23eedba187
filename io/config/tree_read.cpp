#include <map>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/syntax/json_syntax.hpp"
#include "io/syntax/yaml_syntax.hpp"

// The one file that knows yaml-cpp. Its parser's events build the Tree directly: that keeps the place of
// every key and whether a scalar was quoted, finds duplicate keys, and takes a third of the time of
// YAML::Node.
namespace quintet {

namespace {

/// Builds a Tree from the events of yaml-cpp's parser.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { value(mark, anchor, Tree()); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool plain = tag == "?" || tag.empty();
    const bool quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!plain && !quoted) refuse_tag(mark, tag);
    value(mark, anchor, plain && is_null_text(text) && !expects_key() ? Tree() : Tree::scalar(text, quoted));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Tree::list());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Tree::map());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  /// A copy of the value that the anchor names.
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) fail(mark, "an alias inside the value that it names");
    count_copy(mark, named->second);
    Tree copy = named->second;
    finish(mark, std::move(copy));
  }

  [[nodiscard]] Tree take() { return std::move(root_); }
  [[nodiscard]] const std::string& duplicates() const { return duplicates_; }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw InputError(fmt::format("{}: {}", place(mark).text(), what));
  }

 private:
  static constexpr std::size_t max_copied = std::size_t{1} << 26;  ///< bytes
  static constexpr std::size_t max_depth = 100;                    ///< of lists and maps within each other

  /// A list or map whose end has not been read.
  struct Open {
    Tree node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    YAML::Mark key_mark;
    Tree::Map entries;
    Tree::List items;
    std::unordered_map<std::string, int> lines;  ///< line of each key so far
  };

  Location place(const YAML::Mark& mark) const { return {name_, mark.line + 1, mark.column + 1}; }
  bool expects_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().has_key; }

  [[noreturn]] void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    fail(mark, fmt::format("the tag '{}' is not supported; write the plain value", tag));
  }

  /// Memory of a value, its texts and places included (bytes).
  [[nodiscard]] static std::size_t bytes_of(const Tree& tree) {
    std::size_t n = sizeof(Tree) + tree.location().file.size();
    if (tree.is_scalar()) n += tree.as_text().size();
    if (tree.is_list())
      for (const auto& item : tree.items()) n += bytes_of(item);
    if (tree.is_map())
      for (const auto& [key, value] : tree.entries()) n += sizeof(std::string) + key.size() + bytes_of(value);
    return n;
  }

  /// Each anchor keeps a copy of its value and each alias makes one: their total is limited, so that a small
  /// file cannot fill the memory.
  void count_copy(const YAML::Mark& mark, const Tree& value) {
    copied_ += bytes_of(value);
    if (copied_ > max_copied)
      fail(mark, fmt::format("anchors and aliases repeat more than {} MB of values", max_copied >> 20));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Tree node) {
    if (expects_key()) fail(mark, "a key must be a word, not a list or map");
    if (!tag.empty() && tag != "?" && tag != "!" && !tag.starts_with("tag:yaml.org,2002:"))
      refuse_tag(mark, tag);
    if (open_.size() == max_depth)
      fail(mark, fmt::format("lists and maps lie more than {} deep within each other", max_depth));
    Open& top = open_.emplace_back();
    top.node = std::move(node);
    top.mark = mark;
    top.anchor = anchor;
  }

  void close() {
    Open top = std::move(open_.back());
    open_.pop_back();
    value(top.mark, top.anchor,
          top.node.is_map() ? Tree::map(std::move(top.entries)) : Tree::list(std::move(top.items)));
  }

  void value(const YAML::Mark& mark, YAML::anchor_t anchor, Tree tree) {
    tree.set_location(place(mark));
    if (anchor != 0) {
      count_copy(mark, tree);
      anchors_[anchor] = tree;
    }
    finish(mark, std::move(tree));
  }

  /// Put a complete value where it belongs: a key, the value of a key, an element of a list, or the document.
  void finish(const YAML::Mark& mark, Tree tree) {
    if (open_.empty()) {
      root_ = std::move(tree);
    } else if (expects_key()) {
      if (!tree.is_scalar()) fail(mark, "a key must be a word");
      take_key(mark, tree.as_text());
    } else if (Open& top = open_.back(); top.node.is_list()) {
      top.items.push_back(std::move(tree));
    } else {
      top.has_key = false;
      tree.set_key_place(top.key_mark.line + 1, top.key_mark.column + 1);
      top.entries.emplace_back(std::move(top.key), std::move(tree));
    }
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Open& top = open_.back();
    top.key = key;
    top.key_mark = mark;
    top.has_key = true;
    const auto [first, is_new] = top.lines.emplace(key, mark.line + 1);
    if (is_new) return;
    duplicates_ += fmt::format("{}{}: key '{}' is given twice, first in line {}; keep one of them",
                               duplicates_.empty() ? "" : "\n", place(mark).text(), key, first->second);
  }

  const std::string& name_;
  Tree root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Tree> anchors_;
  std::size_t copied_ = 0;
  std::string duplicates_;
};

/// A document takes some twenty times its size in memory; models written as text have tens of megabytes.
constexpr std::uint64_t most_yaml_bytes = std::uint64_t{1} << 28;

/// Fails if anything but comments follows the first document.
class NoMore : public TreeBuilder {
 public:
  using TreeBuilder::TreeBuilder;
  void OnDocumentStart(const YAML::Mark& mark) override {
    fail(mark, "a second document starts here; one was expected");
  }
};

}  // namespace

Tree parse_yaml(std::string_view text, const std::string& name) {
  // A parser of YAML sees mistakes of JSON late, elsewhere, or takes them for something else.
  if (name.ends_with(".json"))
    if (const auto problem = json_problem(text))
      throw InputError(fmt::format("{}:{} (not valid JSON)", name, *problem));
  TreeBuilder builder(name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    NoMore no_more(name);
    parser.HandleNextDocument(no_more);
  } catch (const YAML::Exception& error) {
    const auto likely = likely_yaml_problem(text, {error.mark.line + 1, error.mark.column + 1, error.msg});
    throw InputError(fmt::format("{}: not valid YAML: {}", Location{name, likely.line, likely.column}.text(),
                                 likely.what));
  }
  QUINTET_CHECK(builder.duplicates().empty(), "{}", builder.duplicates());
  Tree tree = builder.take();
  if (tree.location().line == 0) tree.set_location({name, 1, 1});
  return tree;
}

Tree read_yaml(const std::string& path) {
  const std::string text = read_input_file(path, most_yaml_bytes);
  QUINTET_CHECK(!text.empty(), "{}: is empty", path);
  return parse_yaml(text, path);
}

}  // namespace quintet
