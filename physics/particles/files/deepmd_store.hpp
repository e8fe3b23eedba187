#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

/// Where the arrays of a DeePMD system lie: a folder of text and .npy files, a group of an HDF5 file with the
/// same names as groups and datasets, or a folder of text alone (coord.raw, box.raw, ...: a line a frame).
///
/// Names are relative to the system: "type.raw", "nopbc", "set.000/coord.npy"; a folder of text has one set,
/// called "".
class DeepmdStore {
 public:
  virtual ~DeepmdStore() = default;
  /// Open "FOLDER", "FILE.h5#/GROUP" or "FILE.h5" (its root). Throws InputError: no such folder, file, group.
  [[nodiscard]] static std::unique_ptr<DeepmdStore> open(const std::string& path);

  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<std::string> sets() const = 0;  ///< names that begin with "set.", sorted
  /// Name of an array of a set: "set.000/coord.npy", "coord.raw".
  [[nodiscard]] virtual std::string array(const std::string& set, const std::string& name) const {
    return set + "/" + name + ".npy";
  }
  /// Names of all arrays of a set, as array() gives them, sorted; and of files beside the sets that would be
  /// arrays on their own.
  [[nodiscard]] virtual std::vector<std::string> arrays(const std::string& set) const = 0;
  [[nodiscard]] virtual std::vector<std::string> beside() const { return {}; }
  /// Words of a text (type.raw, type_map.raw); integers of a dataset as words.
  [[nodiscard]] virtual std::vector<std::string> words(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<std::uint64_t> shape(const std::string& array) const = 0;
  /// Rows [first, first + count) of the array's first axis.
  [[nodiscard]] virtual std::vector<double> rows(const std::string& array, std::uint64_t first,
                                                 std::uint64_t count) const = 0;
  /// Where something is, for messages: "folder/set.000/coord.npy", "file.h5#/water/type.raw".
  [[nodiscard]] std::string place(const std::string& name) const { return prefix_ + name; }

 protected:
  explicit DeepmdStore(std::string prefix) : prefix_(std::move(prefix)) {}

 private:
  std::string prefix_;
};

/// The DeePMD systems below a folder, or in an HDF5 file or a group of it, sorted. A system is what holds
/// type.raw; nothing is looked for inside of it. Throws InputError if none is found.
[[nodiscard]] std::vector<std::string> find_deepmd_systems(const std::string& path);

/// "FILE.h5#/GROUP" or a name that ends in .h5, .hdf5.
[[nodiscard]] bool is_deepmd_hdf5(const std::string& path);

}  // namespace quintet
