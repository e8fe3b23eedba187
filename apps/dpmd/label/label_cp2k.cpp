#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "apps/dpmd/label/label_program.hpp"
#include "apps/dpmd/label/label_template.hpp"
#include "io/config/tree.hpp"
#include "io/config/units.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet::dpmd {

namespace {

/// Whether a line of the input is `RUN_TYPE DRIVER`.
bool runs_as_driver(const std::string& text) {
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::istringstream lines(upper);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, value;
    if (words >> key >> value && key == "RUN_TYPE") return value == "DRIVER";
  }
  return false;
}

void check(const std::string& text, const std::string& path) {
  check_template(text, path, {"cell", "coordinates"}, {driver_mark});
  QUINTET_CHECK(
      stays(text) == runs_as_driver(text),
      "{}: {}; with RUN_TYPE DRIVER and {{{{driver}}}} in the section MOTION CP2K stays and takes "
      "frame after frame, with RUN_TYPE ENERGY_FORCE and without it is started for each",
      path,
      stays(text) ? "has {{driver}}, but not RUN_TYPE DRIVER" : "has RUN_TYPE DRIVER, but not {{driver}}");
}

std::string cell_lines(const Box& box) {
  std::string text;
  const auto& rows = box.rows();
  for (int k = 0; k < 3; ++k)
    text +=
        fmt::format("{} {:.17g} {:.17g} {:.17g}\n", "ABC"[k], rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]);
  std::string periodic;
  for (int k = 0; k < 3; ++k)
    if (box.periodic()[k]) periodic += "XYZ"[k];
  return text + "PERIODIC " + (periodic.empty() ? "NONE" : periodic);
}

/// @param driver what stands for {{driver}}
void write_input(const std::string& text, const std::string& folder, const Configuration& frame,
                 const std::string& driver) {
  std::string atoms;
  for (std::size_t i = 0; i < frame.n_atoms(); ++i) {
    const auto& x = frame.positions[i];
    atoms += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", frame.type_names[frame.types[i]], x[0], x[1], x[2]);
  }
  write_text_file(
      folder + "/cp2k.inp",
      fill_template(text, {{"cell", cell_lines(frame.box)}, {"coordinates", atoms}, {driver_mark, driver}}));
}

void write(const std::string& text, const std::string& folder, const Configuration& frame) {
  write_input(text, folder, frame, "");
}

void write_driver(const std::string& text, const std::string& folder, const Configuration& frame, int port) {
  write_input(text, folder, frame, fmt::format("&DRIVER\nHOST 127.0.0.1\nPORT {}\n&END DRIVER", port));
}

/// CP2K keeps the grids of its first cell.
std::string kind(const Configuration& frame) { return cell_lines(frame.box); }

ipi::Units units(const std::string&) { return {}; }

ipi::Positions sent(const Configuration& frame) { return {frame.box.rows(), frame.positions}; }

ipi::Forces received(const Configuration&, ipi::Forces found) { return found; }

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool tells_of_failure(const std::string& text) {
  return text.find("SCF run NOT converged") != std::string::npos ||
         text.find("outer SCF loop FAILED") != std::string::npos;
}

double number(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  QUINTET_CHECK(*end == 0 && end != word.c_str(), "'{}' stands where a number belongs", word);
  return value;
}

/// Reads CP2K's output line by line.
class Cp2kOutput {
 public:
  explicit Cp2kOutput(const std::string& path) : file_(path) {
    while (std::getline(file_, line_)) take();
  }

  Configuration labelled(Configuration frame) const {
    QUINTET_CHECK(converged_, "the SCF did not converge");
    QUINTET_CHECK(ended_, "the output is cut off: no 'PROGRAM ENDED'");
    QUINTET_CHECK(energy_, "the output has no 'ENERGY| Total FORCE_EVAL'");
    QUINTET_CHECK(
        !forces_.empty(),
        "the output has no forces: the template needs RUN_TYPE ENERGY_FORCE and FORCE_EVAL/PRINT/FORCES ON "
        "without FILENAME");
    const double hartree = parse_quantity("1 hartree", "eV"),
                 force = parse_quantity("1 hartree/bohr", "eV/angstrom");
    frame.energy = *energy_ * hartree;
    frame.forces = forces_;
    for (auto& f : frame.forces)
      for (double& component : f) component *= force;
    for (std::size_t i = 0; i < elements_.size() && i < frame.n_atoms(); ++i)
      QUINTET_CHECK(elements_[i] == frame.type_names[frame.types[i]],
                    "atom {} is {} in the output, but {} in the frame", i + 1, elements_[i],
                    frame.type_names[frame.types[i]]);
    if (stress_rows_ == 3) {
      frame.virial = stress_;
      for (double& component : *frame.virial) component *= frame.box.volume();
    }
    return frame;
  }

 private:
  void take() {
    const auto words = words_of(line_);
    if (tells_of_failure(line_)) converged_ = false;
    if (line_.find("PROGRAM ENDED") != std::string::npos) ended_ = true;
    if (line_.find("ENERGY| Total FORCE_EVAL") != std::string::npos && !words.empty())
      energy_ = number(words.back());
    if (line_.find("ATOMIC FORCES in [a.u.]") != std::string::npos) read_forces();
    if (words.size() == 6 && words[0] == "FORCES|" && std::isdigit(static_cast<unsigned char>(words[1][0])))
      forces_.push_back({number(words[2]), number(words[3]), number(words[4])});  // CP2K 2024 and later
    if (words.size() > 4 && words[0] == "STRESS|" && line_.find("stress tensor [") != std::string::npos &&
        line_.find("Eigen") == std::string::npos)
      read_stress();
  }

  /// Atom, kind, element, x, y, z.
  void read_forces() {
    forces_.clear();
    elements_.clear();
    while (std::getline(file_, line_) && line_.find("SUM OF") == std::string::npos) {
      const auto words = words_of(line_);
      if (words.empty() || words[0] == "#") continue;
      QUINTET_CHECK(words.size() == 6, "the table of forces is cut off at '{}'", line_);
      elements_.push_back(words[2]);
      forces_.push_back({number(words[3]), number(words[4]), number(words[5])});
    }
  }

  /// CP2K's stress is the pressure tensor of the configuration: virial = volume * stress.
  void read_stress() {
    const auto open = line_.find('['), close = line_.find(']');
    QUINTET_CHECK(close != std::string::npos, "no unit in '{}'", line_);
    const std::string unit = line_.substr(open + 1, close - open - 1);
    const double scale = unit == "a.u." ? parse_quantity("1 hartree/bohr^3", "eV/angstrom^3")
                                        : parse_quantity("1 " + unit, "eV/angstrom^3");
    std::getline(file_, line_);
    for (stress_rows_ = 0; stress_rows_ < 3 && std::getline(file_, line_); ++stress_rows_) {
      const auto words = words_of(line_);
      QUINTET_CHECK(words.size() == 5, "the stress tensor is cut off at '{}'", line_);
      for (int l = 0; l < 3; ++l) stress_[3 * stress_rows_ + l] = number(words[2 + l]) * scale;
    }
  }

  std::ifstream file_;
  std::string line_;
  bool converged_ = true, ended_ = false;
  std::optional<double> energy_;       ///< (hartree)
  std::vector<Vec3> forces_;           ///< (hartree/bohr)
  std::vector<std::string> elements_;  ///< of the rows of forces_
  Mat3 stress_{};                      ///< (eV/angstrom^3)
  int stress_rows_ = 0;
};

Configuration read(const std::string& folder, Configuration frame) {
  return Cp2kOutput(folder + "/" + label_output).labelled(std::move(frame));
}

/// The line of the energy stands behind what CP2K says of the SCF.
bool is_said(const std::string& output, double energy) {
  QUINTET_CHECK(!tells_of_failure(output), "the SCF did not converge");
  const auto at = output.rfind("ENERGY| Total FORCE_EVAL");
  const auto end = at == std::string::npos ? at : output.find('\n', at);
  if (end == std::string::npos) return false;
  const auto words = words_of(output.substr(at, end - at));
  const double said = number(words.back()) * unit_factor("hartree", "eV");
  constexpr double printed_digits = 1e-9;
  QUINTET_CHECK(std::abs(said - energy) <= printed_digits * (1 + std::abs(energy)),
                "CP2K printed an energy of {} eV, but sent {} eV", said, energy);
  return true;
}

}  // namespace

const LabelRecipe& cp2k_recipe() {
  static const LabelRecipe recipe{
      "CP2K",
      "cp2k.psmp -i cp2k.inp",
      "install CP2K (Debian: apt install cp2k) or say what starts it with --command, such as "
      "'mpirun -n 4 cp2k.popt -i cp2k.inp'",
      check,
      write,
      read,
      {units, write_driver, kind, sent, received, is_said}};
  return recipe;
}

}  // namespace quintet::dpmd
