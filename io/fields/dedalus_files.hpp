#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/fields/dedalus_sets.hpp"
#include "io/hdf5/file.hpp"

/// Layout of the files of a Dedalus handler. Not for users of the room.
namespace quintet::field_formats {

/// A dataset of tasks/: its place on the grid and its components.
struct DedalusTask {
  std::string name;
  std::vector<std::string> axes;  ///< "x", "z"
  hdf5::Shape tensor;             ///< [components of each index]
  hdf5::Shape grid;               ///< [axes] points
  bool double_precision = false;
  bool operator==(const DedalusTask&) const = default;

  [[nodiscard]] bool is_on_grid_of(const DedalusTask& other) const {
    return axes == other.axes && grid == other.grid;
  }
};

/// Part of a task in one file.
struct DedalusPiece {
  std::string file;
  hdf5::Shape start, count;  ///< [components..., axes...]
};

/// The files of a handler, opened as they are read. Errors: InputError that names the file.
class DedalusFiles {
 public:
  explicit DedalusFiles(std::string path) : path_(std::move(path)), sets_(dedalus_sets(path_)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<DedalusSet>& sets() const { return sets_; }
  [[nodiscard]] const hdf5::File& file(const std::string& name) const;
  /// The file of set number s in sets() that has the scales.
  [[nodiscard]] const hdf5::File& scales_of(std::size_t s) const;
  /// A task of a set, with the shape that all processes together give it. `why` says why it is not a field,
  /// or is "".
  [[nodiscard]] DedalusTask task_of(std::size_t s, const std::string& name, std::string& why) const;
  /// The points of an axis: the scale of that name and size. Throws where two of them differ.
  [[nodiscard]] std::vector<double> scale(std::size_t s, const std::string& axis, std::uint64_t n) const;
  /// The parts of a task by file, which give each value once.
  [[nodiscard]] std::vector<DedalusPiece> pieces(std::size_t s, const DedalusTask& task) const;

 private:
  void require_whole(const DedalusTask& task, const std::vector<DedalusPiece>& parts) const;

  std::string path_;
  std::vector<DedalusSet> sets_;
  mutable std::map<std::string, hdf5::File> open_;
};

}  // namespace quintet::field_formats
