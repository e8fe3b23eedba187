#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// NetCDF files of the classic formats and netCDF-4, read in one process. The C library lives in io/netcdf
/// alone.
namespace quintet::netcdf {

/// An attribute: a text, or numbers.
struct Attribute {
  bool is_text = false;
  std::string text;
  std::vector<double> numbers;
};

/// A variable of the root group.
struct Variable {
  std::string name;
  std::vector<std::string> dimensions;  ///< slowest first
  std::vector<std::uint64_t> shape;
  std::string type;          ///< "short", "double"; "text" and "other" hold no numbers
  int n_bits = 0;            ///< of an integer, 0 of others
  bool is_unsigned = false;  ///< the type, or an attribute _Unsigned, says so
  std::map<std::string, Attribute> attributes;

  [[nodiscard]] bool holds_numbers() const { return type != "text" && type != "other"; }
  /// A text attribute without blanks at its ends; none if it is absent or holds numbers.
  [[nodiscard]] std::optional<std::string> text(const std::string& attribute) const;
  /// The first number of an attribute; none if it is absent or a text.
  [[nodiscard]] std::optional<double> number(const std::string& attribute) const;
};

/// A part of a variable: `count[d]` elements from `start[d]` along each dimension.
struct Box {
  std::vector<std::uint64_t> start, count;
};

/// An open file, for reading. Errors: InputError that names the file.
class File {
 public:
  /// Throws if the file is absent, no netCDF file, or shorter than it says.
  static File open(const std::string& path);

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const std::vector<Variable>& variables() const;
  /// nullptr if there is none of that name.
  [[nodiscard]] const Variable* find(const std::string& name) const;
  /// Throws an error that lists what there is.
  [[nodiscard]] const Variable& variable(const std::string& name) const;

  /// Numbers as they are stored, row-major.
  [[nodiscard]] std::vector<double> read(const Variable& variable, const Box& box) const;
  /// Numbers as they are meant: stored * scale_factor + add_offset; NaN where the stored one is _FillValue, a
  /// missing_value, the type's own fill value, or outside valid_range (valid_min, valid_max), which are in
  /// the unit of the stored ones.
  [[nodiscard]] std::vector<double> read_unpacked(const Variable& variable, const Box& box) const;
  /// The whole variable, unpacked.
  [[nodiscard]] std::vector<double> read_unpacked(const Variable& variable) const;

  struct Implementation;

 private:
  explicit File(std::shared_ptr<const Implementation> implementation)
      : implementation_(std::move(implementation)) {}
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace quintet::netcdf
