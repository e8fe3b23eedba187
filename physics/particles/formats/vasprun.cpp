#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/files/xml.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/vasp_output.hpp"

namespace quintet {

namespace {

/// Reads a vasprun.xml tag by tag; a step is one <calculation>.
class VasprunReader {
 public:
  explicit VasprunReader(const std::string& path) : path_(path), xml_(path) {}

  VaspRun run;
  std::vector<VaspStep> steps;

  void read() {
    run.not_used = "masses (POMASS)";
    using Piece = XmlReader::Piece;
    for (auto piece = xml_.next(); piece != Piece::end; piece = xml_.next()) {
      if (piece == Piece::open)
        open();
      else if (piece == Piece::text && !tags_.empty())
        text_ += xml_.text();
      else if (piece == Piece::close)
        close();
    }
    QUINTET_CHECK(is_vasprun_, "{}: there is no tag <modeling>: is it a vasprun.xml?", path_);
    QUINTET_CHECK(!run.types.empty(), "{}: the file ends before it names the atoms", path_);
    run.cut_short = in_calculation_;
  }

 private:
  /// Name of the tag and its attribute `name`: "varray forces".
  struct Tag {
    std::string tag, name;
  };

  [[nodiscard]] bool is_in(std::string_view tag, std::string_view name = "") const {
    return std::any_of(tags_.begin(), tags_.end(),
                       [&](const Tag& t) { return t.tag == tag && (name.empty() || t.name == name); });
  }
  /// The tag around the innermost one.
  [[nodiscard]] const Tag& around(std::size_t level = 1) const {
    static const Tag none;
    return tags_.size() > level ? tags_[tags_.size() - 1 - level] : none;
  }

  void open() {
    const std::string name = xml_.attribute("name");
    tags_.push_back({xml_.name(), name});
    text_.clear();
    if (xml_.name() == "modeling") is_vasprun_ = true;
    if (xml_.name() == "calculation") {
      in_calculation_ = true;
      step_ = {};
      step_.where = xml_.where();
      iterations_.clear();
      to_zero_.reset();
    } else if (xml_.name() == "varray" || xml_.name() == "set") {
      rows_.clear();
      logical_.clear();
    } else if (xml_.name() == "rc") {
      cells_.clear();
    }
  }

  void close() {
    const Tag tag = tags_.back();
    if (tag.tag == "i")
      take_value(tag.name);
    else if (tag.tag == "v")
      take_row();
    else if (tag.tag == "c")
      cells_.push_back(std::string(trimmed(text_)));
    else if (tag.tag == "rc" && is_in("array", "atoms"))
      take_atom();
    else if (tag.tag == "varray")
      take_array(tag.name);
    else if (tag.tag == "calculation")
      end_step();
    else if (tag.tag == "parameters")
      parameters_ = true;
    tags_.pop_back();
    text_.clear();
  }

  static std::string_view trimmed(std::string_view text) {
    const auto words = quintet::text::split(text, " \t\r\n");
    return words.empty() ? std::string_view() : words[0];
  }

  double number(std::string_view what) const {
    const auto words = quintet::text::split(text_, " \t\r\n");
    QUINTET_CHECK(words.size() == 1, "{}: {} is {}, a number was expected", xml_.where(), what,
                  quintet::text::shown(text_));
    return quintet::text::to_double(words[0], xml_.where(), what);
  }

  void take_value(const std::string& name) {
    if (is_in("parameters") || (is_in("incar") && !parameters_)) {
      if (name == "PSTRESS") run.pressure = number(name);
      if (name == "ISIF") run.isif = std::clamp(number(name), -1.0, 100.0);
      if (name == "NELM") most_iterations_ = number(name);
      if (name == "EDIFF") tolerance_ = number(name);
      return;
    }
    if (!in_calculation_ || around().tag != "energy") return;
    // VASP prints *** where a number is too wide; the step's own energy must be one.
    if (around(2).tag == "scstep") {
      if (text_.find('*') != std::string::npos) return;
      if (name == "e_fr_energy") iterations_.push_back(number(name));
      // That of the whole step is no such energy, by a fault of VASP's.
      if (name == "e_0_energy" && !iterations_.empty()) to_zero_ = number(name) - iterations_.back();
    } else if (around(2).tag == "calculation") {
      if (name == "e_fr_energy") step_.energy = number(name);
    }
  }

  void take_row() {
    const auto words = quintet::text::split(text_, " \t\r\n");
    const auto& array = around().name;
    const bool wanted = array == "basis" || array == "positions" || array == "forces" || array == "stress";
    if (array == "selective") {
      QUINTET_CHECK(words.size() == 3, "{}: selective has {} words, expected 3 of T and F", xml_.where(),
                    words.size());
      std::uint8_t held = 0;
      for (int k = 0; k < 3; ++k) {
        QUINTET_CHECK(words[k] == "T" || words[k] == "F", "{}: {} says nothing of whether an atom moves",
                      xml_.where(), quintet::text::shown(words[k]));
        if (words[k] == "F") held |= static_cast<std::uint8_t>(1 << k);
      }
      logical_.push_back(held);
    } else if (wanted && (in_structure_ours() || array == "forces" || array == "stress")) {
      QUINTET_CHECK(words.size() == 3, "{}: a row of {} has {} numbers, expected 3", xml_.where(), array,
                    words.size());
      rows_.push_back(quintet::text::to_vec3(words.data(), xml_.where(), array));
    }
  }

  /// Structures of the steps and the first one, but not those of a primitive cell.
  [[nodiscard]] bool in_structure_ours() const {
    return is_in("structure") && (in_calculation_ || is_in("structure", "initialpos"));
  }

  void take_atom() {
    QUINTET_CHECK(!cells_.empty() && !cells_[0].empty(), "{}: an atom has no element", xml_.where());
    auto& names = run.type_names;
    auto found = std::find(names.begin(), names.end(), cells_[0]);
    if (found == names.end()) found = names.insert(found, cells_[0]);
    run.types.push_back(found - names.begin());
  }

  static Mat3 matrix_of(const std::vector<Vec3>& rows) {
    Mat3 m{};
    for (std::size_t r = 0; r < 3; ++r) std::copy(rows[r].begin(), rows[r].end(), m.begin() + 3 * r);
    return m;
  }

  void take_array(const std::string& name) {
    const bool matrix = name == "basis" || name == "stress";
    if (name == "selective") run.held = logical_;
    if (name == "velocities") run.not_used = "velocities, masses (POMASS)";
    if (rows_.empty()) return;
    QUINTET_CHECK(rows_.size() == (matrix ? 3 : run.types.size()), "{}: {} has {} rows, expected {}",
                  xml_.where(), name, rows_.size(), matrix ? 3 : run.types.size());
    if (in_calculation_) {
      // Several structures or forces in one step: the last counts.
      if (name == "basis") step_.rows = matrix_of(rows_);
      if (name == "stress") step_.stress = matrix_of(rows_);
      if (name == "positions") step_.positions = rows_;
      if (name == "forces") step_.forces = rows_;
    }
    rows_.clear();
  }

  void end_step() {
    in_calculation_ = false;
    QUINTET_CHECK(!step_.positions.empty() && step_.rows != Mat3{}, "{}: a calculation has no structure",
                  step_.where);
    QUINTET_CHECK(step_.energy, "{}: a calculation has no energy e_fr_energy", step_.where);
    for (Vec3& x : step_.positions) {
      const Vec3 s = x;
      for (int k = 0; k < 3; ++k)
        x[k] = s[0] * step_.rows[k] + s[1] * step_.rows[3 + k] + s[2] * step_.rows[6 + k];
    }
    if (to_zero_) step_.energy_to_zero = *step_.energy + *to_zero_;
    const std::size_t n = iterations_.size();
    step_.force_field = n == 0;
    // As many iterations as NELM allows: converged only if the last one changed nothing any more.
    step_.converged = n > 0 && (double(n) < most_iterations_ ||
                                (n > 1 && std::abs(iterations_[n - 1] - iterations_[n - 2]) < tolerance_));
    steps.push_back(std::move(step_));
  }

  std::string path_;
  XmlReader xml_;
  std::vector<Tag> tags_;
  std::string text_;
  std::vector<Vec3> rows_;
  std::vector<std::uint8_t> logical_;
  std::vector<std::string> cells_;
  std::vector<double> iterations_;
  std::optional<double> to_zero_;  // energy(sigma->0) - free energy
  VaspStep step_;
  double most_iterations_ = 60, tolerance_ = 1e-4;
  bool is_vasprun_ = false, in_calculation_ = false, parameters_ = false;
};

}  // namespace

std::vector<Configuration> read_vasprun(const std::string& path, std::optional<std::int64_t> frame,
                                        const VaspOutputOptions& options) {
  VasprunReader reader(path);
  reader.read();
  if (std::all_of(reader.run.held.begin(), reader.run.held.end(), [](auto bits) { return bits == 0; }))
    reader.run.held.clear();
  QUINTET_CHECK(reader.run.held.empty() || reader.run.held.size() == reader.run.types.size(),
                "{}: selective has {} for {}", path, counted(reader.run.held.size(), "row"),
                counted(reader.run.types.size(), "atom"));
  return configurations_of(path, reader.run, std::move(reader.steps), frame, options);
}

}  // namespace quintet
