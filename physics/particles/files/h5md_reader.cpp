#include <algorithm>
#include <limits>

#include "io/hdf5/checksum.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/files/h5md.hpp"
#include "physics/particles/files/h5md_rows.hpp"

namespace quintet {

namespace {

std::vector<Vec3> rows_of_three(const std::vector<double>& values) {
  std::vector<Vec3> rows(values.size() / 3);
  for (std::size_t i = 0; i < 3 * rows.size(); ++i) rows[i / 3][i % 3] = values[i];
  return rows;
}

/// The group of the atoms and what does not change with the frames.
class TrajectoryReader {
 public:
  explicit TrajectoryReader(const std::string& path)
      : file_(hdf5::open_verified(Comm::self(), path)), atoms_(open_atoms(path)), path_(path) {
    constant_.type_names = atoms_.texts_attribute("type_names");
    const auto position = atoms_.shape("position/value");
    QUINTET_CHECK(position.size() == 3 && position[2] == 3,
                  "{}: particles/atoms/position/value has {} axes, expected (frames, atoms, 3)", path,
                  position.size());
    n_frames_ = whole_frames();
    n_atoms_ = position[1];
    read_constants();
    read_force_unit();
  }

  [[nodiscard]] std::int64_t n_frames() const { return n_frames_; }

  [[nodiscard]] Configuration frame(std::int64_t index) const {
    hdf5::require_unaltered_frame(file_, "particles/atoms/frame_checksum",
                                  {static_cast<std::uint64_t>(index)});
    Configuration result = constant_;
    result.positions = rows_of_three(entry("position", index, 3 * n_atoms_));
    if (atoms_.has("velocity")) result.velocities = rows_of_three(entry("velocity", index, 3 * n_atoms_));
    if (atoms_.has("force")) {
      result.forces = rows_of_three(entry("force", index, 3 * n_atoms_));
      for (Vec3& force : result.forces)
        for (double& component : force) component *= force_factor_;
    }
    const auto edges = entry("box/edges", index, 9);
    const auto origin = entry("box/origin", index, 3);
    Mat3 rows;
    std::copy(edges.begin(), edges.end(), rows.begin());
    result.box = box_from_file(rows, periodic_, {origin[0], origin[1], origin[2]}, result.positions,
                               fmt::format("{}: frame {}", path_, index));
    const auto images = rows_of_three(entry("image", index, 3 * n_atoms_));
    for (std::size_t i = 0; i < n_atoms_; ++i)
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3 && images[i][r] != 0; ++k)
          result.positions[i][k] += images[i][r] * rows[3 * r + k];
    return result;
  }

 private:
  hdf5::Group open_atoms(const std::string& path) {
    QUINTET_CHECK(file_.root().has("h5md") && file_.root().has("particles/atoms/box/origin"),
                  "{}: this HDF5 file is no trajectory of Quintet's (particles/atoms with box/origin); "
                  "`quintet inspect` says what it is",
                  path);
    return file_.root().open_group("particles/atoms");
  }

  /// Frames of which all is there, of rising steps: a run that was killed while it wrote one leaves more of
  /// this than of that.
  [[nodiscard]] std::uint64_t whole_frames() const {
    const auto steps = atoms_.read_rows<std::int64_t>("position/step", 0, atoms_.whole_rows("position/step"));
    std::uint64_t n = h5md::rising(steps, std::numeric_limits<std::int64_t>::max());
    for (const char* name : {"position", "velocity", "force", "image", "box/edges", "box/origin"})
      if (atoms_.has(name)) n = std::min(n, atoms_.whole_rows(std::string(name) + "/value"));
    return n;
  }

  void read_force_unit() {
    if (!atoms_.has("force")) return;
    const std::string unit = atoms_.open_group("force").member_text_attribute("value", "unit");
    QUINTET_CHECK(unit == h5md::force_unit || unit == h5md::older_force_unit,
                  "{}: forces are in '{}', expected {} or {}", path_, unit, h5md::force_unit,
                  h5md::older_force_unit);
    if (unit == h5md::older_force_unit) force_factor_ = h5md::kj_per_mol_to_ev;
  }

  void read_constants() {
    constant_.ids = atoms_.read<std::int64_t>("id", {n_atoms_});
    const auto species = atoms_.read<std::int32_t>("species", {n_atoms_});
    const auto masses = atoms_.read<double>("mass", {n_atoms_});
    if (atoms_.has("aparam")) constant_.parameters = atoms_.read<double>("aparam");
    QUINTET_CHECK(constant_.parameters.size() % n_atoms_ == 0, "{}: aparam holds {} numbers of {}", path_,
                  constant_.parameters.size(), counted(n_atoms_, "atom"));
    constant_.masses.assign(constant_.type_names.size(), 0);
    for (std::size_t i = 0; i < n_atoms_; ++i) {
      QUINTET_CHECK(species[i] >= 0 && species[i] < std::ssize(constant_.type_names),
                    "{}: the species of atom {} is {}, expected 0 to {}", path_, constant_.ids[i], species[i],
                    static_cast<int>(constant_.type_names.size()) - 1);
      constant_.types.push_back(species[i]);
      constant_.masses[species[i]] = masses[i];
    }
    for (std::size_t t = 0; t < constant_.masses.size(); ++t)  // a type without atoms
      if (constant_.masses[t] == 0) constant_.masses[t] = atomic_mass(constant_.type_names[t]);
    const auto boundary = atoms_.open_group("box").texts_attribute("boundary");
    QUINTET_CHECK(boundary.size() == 3, "{}: the box has {} boundaries, expected 3", path_, boundary.size());
    for (int k = 0; k < 3; ++k) periodic_[k] = boundary[k] == "periodic";
  }

  [[nodiscard]] std::vector<double> entry(const std::string& name, std::int64_t index,
                                          std::uint64_t size) const {
    auto values = atoms_.read_rows<double>(name + "/value", static_cast<std::uint64_t>(index), 1);
    QUINTET_CHECK(values.size() == size, "{}: {}/value has {} per frame, expected {}", path_, name,
                  counted(values.size(), "value"), size);
    return values;
  }

  hdf5::File file_;
  hdf5::Group atoms_;
  std::string path_;
  Configuration constant_;
  std::array<bool, 3> periodic_{};
  double force_factor_ = 1;  ///< to eV/angstrom
  std::int64_t n_frames_ = 0;
  std::uint64_t n_atoms_ = 0;
};

}  // namespace

std::vector<Configuration> read_h5md(const std::string& path, std::optional<std::int64_t> frame) {
  const TrajectoryReader reader(path);
  const std::int64_t n = reader.n_frames();
  QUINTET_CHECK(n > 0, "{}: the trajectory has no frame", path);
  const std::int64_t first = !frame ? 0 : *frame < 0 ? n + *frame : *frame;
  QUINTET_CHECK(first >= 0 && first < n,
                "{}: there is no frame {}, the file has {} (0 to {}, or -1 for the last)", path, *frame, n,
                n - 1);
  std::vector<Configuration> frames;
  for (std::int64_t i = first; i < (frame ? first + 1 : n); ++i) frames.push_back(reader.frame(i));
  return frames;
}

}  // namespace quintet
