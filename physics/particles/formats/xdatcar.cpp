#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"
#include "physics/particles/formats/vasp_output.hpp"

namespace quintet {

namespace {

/// "Direct configuration=     1" or "Cartesian configuration=".
bool is_step_head(const std::string& line) { return line.find("onfiguration=") != std::string::npos; }

/// Reads an XDATCAR: a head (title, scale, cell, species, counts), which runs with a changing cell repeat
/// before each step, then "Direct configuration= N" and positions.
class XdatcarReader {
 public:
  XdatcarReader(const std::string& path, const VaspOutputOptions& options)
      : reader_(path), options_(options), names_(options.type_names) {}

  std::vector<Configuration> read(std::optional<std::int64_t> frame) {
    std::vector<Configuration> frames;
    for (bool more = reader_.next(); more; more = next_step()) {
      if (!is_step_head(reader_.line())) {
        read_head();
        QUINTET_CHECK(next_step() && is_step_head(reader_.line()),
                      "{}: expected 'Direct configuration=' behind the numbers of atoms", reader_.where());
      }
      frames.push_back(read_step());
    }
    const std::int64_t n = frames.size();
    QUINTET_CHECK(n > 0, "{}: the file holds no configuration", reader_.path());
    if (frame) {
      const auto place = text::place_of_frame(reader_.path(), *frame, n);
      frames = {frames[place]};
      text::tell_frame(frames.front().reading, place, n);
    }
    if (!options_.periodic)
      frames.front().reading.assume(
          "periodic in x y z, as VASP always is (system.periodic or --periodic changes it)");
    return frames;
  }

 private:
  /// The title of a repeated head may be blank.
  bool next_step() { return reader_.next_filled(); }

  void step(const char* what) {
    QUINTET_CHECK(reader_.next(), "{}: the file ends before {}", reader_.where(), what);
    words_ = text::split(reader_.line());
  }

  Vec3 three(const char* what) {
    step(what);
    QUINTET_CHECK(words_.size() >= 3, "{}: {} has {} numbers, expected 3", reader_.where(), what,
                  words_.size());
    return text::to_vec3(words_.data(), reader_.where(), what);
  }

  /// The reader is at the title, or behind it where that is blank.
  void read_head() {
    words_ = text::split(reader_.line());
    const bool scale_is_here = words_.size() == 1 && !types_.empty() && is_number(words_[0]);
    if (!scale_is_here) step("the scale");
    QUINTET_CHECK(words_.size() == 1,
                  "{}: the scale is {}, expected one number (the XDATCAR of VASP 4 is not read)",
                  reader_.where(), text::shown(reader_.line()));
    double scale = text::to_double(words_[0], reader_.where(), "the scale");
    QUINTET_CHECK(scale != 0, "{}: the scale is 0, expected a factor or minus the volume", reader_.where());
    for (int r = 0; r < 3; ++r) {
      const Vec3 row = three("a cell vector");
      std::copy(row.begin(), row.end(), rows_.begin() + 3 * r);
    }
    if (scale < 0)
      scale = std::cbrt(-scale / box_from_file(rows_, {true, true, true}, {}, {}, reader_.where()).volume());
    for (double& component : rows_) component *= scale;
    scale_ = scale;
    read_species();
  }

  static bool is_number(std::string_view word) {
    return word.find_first_not_of("+-.0123456789eEdD") == std::string_view::npos;
  }

  void read_species() {
    step("the species");
    if (!words_.empty() && !text::is_integer(words_[0])) {
      std::vector<std::string> own;
      for (const auto word : words_) own.emplace_back(word.substr(0, word.find_first_of("/_")));
      names_ = agreed_names(reader_.where(), own, options_.type_names);
      step("the numbers of atoms");
    }
    QUINTET_CHECK(!names_.empty(), "{}: the file does not name its species; give types", reader_.where());
    QUINTET_CHECK(words_.size() == names_.size(), "{}: there are {} numbers of atoms for {} species ({})",
                  reader_.where(), words_.size(), names_.size(), fmt::join(names_, ", "));
    std::vector<int> types;
    for (std::size_t t = 0; t < words_.size(); ++t) {
      const auto n = text::to_integer(words_[t], reader_.where(), "a number of atoms");
      QUINTET_CHECK(n >= 0 && static_cast<std::uint64_t>(n) <= reader_.bytes(),
                    "{}: {} atoms cannot be true of a file of {} bytes", reader_.where(), n, reader_.bytes());
      types.insert(types.end(), n, t);
    }
    QUINTET_CHECK(!types.empty(), "{}: the file has 0 atoms, expected 1 or more", reader_.where());
    types_ = std::move(types);
  }

  Configuration read_step() {
    const std::string where = reader_.where();
    const auto first = reader_.line()[reader_.line().find_first_not_of(" \t")];
    const char kind = std::tolower(static_cast<unsigned char>(first));
    QUINTET_CHECK(kind == 'd' || kind == 'c', "{}: {} is neither Direct nor Cartesian", where,
                  text::shown(reader_.line()));
    QUINTET_CHECK(!types_.empty(), "{}: a configuration before the numbers of atoms", where);
    Configuration c;
    c.type_names = names_;
    c.types = types_;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const Vec3 s = three("a position");
      Vec3 x{s[0] * scale_, s[1] * scale_, s[2] * scale_};
      for (int k = 0; k < 3 && kind == 'd'; ++k)
        x[k] = s[0] * rows_[k] + s[1] * rows_[3 + k] + s[2] * rows_[6 + k];
      c.positions.push_back(x);
    }
    text::check_whole(reader_);
    c.box = box_from_file(rows_, options_.periodic.value_or(std::array{true, true, true}), {0, 0, 0},
                          c.positions, where, &c.reading);
    return c;
  }

  text::LineReader reader_;
  const VaspOutputOptions& options_;
  std::vector<std::string_view> words_;
  std::vector<std::string> names_;
  std::vector<int> types_;
  Mat3 rows_{};
  double scale_ = 1;
};

}  // namespace

std::vector<Configuration> read_xdatcar(const std::string& path, std::optional<std::int64_t> frame,
                                        const VaspOutputOptions& options) {
  return XdatcarReader(path, options).read(frame);
}

}  // namespace quintet
