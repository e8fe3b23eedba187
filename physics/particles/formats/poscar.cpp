#include "physics/particles/formats/poscar.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"

namespace quintet {

namespace {

/// Reads a POSCAR from top to bottom.
class PoscarReader {
 public:
  PoscarReader(const std::string& path, const PoscarOptions& options)
      : reader_(path), periodic_(options.periodic.value_or(std::array{true, true, true})) {
    result_.type_names = options.type_names;
    if (!options.periodic)
      result_.reading.assume(
          "periodic in x y z, as VASP always is (system.periodic or --periodic changes it)");
  }

  Configuration read() {
    step("the title");
    const double scale = read_cell();
    read_species();
    read_positions(scale);
    read_rest();
    return std::move(result_);
  }

 private:
  void step(const char* what) {
    QUINTET_CHECK(reader_.next(), "{}: the file ends before {}", reader_.where(), what);
    tokens_ = text::split(reader_.line());
  }

  Vec3 three(const char* what) {
    step(what);
    QUINTET_CHECK(tokens_.size() >= 3, "{}: {} has {} numbers, expected 3", reader_.where(), what,
                  tokens_.size());
    return text::to_vec3(tokens_.data(), reader_.where(), what);
  }

  /// The box; returns the factor that Cartesian positions are scaled by.
  double read_cell() {
    step("the scale");
    QUINTET_CHECK(tokens_.size() == 1, "{}: the scale is {}, expected one number", reader_.where(),
                  text::shown(reader_.line()));
    double scale = text::to_double(tokens_[0], reader_.where(), "the scale");
    QUINTET_CHECK(scale != 0, "{}: the scale is 0, expected a factor or minus the volume", reader_.where());
    Mat3 rows;
    for (int r = 0; r < 3; ++r) {
      const Vec3 row = three("a cell vector");
      for (int k = 0; k < 3; ++k) rows[3 * r + k] = row[k];
    }
    const auto box = [&] {
      return box_from_file(rows, periodic_, {0, 0, 0}, {}, reader_.where(), &result_.reading);
    };
    if (scale < 0) scale = std::cbrt(-scale / box().volume());
    for (double& component : rows) component *= scale;
    result_.box = box();
    rows_ = rows;
    return scale;
  }

  void read_species() {
    step("the species");
    if (!tokens_.empty() && !text::is_integer(tokens_[0])) {
      std::vector<std::string> names;
      for (const auto token : tokens_)
        names.emplace_back(token.substr(0, token.find_first_of("/_")));  // "O_h/hash"
      result_.type_names = agreed_names(reader_.where(), names, result_.type_names);
      step("the numbers of atoms");
    }
    QUINTET_CHECK(!result_.type_names.empty(), "{}: the file does not name its species; give types",
                  reader_.where());
    QUINTET_CHECK(tokens_.size() == result_.type_names.size(),
                  "{}: there are {} numbers of atoms for {} species ({})", reader_.where(), tokens_.size(),
                  result_.type_names.size(), fmt::join(result_.type_names, ", "));
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      const std::int64_t n = text::to_integer(tokens_[t], reader_.where(), "a number of atoms");
      QUINTET_CHECK(n >= 0 && static_cast<std::uint64_t>(n) <= reader_.bytes(),
                    "{}: {} atoms of {} cannot be true of a file of {} bytes", reader_.where(), n,
                    result_.type_names[t], reader_.bytes());
      result_.types.insert(result_.types.end(), n, t);
    }
    QUINTET_CHECK(!result_.types.empty(), "{}: the file has 0 atoms, expected 1 or more", reader_.where());
  }

  void read_positions(double scale) {
    step("the kind of coordinates");
    const auto first_letter = [&] {
      return tokens_.empty() ? '?' : static_cast<char>(std::tolower(tokens_[0][0]));
    };
    const bool selective = first_letter() == 's';
    if (selective) step("the kind of coordinates");
    const char kind = first_letter();
    QUINTET_CHECK(kind == 'd' || kind == 'c' || kind == 'k',
                  "{}: the kind of coordinates is {}, expected Direct or Cartesian", reader_.where(),
                  text::shown(reader_.line()));
    for (std::size_t i = 0; i < result_.types.size(); ++i) {
      const Vec3 x = three("a position");
      result_.positions.push_back(kind == 'd' ? cartesian(x)
                                              : Vec3{x[0] * scale, x[1] * scale, x[2] * scale});
      if (selective) result_.held.push_back(held_directions());
    }
    if (std::all_of(result_.held.begin(), result_.held.end(), [](auto bits) { return bits == 0; }))
      result_.held.clear();
  }

  /// s in the rows as the file gives them.
  [[nodiscard]] Vec3 cartesian(const Vec3& s) const {
    Vec3 x{0, 0, 0};
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) x[k] += s[r] * rows_[3 * r + k];
    return x;
  }

  /// The three words behind a position: F holds the atom along that row of the cell.
  std::uint8_t held_directions() const {
    QUINTET_CHECK(tokens_.size() >= 6,
                  "{}: a position with selective dynamics needs three of T and F behind it", reader_.where());
    std::uint8_t held = 0;
    for (int k = 0; k < 3; ++k) {
      auto word = tokens_[3 + k];
      if (word.starts_with('.')) word.remove_prefix(1);  // Fortran's .FALSE.
      const char letter = word.empty() ? '?' : static_cast<char>(std::toupper(word[0]));
      QUINTET_CHECK(letter == 'T' || letter == 'F',
                    "{}: {} says nothing of whether the atom moves, expected T or F", reader_.where(),
                    text::shown(tokens_[3 + k]));
      if (letter == 'F') held |= static_cast<std::uint8_t>(1 << k);
    }
    return held;
  }

  /// A number at the very end of the file may lack digits, where no line feed follows.
  void check_last_number() const {
    const auto& line = reader_.line();
    if (!line.empty() && std::string_view("0123456789.").find(line.back()) != std::string_view::npos)
      text::check_whole(reader_);
  }

  /// What VASP writes behind the positions: velocities (Cartesian, angstrom/fs), and blocks of its own.
  void read_rest() {
    check_last_number();
    if (!reader_.next()) return;
    tokens_ = text::split(reader_.line());
    if (!tokens_.empty() && (tokens_[0][0] == 'L' || tokens_[0][0] == 'l')) {
      result_.reading.leave("lattice velocities");
      for (int line = 0; line < 8; ++line) step("the end of the lattice velocities");
    }
    const std::string kind(tokens_.empty() ? "" : tokens_[0]);
    // A blank line or Cartesian begins velocities; direct ones are in fractions of the cell a time step, and
    // the file need not say the step.
    if (!kind.empty() && (kind[0] == 'D' || kind[0] == 'd')) return read_direct_velocities();
    QUINTET_CHECK(
        kind.empty() || std::string_view("CcKk").find(kind[0]) != std::string_view::npos,
        "{}: {} follows the {} positions; expected the end of the file, or a blank line or Cartesian "
        "and velocities",
        reader_.where(), text::shown(reader_.line()), result_.types.size());
    if (!reader_.next_filled()) return;       // blank lines alone
    constexpr double angstrom_per_ps = 1000;  // of an angstrom/fs
    bool moves = false;
    for (std::size_t i = 0; i < result_.types.size(); ++i) {
      if (i > 0)
        step("a velocity");
      else
        tokens_ = text::split(reader_.line());
      QUINTET_CHECK(tokens_.size() >= 3, "{}: a velocity has {} numbers, expected 3", reader_.where(),
                    tokens_.size());
      Vec3 v = text::to_vec3(tokens_.data(), reader_.where(), "a velocity");
      for (double& component : v) {
        component *= angstrom_per_ps;
        moves = moves || component != 0;
      }
      result_.velocities.push_back(v);
    }
    check_last_number();
    if (!moves) {  // a relaxation's file
      result_.velocities.clear();
      result_.reading.leave("velocities, which are all 0");
    } else {
      result_.reading.assume("velocities in angstrom/fs");
    }
    if (reader_.next_filled()) result_.reading.leave("VASP's predictor-corrector block");
  }

  void read_direct_velocities() {
    bool moves = false;
    for (std::size_t i = 0; i < result_.types.size(); ++i)
      for (const double component : three("a velocity")) moves = moves || component != 0;
    QUINTET_CHECK(
        !moves,
        "{}: the velocities are direct (fractions of the cell a time step of VASP), which are not read; "
        "remove them, or write Cartesian ones (angstrom/fs)",
        reader_.where());
    result_.reading.leave("velocities, which are all 0");
    if (reader_.next_filled()) result_.reading.leave("VASP's predictor-corrector block");
  }

  text::LineReader reader_;
  std::vector<std::string_view> tokens_;  // of the reader's line
  std::array<bool, 3> periodic_;
  Mat3 rows_{};  // as the file gives them, scaled
  Configuration result_;
};

}  // namespace

Configuration read_poscar(const std::string& path, const PoscarOptions& options) {
  return PoscarReader(path, options).read();
}

}  // namespace quintet
