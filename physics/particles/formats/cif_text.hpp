#pragma once

#include <map>
#include <string>
#include <vector>

/// The text of CIF and STAR files: data blocks of tags and loops.
namespace quintet::cif {

/// A value with its place in the file, "file.cif:12".
struct Value {
  std::string text, where;
  bool quoted = false;
  /// True for "?" (unknown) and "." (does not apply).
  [[nodiscard]] bool is_absent() const { return !quoted && (text == "?" || text == "."); }
};

/// Block of a CIF, from "data_NAME" to the next one. Tags are in lower case with their underscore; one value
/// of a tag on its own, as many as rows of a tag in a loop.
struct Block {
  std::string name, where;
  std::map<std::string, std::vector<Value>> values;

  /// The values of the first of some tags that is there; none otherwise.
  [[nodiscard]] const std::vector<Value>* find(std::initializer_list<const char*> tags) const;
  /// The one value of the first of some tags that is there and not absent.
  [[nodiscard]] const Value* one(std::initializer_list<const char*> tags) const;
};

/// Read all blocks. Throws InputError with file:line: a loop whose values do not fill its rows, a quote or a
/// text that is never closed, a value without a tag.
[[nodiscard]] std::vector<Block> read_blocks(const std::string& path);

/// Parse a number, without its standard uncertainty: "5.4307(2)" is 5.4307. Throws InputError.
[[nodiscard]] double to_number(const Value& value, const std::string& what);

}  // namespace quintet::cif
