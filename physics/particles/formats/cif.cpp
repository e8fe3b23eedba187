#include "physics/particles/formats/cif.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "physics/particles/formats/cif_text.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

using cif::Value;

/// s' = R s + t of fractional coordinates.
struct SymmetryOperation {
  Mat3 rotation{};
  Vec3 shift{};
};

/// One of the three parts of "x-y, 1/2+z, -x".
void parse_part(const std::string& part, int row, SymmetryOperation& operation, const Value& value) {
  const auto wrong = [&] {
    return InputError(fmt::format("{}: {} is no operation of symmetry such as x,-y,z+1/2", value.where,
                                  text::shown(value.text)));
  };
  constexpr double most_shift = 1000;  // cells
  if (part.empty()) throw wrong();
  for (std::size_t at = 0; at < part.size();) {
    double sign = 1;
    if (part[at] == '+' || part[at] == '-')
      sign = part[at++] == '-' ? -1 : 1;
    else if (at > 0)
      throw wrong();
    const auto end = std::min(part.find_first_of("+-", at), part.size());
    const std::string term = part.substr(at, end - at);
    at = end;
    if (term.size() == 1 && term[0] >= 'x' && term[0] <= 'z') {
      operation.rotation[3 * row + (term[0] - 'x')] += sign;
      continue;
    }
    const auto slash = term.find('/');
    const double above = text::to_double(term.substr(0, slash), value.where, "a shift");
    const double below =
        slash == std::string::npos ? 1 : text::to_double(term.substr(slash + 1), value.where, "a shift");
    if (below == 0 || std::abs(above / below) > most_shift) throw wrong();
    operation.shift[row] += sign * above / below;
  }
}

SymmetryOperation parse_operation(const Value& value) {
  std::string parts[3];
  int row = 0;
  for (const char c : value.text) {
    if (c == ',' && ++row > 2) break;
    if (c != ',' && c != ' ' && c != '\t')
      parts[row] += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  QUINTET_CHECK(row == 2, "{}: {} is no operation of symmetry such as x,-y,z+1/2", value.where,
                text::shown(value.text));
  SymmetryOperation operation;
  for (int r = 0; r < 3; ++r) parse_part(parts[r], r, operation, value);
  const auto& m = operation.rotation;
  const double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                             m[2] * (m[3] * m[7] - m[4] * m[6]);
  QUINTET_CHECK(std::abs(determinant) == 1, "{}: {} is no operation of symmetry: its determinant is {}",
                value.where, text::shown(value.text), determinant);
  return operation;
}

/// Reads one data block.
class CifBlockReader {
 public:
  CifBlockReader(const cif::Block& block, const CifOptions& options) : block_(block), options_(options) {}

  Configuration read() {
    read_cell();
    read_operations();
    read_sites();
    refuse_overlaps();
    compare_formula();
    return std::move(result_);
  }

 private:
  double cell(const char* tag) const {
    const Value* value = block_.one({tag});
    QUINTET_CHECK(value != nullptr, "{}: data block {} has no {}", block_.where, text::shown(block_.name),
                  tag);
    const double number = cif::to_number(*value, tag);
    QUINTET_CHECK(number > 0, "{}: {} is {}, expected a positive number", value->where, tag, number);
    return number;
  }

  /// cos of degrees, exact for the angles of crystals.
  static double cosine(double degrees) {
    if (degrees == 90) return 0;
    if (degrees == 60) return 0.5;
    if (degrees == 120) return -0.5;
    return std::cos(degrees * std::acos(-1.0) / 180);
  }

  void read_cell() {
    const double a = cell("_cell_length_a"), b = cell("_cell_length_b"), c = cell("_cell_length_c");
    const double ca = cosine(cell("_cell_angle_alpha")), cb = cosine(cell("_cell_angle_beta")),
                 cg = cosine(cell("_cell_angle_gamma"));
    const double sg = std::sqrt(std::max(0.0, 1 - cg * cg)), cy = sg > 0 ? (ca - cb * cg) / sg : 0,
                 cz2 = 1 - cb * cb - cy * cy;
    QUINTET_CHECK(sg > 0 && cz2 > 0, "{}: the angles of the cell fit no cell", block_.where);
    rows_ = {a, 0, 0, b * cg, b * sg, 0, c * cb, c * cy, c * std::sqrt(cz2)};
    if (!options_.periodic)
      result_.reading.assume("periodic in x y z, as crystals are (system.periodic or --periodic changes it)");
    result_.box = box_from_file(rows_, options_.periodic.value_or(std::array{true, true, true}), {0, 0, 0},
                                {}, block_.where, &result_.reading);
  }

  /// "P 1" in any spelling; "" if the file names no group.
  [[nodiscard]] std::string group() const {
    const Value* name = block_.one({"_space_group_name_h-m_alt", "_symmetry_space_group_name_h-m",
                                    "_space_group_name_hall", "_symmetry_space_group_name_hall"});
    if (name == nullptr) name = block_.one({"_space_group_it_number", "_symmetry_int_tables_number"});
    if (name == nullptr) return "";
    std::string word;
    for (const char c : name->text)
      if (c != ' ' && c != '_') word += c;
    return word == "1" || word == "p1" ? "P1" : word;
  }

  void read_operations() {
    const auto* listed = block_.find({"_space_group_symop_operation_xyz", "_symmetry_equiv_pos_as_xyz",
                                      "_space_group_symop.operation_xyz"});
    const std::string name = group();
    if (listed != nullptr)
      for (const Value& value : *listed)
        if (!value.is_absent()) operations_.push_back(parse_operation(value));
    const bool identity_alone = operations_.size() <= 1;
    QUINTET_CHECK(!identity_alone || name.empty() || name == "P1",
                  "{}: data block {} is of space group {}, but lists {}; write the CIF with its operations "
                  "(_space_group_symop_operation_xyz), or all atoms in P 1",
                  block_.where, text::shown(block_.name), text::shown(name),
                  operations_.empty() ? "no operation of it" : "one operation of it alone");
    if (!operations_.empty()) return;
    operations_.push_back({{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}});
    if (name.empty()) result_.reading.assume("all atoms are listed (the file names no symmetry)");
  }

  void read_sites() {
    const auto* x = block_.find({"_atom_site_fract_x"});
    const auto* y = block_.find({"_atom_site_fract_y"});
    const auto* z = block_.find({"_atom_site_fract_z"});
    QUINTET_CHECK(
        x != nullptr && y != nullptr && z != nullptr && x->size() == y->size() && x->size() == z->size() &&
            !x->empty(),
        "{}: data block {} has no fractional positions (_atom_site_fract_x, _y, _z); Cartesian ones "
        "are not read",
        block_.where, text::shown(block_.name));
    for (std::size_t i = 0; i < x->size(); ++i) read_site(i, {&(*x)[i], &(*y)[i], &(*z)[i]});
    QUINTET_CHECK(result_.n_atoms() > 0, "{}: data block {} has no atoms", block_.where,
                  text::shown(block_.name));
    static const std::vector<std::string> of_disorder{"_atom_site_disorder_group",
                                                      "_atom_site_disorder_assembly"};
    for (const auto& tag : of_disorder)
      if (const auto found = block_.values.find(tag);
          found != block_.values.end() && std::any_of(found->second.begin(), found->second.end(),
                                                      [](const Value& v) { return !v.is_absent(); }))
        result_.reading.leave(tag);
  }

  [[nodiscard]] const Value* of_site(const char* tag, std::size_t i) const {
    const auto* values = block_.find({tag});
    return values != nullptr && i < values->size() && !(*values)[i].is_absent() ? &(*values)[i] : nullptr;
  }

  [[nodiscard]] std::string label(std::size_t i) const {
    const Value* value = of_site("_atom_site_label", i);
    return value != nullptr ? value->text : fmt::format("{}", i + 1);
  }

  void read_site(std::size_t i, const std::array<const Value*, 3>& place) {
    const Value* kind = of_site("_atom_site_calc_flag", i);
    if (kind != nullptr && kind->text == "dum") {  // no atom
      result_.reading.leave("dummy site " + label(i));
      return;
    }
    Vec3 s;
    for (int k = 0; k < 3; ++k) {
      QUINTET_CHECK(!place[k]->is_absent(), "{}: site {} has no position ('{}')", place[k]->where,
                    text::shown(label(i)), place[k]->text);
      s[k] = cif::to_number(*place[k], "a position");
      QUINTET_CHECK(std::abs(s[k]) < 1e6, "{}: position {} is not in fractions of the cell", place[k]->where,
                    s[k]);
    }
    if (const Value* occupancy = of_site("_atom_site_occupancy", i); occupancy != nullptr) {
      const double share = cif::to_number(*occupancy, "the occupancy");
      QUINTET_CHECK(share == 1,
                    "{}: site {} has an occupancy of {}; atoms are whole: choose who is where (a supercell), "
                    "and write that",
                    occupancy->where, text::shown(label(i)), occupancy->text);
    }
    const int type = type_of(i, place[0]->where);
    for (const Vec3& image : images(s, i, place[0]->where)) {
      fractions_.push_back(image);
      result_.positions.push_back(cartesian(image));
      result_.types.push_back(type);
      sites_.push_back(i);
    }
  }

  [[nodiscard]] Vec3 cartesian(const Vec3& s) const {
    Vec3 x{};
    for (int k = 0; k < 3; ++k) x[k] = s[0] * rows_[k] + s[1] * rows_[3 + k] + s[2] * rows_[6 + k];
    return x;
  }

  /// a - b by the nearest whole numbers (for what lies near one another).
  static Vec3 apart(const Vec3& a, const Vec3& b) {
    Vec3 d;
    for (int k = 0; k < 3; ++k) d[k] = a[k] - b[k] - std::round(a[k] - b[k]);
    return d;
  }

  [[nodiscard]] double length(const Vec3& s) const {
    const Vec3 x = cartesian(s);
    return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  }

  /// The atoms of a site, each at the mean of the images that fall together.
  std::vector<Vec3> images(const Vec3& s, std::size_t site, const std::string& where) const {
    std::vector<Vec3> first, sums;
    std::vector<int> counts;
    for (const auto& operation : operations_) {
      Vec3 image;
      for (int r = 0; r < 3; ++r) {
        const auto& m = operation.rotation;
        image[r] = m[3 * r] * s[0] + m[3 * r + 1] * s[1] + m[3 * r + 2] * s[2] + operation.shift[r];
        image[r] -= std::floor(image[r]);
      }
      std::size_t place = 0;
      for (; place < first.size(); ++place) {
        const double distance = length(apart(image, first[place]));
        if (distance < together) break;
        QUINTET_CHECK(distance > too_near,
                      "{}: two images of site {} are {:.2f} angstrom apart; is it a split position?", where,
                      text::shown(label(site)), distance);
      }
      if (place == first.size()) {
        first.push_back(image);
        sums.push_back({0, 0, 0});
        counts.push_back(0);
      }
      const Vec3 offset = apart(image, first[place]);
      for (int k = 0; k < 3; ++k) sums[place][k] += offset[k];
      ++counts[place];
    }
    for (std::size_t i = 0; i < first.size(); ++i)
      for (int k = 0; k < 3; ++k) first[i][k] += sums[i][k] / counts[i];
    return first;
  }

  /// "Fe3+", "O2-", "Wat" -> an element; from the label where there is no type symbol.
  int type_of(std::size_t i, const std::string& where) {
    const Value* symbol = of_site("_atom_site_type_symbol", i);
    if (symbol == nullptr) by_label_ = true;
    const std::string word = symbol != nullptr ? symbol->text : label(i);
    std::string letters;
    for (const char c : word) {
      if (!std::isalpha(static_cast<unsigned char>(c))) break;
      letters += static_cast<char>(letters.empty() ? std::toupper(c) : std::tolower(c));
    }
    QUINTET_CHECK(standard_mass(letters), "{}: {} of site {} names no element; give _atom_site_type_symbol",
                  where, text::shown(word), text::shown(label(i)));
    auto& names = result_.type_names;
    auto found = std::find(names.begin(), names.end(), letters);
    if (found == names.end()) found = names.insert(found, letters);
    return found - names.begin();
  }

  /// Atoms of different sites at one place, found among neighbours along the first row.
  void refuse_overlaps() {
    if (by_label_) result_.reading.assume("elements by the labels of the sites");
    const double reach = too_near / result_.box.width(0);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < fractions_.size(); ++i) {
      const double s = fractions_[i][0] - std::floor(fractions_[i][0]);
      order.emplace_back(s, i);
      if (s < reach) order.emplace_back(s + 1, i);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t a = 0; a < order.size(); ++a)
      for (std::size_t b = a + 1; b < order.size() && order[b].first - order[a].first <= reach; ++b) {
        const std::size_t i = order[a].second, j = order[b].second;
        if (i == j || sites_[i] == sites_[j]) continue;
        const double distance = length(apart(fractions_[i], fractions_[j]));
        QUINTET_CHECK(distance > too_near, "{}: sites {} and {} are {:.2f} angstrom apart", block_.where,
                      text::shown(label(sites_[i])), text::shown(label(sites_[j])), distance);
      }
  }

  /// Say so where the atoms are not those of the formula, up to a common factor.
  void compare_formula() {
    const Value* formula = block_.one({"_chemical_formula_sum"});
    if (formula == nullptr) return;
    std::map<std::string, double> wanted, found;
    for (const auto word : text::split(formula->text, " \t\n'\"")) {
      const auto digits = std::min(word.find_first_of("0123456789."), word.size());
      if (word.find_first_not_of("0123456789.", digits) != std::string_view::npos) return;
      const double n = digits == word.size()
                           ? 1
                           : text::to_double(word.substr(digits), formula->where, "a number of the formula");
      wanted[std::string(word.substr(0, digits))] += n;
    }
    for (const int type : result_.types) found[result_.type_names[type]] += 1;
    const bool same_elements =
        wanted.size() == found.size() && std::all_of(found.begin(), found.end(), [&](const auto& entry) {
          return wanted.contains(entry.first) && wanted[entry.first] > 0;
        });
    const double factor = same_elements ? found.begin()->second / wanted.begin()->second : 0;
    const bool same = same_elements && std::all_of(found.begin(), found.end(), [&](const auto& entry) {
                        return std::abs(entry.second - factor * wanted[entry.first]) < 0.01 * entry.second;
                      });
    if (same) return;
    std::vector<std::string> words;
    for (const auto& [name, n] : found) words.push_back(fmt::format("{}{:g}", name, n));
    result_.reading.assume(fmt::format("atoms {}, which are not of the formula {} that the file states",
                                       fmt::join(words, " "), formula->text));
  }

  static constexpr double together = 0.1, too_near = 0.4;  // angstrom
  const cif::Block& block_;
  const CifOptions& options_;
  Mat3 rows_{};
  std::vector<SymmetryOperation> operations_;
  std::vector<Vec3> fractions_;
  std::vector<std::size_t> sites_;
  bool by_label_ = false;
  Configuration result_;
};

}  // namespace

std::vector<Configuration> read_cif(const std::string& path, std::optional<std::int64_t> frame,
                                    const CifOptions& options) {
  auto blocks = cif::read_blocks(path);
  const bool of_macromolecules = std::any_of(blocks.begin(), blocks.end(), [](const auto& block) {
    return block.values.contains("_atom_site.cartn_x");
  });
  QUINTET_CHECK(!of_macromolecules, "{}: is an mmCIF of a macromolecule, which is not read", path);
  std::erase_if(blocks, [](const auto& block) {
    return block.find({"_atom_site_fract_x", "_atom_site_cartn_x", "_atom_site_label"}) == nullptr;
  });
  QUINTET_CHECK(!blocks.empty(), "{}: the file holds no data block with atom sites", path);
  Reading chosen;
  if (frame) {
    const std::int64_t n = blocks.size(), place = text::place_of_frame(path, *frame, n);
    blocks = {blocks[place]};
    text::tell_frame(chosen, place, n);
  }
  std::vector<Configuration> frames;
  for (const auto& block : blocks) frames.push_back(CifBlockReader(block, options).read());
  frames.front().reading.add(chosen);
  return frames;
}

}  // namespace quintet
