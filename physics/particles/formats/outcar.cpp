#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/vasp_output.hpp"

namespace quintet {

namespace {

bool has(const std::string& line, std::string_view piece) { return line.find(piece) != std::string::npos; }

/// Numbers of a Fortran line, also where wide ones leave no blank between them ("0.000000000-10.955671660"):
/// each ends with as many decimals as the last of its word.
std::vector<std::string> words_of_numbers(std::string_view line) {
  std::vector<std::string> words;
  for (auto word : text::split(line)) {
    const auto last = word.rfind('.');
    while (last != std::string_view::npos && word.find('.') != word.rfind('.')) {
      const std::size_t decimals = word.size() - word.rfind('.') - 1, end = word.find('.') + 1 + decimals;
      // Fortran writes a digit before each point: "1.5.2" is no two numbers.
      if (end >= word.size() ||
          (word[end] != '-' && std::isdigit(static_cast<unsigned char>(word[end])) == 0))
        break;
      words.emplace_back(word.substr(0, end));
      word.remove_prefix(end);
    }
    words.emplace_back(word);
  }
  return words;
}

/// The word behind "NAME =" in lines such as "   NELM   =     60;   NELMIN=  2;", NAME a word of its own.
std::optional<std::string> assigned(const std::string& line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const bool begins = at == 0 || std::string_view(" ;\t").find(line[at - 1]) != std::string_view::npos;
    const std::size_t equals = line.find_first_not_of(' ', at + name.size());
    if (!begins || equals == std::string::npos || line[equals] != '=') continue;
    const auto words = text::split(std::string_view(line).substr(equals + 1), " \t;");
    if (!words.empty()) return std::string(words[0]);
  }
  return {};
}

/// Reads an OUTCAR line by line; a step ends with its energy.
class OutcarReader {
 public:
  explicit OutcarReader(const std::string& path) : reader_(path) {}

  VaspRun run;
  std::vector<VaspStep> steps;

  void read() {
    while (reader_.next()) try {
        read_line(reader_.line());
      } catch (const InputError&) {
        if (reader_.next()) throw;
        cut_within_line_ = true;  // a run that was killed ends anywhere
      }
    QUINTET_CHECK(!counts_.empty(), "{}: there is no line 'ions per type =': is it the OUTCAR of VASP?",
                  reader_.path());
    run.not_used = "masses (POMASS)";
    run.cut_short = cut_within_line_ || !step_.positions.empty() || iterations_ > 0;
  }

 private:
  void read_line(const std::string& line) {
    read_settings(line);
    if (has(line, "Iteration") && line.find('(') != std::string::npos) {
      note_iteration(line);
    } else if (has(line, "aborting loop")) {
      reached_ = has(line, "EDIFF is reached");
      stopped_ = !reached_;
    } else if (has(line, "FORCE on cell =-STRESS")) {
      of_force_field_ = has(line, "ML FORCE");
    } else if (is_stress(line) && !of_force_field_) {
      read_stress();
    } else if (has(line, "direct lattice vectors")) {
      read_cell();
    } else if (has(line, "POSITION") && has(line, "TOTAL-FORCE (eV/Angst)")) {
      read_forces(has(line, "(ML)"));
    } else if (has(line, "free  energy") && has(line, "TOTEN")) {
      end_step(has(line, "ML TOTEN"));
    } else if (has(line, "energy  without entropy") && !has(line, "ML energy") && !steps.empty() &&
               has(line, "energy(sigma->0)") && awaits_sigma_) {
      steps.back().energy_to_zero = number_behind("energy(sigma->0)");
      awaits_sigma_ = false;
    }
  }

  /// What stands before the first step. The words behind the numbers tell VASP's own lines from those of the
  /// INCAR, which it repeats above them.
  void read_settings(const std::string& line) {
    if (!steps.empty() || !step_.positions.empty()) return;
    const auto number = [&](const char* name, const char* words) -> std::optional<double> {
      if (!has(line, words)) return {};
      const auto word = assigned(line, name);
      return word ? std::optional(text::to_double(*word, reader_.where(), name)) : std::nullopt;
    };
    if (has(line, "TITEL")) read_species(line);
    if (has(line, "ions per type")) read_counts(line);
    if (const auto n = number("NELM", "NELMIN=")) most_iterations_ = *n;
    if (const auto n = number("ISIF", "stress and relaxation")) run.isif = std::clamp(*n, -1.0, 100.0);
    if (const auto n = number("PSTRESS", "pullay stress")) run.pressure = *n;
  }

  void read_species(const std::string& line) {
    const auto title = line.find('=');
    const auto words = title == std::string::npos ? std::vector<std::string_view>()
                                                  : text::split(std::string_view(line).substr(title + 1));
    QUINTET_CHECK(words.size() >= 2, "{}: {} names no species", reader_.where(), text::shown(line));
    run.type_names.emplace_back(words[1].substr(0, words[1].find('_')));  // "PAW_PBE Ti_pv 07Sep2000"
  }

  void read_counts(const std::string& line) {
    counts_.clear();
    run.types.clear();
    const auto equals = line.find('=');
    QUINTET_CHECK(equals != std::string::npos, "{}: {} counts no ions", reader_.where(), text::shown(line));
    for (const auto word : text::split(std::string_view(line).substr(equals + 1))) {
      const auto n = text::to_integer(word, reader_.where(), "the number of ions of a type");
      QUINTET_CHECK(n >= 1 && static_cast<std::uint64_t>(n) <= reader_.bytes(),
                    "{}: {} ions cannot be true of a file of {} bytes; expected 1 or more", reader_.where(),
                    n, reader_.bytes());
      run.types.insert(run.types.end(), n, counts_.size());
      counts_.push_back(n);
    }
    QUINTET_CHECK(!counts_.empty() && counts_.size() == run.type_names.size(),
                  "{}: there are {} numbers of ions for {} species ({})", reader_.where(), counts_.size(),
                  run.type_names.size(), fmt::join(run.type_names, ", "));
  }

  /// "-------- Iteration      3(  12)  --------": ionic step and electronic one.
  void note_iteration(const std::string& line) {
    const auto open = line.find('('), close = line.find(')', open);
    if (close == std::string::npos) return;
    const auto words = text::split(std::string_view(line).substr(open + 1, close - open - 1));
    if (words.size() == 1 && text::is_integer(words[0]))
      iterations_ = text::to_integer(words[0], reader_.where(), "an iteration");
    of_force_field_ = false;
  }

  [[nodiscard]] static bool is_stress(const std::string& line) {
    const auto first = line.find_first_not_of(' ');
    return first != std::string::npos && line.compare(first, 5, "in kB") == 0;
  }

  void read_stress() {
    const auto& line = reader_.line();
    const auto words = words_of_numbers(std::string_view(line).substr(line.find("in kB") + 5));
    QUINTET_CHECK(words.size() == 6, "{}: the stress has {} numbers, expected 6 (XX YY ZZ XY YZ ZX)",
                  reader_.where(), words.size());
    std::array<double, 6> s{};
    for (int i = 0; i < 6; ++i) s[i] = text::to_double(words[i], reader_.where(), "the stress");
    step_.stress = Mat3{s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]};
  }

  /// The numbers of the next line, `n` at least; nothing if the file ends here.
  std::optional<std::vector<double>> numbers(std::size_t n, const char* what) {
    if (!reader_.next()) return {};
    const auto words = words_of_numbers(reader_.line());
    std::vector<double> values;
    for (std::size_t i = 0; i < std::min(n, words.size()); ++i)
      values.push_back(text::to_double(words[i], reader_.where(), what));
    QUINTET_CHECK(values.size() == n, "{}: {} has {} numbers, expected {}", reader_.where(), what,
                  values.size(), n);
    return values;
  }

  void read_cell() {
    for (int r = 0; r < 3; ++r) {
      const auto row = numbers(3, "a lattice vector");
      if (!row) return;
      std::copy(row->begin(), row->end(), cell_.begin() + 3 * r);
    }
    has_cell_ = true;
  }

  void read_forces(bool of_force_field) {
    const std::string where = reader_.where();
    QUINTET_CHECK(!run.types.empty() && has_cell_, "{}: forces before {}", where,
                  has_cell_ ? "the line 'ions per type ='" : "the lattice vectors");
    std::vector<Vec3> positions, forces;
    if (!reader_.next()) return;  // the line of dashes
    for (std::size_t i = 0; i < run.types.size(); ++i) {
      const auto row = numbers(6, "position and force");
      if (!row) return;
      positions.push_back({(*row)[0], (*row)[1], (*row)[2]});
      forces.push_back({(*row)[3], (*row)[4], (*row)[5]});
    }
    // Beside first principles VASP may print what its force field says.
    if (of_force_field && !step_.positions.empty()) return;
    step_.positions = std::move(positions);
    step_.forces = std::move(forces);
    step_.rows = cell_;
    step_.where = where;
    step_.force_field = of_force_field;
  }

  double number_behind(std::string_view words) const {
    const auto& line = reader_.line();
    auto rest = std::string_view(line).substr(line.find(words) + words.size());
    const auto pieces = text::split(rest, " \t=");
    QUINTET_CHECK(!pieces.empty(), "{}: there is no number behind {}", reader_.where(), words);
    return text::to_double(pieces[0], reader_.where(), words);
  }

  /// The energy is the last that VASP prints of a step. Electronic iterations print it with another number of
  /// blanks ("free energy    TOTEN").
  void end_step(bool of_force_field) {
    awaits_sigma_ = false;
    if (step_.positions.empty()) return;
    if (of_force_field && !step_.force_field) return;  // beside first principles
    step_.energy = number_behind("TOTEN");
    QUINTET_CHECK(text::split(reader_.line()).back() == "eV", "{}: the energy is cut short", reader_.where());
    step_.converged = reached_ || (!stopped_ && iterations_ > 0 && iterations_ < most_iterations_);
    steps.push_back(std::move(step_));
    awaits_sigma_ = true;
    step_ = {};
    reached_ = stopped_ = false;
    iterations_ = 0;
  }

  text::LineReader reader_;
  std::vector<std::int64_t> counts_;
  Mat3 cell_{};
  VaspStep step_;
  double iterations_ = 0, most_iterations_ = 60;
  bool has_cell_ = false, reached_ = false, stopped_ = false, of_force_field_ = false, awaits_sigma_ = false,
       cut_within_line_ = false;
};

}  // namespace

std::vector<Configuration> read_outcar(const std::string& path, std::optional<std::int64_t> frame,
                                       const VaspOutputOptions& options) {
  OutcarReader reader(path);
  reader.read();
  return configurations_of(path, reader.run, std::move(reader.steps), frame, options);
}

}  // namespace quintet
