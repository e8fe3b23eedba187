#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/netcdf/unpacking.hpp"

/// NetCDF files of the classic formats and netCDF-4, and zarr folders, which have the same model, read in one
/// process. The C library lives in io/netcdf alone.
namespace quintet::hdf5 {
struct ChunkMap;
}

namespace quintet::netcdf {

/// An attribute: a text, or numbers.
struct Attribute {
  std::string type;  ///< "text", "short", "double"; "other" holds neither text nor numbers
  bool is_text = false;
  std::string text;
  std::vector<double> numbers;
};

/// A variable of the root group.
struct Variable {
  std::string name;
  std::string where;                    ///< "sst.nc: sst", for messages
  std::vector<std::string> dimensions;  ///< slowest first
  std::vector<std::uint64_t> shape;
  std::string type;          ///< "short", "double"; "text" and "other" hold no numbers
  int n_bits = 0;            ///< of an integer, 0 of others
  bool is_unsigned = false;  ///< the type, or an attribute _Unsigned, says so
  std::map<std::string, Attribute> attributes;
  bool has_default_fill = true;  ///< without _FillValue, the type's own fill value marks what was not written
  std::string refusal = "holds no numbers";  ///< what to say where it holds none
  Reading reading{};                         ///< of its storage: chunks that are not there, what is not used

  [[nodiscard]] bool holds_numbers() const { return type != "text" && type != "other"; }
  /// A text attribute without blanks at its ends; nothing if it is absent. Throws InputError if it is not a
  /// text.
  [[nodiscard]] std::optional<std::string> text(const std::string& attribute) const;
  /// The one number of an attribute; none if it is absent. Throws InputError if it is a text, or several.
  [[nodiscard]] std::optional<double> number(const std::string& attribute) const;
  /// Throws InputError unless an attribute that is there holds numbers.
  void require_numbers(const std::string& attribute) const;
};

/// A part of a variable: `count[d]` elements from `start[d]` along each dimension.
struct Box {
  std::vector<std::uint64_t> start, count;
};

/// Whether a path is a folder of zarr, which File opens, too.
[[nodiscard]] bool is_folder_of_arrays(const std::string& path);

/// What is looked at before the library is given a file.
enum class Checks {
  all,
  made_before  ///< none: the file was opened here before, and has not changed since
};

/// An open file, for reading. Errors: InputError that names the file.
class File {
 public:
  /// Throws if the file is absent, neither a netCDF file nor a folder of zarr, or shorter than it says.
  /// @param chunks_of variable that chunk_map() is to be of; "": none
  static File open(const std::string& path, Checks checks = Checks::all, const std::string& chunks_of = "");

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const std::vector<Variable>& variables() const;
  [[nodiscard]] const Reading& reading() const;  ///< what of it is not used, such as groups
  /// Where the chunks of a netCDF-4 variable lie, for unpacked_chunks(); nullptr where they were not looked
  /// for, or can only be read by the library.
  [[nodiscard]] const hdf5::ChunkMap* chunk_map() const;
  /// Find a variable by its name; nullptr if it does not exist.
  [[nodiscard]] const Variable* find(const std::string& name) const;
  /// Throws an error that lists what there is.
  [[nodiscard]] const Variable& variable(const std::string& name) const;

  /// Numbers as they are stored, row-major.
  [[nodiscard]] std::vector<double> read(const Variable& variable, const Box& box) const;
  /// Read numbers unpacked, see unpacking_of(); NaN for missing ones.
  [[nodiscard]] std::vector<double> read_unpacked(const Variable& variable, const Box& box) const;
  /// Read numbers unpacked by the given rule; NaN for missing ones. Errors as for Unpacking::unpack().
  [[nodiscard]] std::vector<double> read_unpacked(const Variable& variable, const Box& box,
                                                  const Unpacking& unpacking) const;
  /// The whole variable, unpacked.
  [[nodiscard]] std::vector<double> read_unpacked(const Variable& variable) const;

  struct Implementation;

 private:
  explicit File(std::shared_ptr<const Implementation> implementation)
      : implementation_(std::move(implementation)) {}
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace quintet::netcdf
