#include "physics/particles/files/read_configuration_poscar.hpp"

#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/files/read_configuration_text.hpp"
#include "physics/particles/files/read_configuration_types.hpp"

namespace quintet {

namespace {

/// Reads a POSCAR from top to bottom.
class PoscarReader {
 public:
  PoscarReader(const std::string& path, const std::vector<std::string>& type_names) : reader_(path) {
    result_.type_names = type_names;
  }

  Configuration read() {
    step("the title");
    const double scale = read_cell();
    read_species();
    read_positions(scale);
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
    const auto box = [&] { return box_from_file(rows, {true, true, true}, {0, 0, 0}, {}, reader_.where()); };
    if (scale < 0) scale = std::cbrt(-scale / box().volume());
    for (double& component : rows) component *= scale;
    result_.box = box();
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
      result_.types.insert(result_.types.end(), n, static_cast<int>(t));
    }
    QUINTET_CHECK(!result_.types.empty(), "{}: the file has 0 atoms, expected 1 or more", reader_.where());
  }

  void read_positions(double scale) {
    step("the kind of coordinates");
    const auto first_letter = [&] {
      return tokens_.empty() ? '?' : static_cast<char>(std::tolower(tokens_[0][0]));
    };
    if (first_letter() == 's') step("the kind of coordinates");
    const char kind = first_letter();
    QUINTET_CHECK(kind == 'd' || kind == 'c' || kind == 'k',
                  "{}: the kind of coordinates is {}, expected Direct or Cartesian", reader_.where(),
                  text::shown(reader_.line()));
    for (std::size_t i = 0; i < result_.types.size(); ++i) {
      const Vec3 x = three("a position");
      result_.positions.push_back(kind == 'd' ? result_.box.to_cartesian(x)
                                              : Vec3{x[0] * scale, x[1] * scale, x[2] * scale});
    }
  }

  text::LineReader reader_;
  std::vector<std::string_view> tokens_;  // of the reader's line
  Configuration result_;
};

}  // namespace

Configuration read_poscar(const std::string& path, const std::vector<std::string>& type_names) {
  return PoscarReader(path, type_names).read();
}

}  // namespace quintet
