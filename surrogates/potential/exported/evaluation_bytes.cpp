#include "surrogates/potential/exported/evaluation_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "io/log/error.hpp"

namespace quintet::potential {

namespace {

/// Neighbours in a row.
int length_of(const ExportedSystem& system, int row) {
  const auto begin = system.neighbour.begin() + std::ptrdiff_t{row} * system.width;
  return static_cast<int>(std::find(begin, begin + system.width, -1) - begin);
}

double mean_length(const ExportedSystem& system) {
  double sum = 0;
  for (int i = 0; i < system.n_rows; ++i) sum += length_of(system, i);
  return sum / system.n_rows;
}

/// `count` rows that stand for all: the same share of each length. In their order, so that centres come
/// first.
std::vector<int> chosen_rows(const ExportedSystem& system, int count) {
  std::vector<int> lengths(system.n_rows);
  for (int i = 0; i < system.n_rows; ++i) lengths[i] = length_of(system, i);
  std::vector<int> order(system.n_rows), rows(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return lengths[a] < lengths[b]; });
  for (int r = 0; r < count; ++r) rows[r] = order[(2 * r + 1) * std::int64_t{system.n_rows} / (2 * count)];
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Atoms of a sample, numbered as they are met.
class Sample {
 public:
  explicit Sample(const ExportedSystem& all) : all_(all), number_(all.n_atoms(), -1) {}

  std::int64_t number_of(std::int64_t atom) {
    if (number_[atom] < 0) {
      number_[atom] = part.n_atoms();
      atoms_.push_back(atom);
      add(atom);
    }
    return number_[atom];
  }
  /// One more atom, where another one is.
  void add(std::int64_t atom) {
    part.type.push_back(all_.type[atom]);
    for (int k = 0; k < 3; ++k) part.position.push_back(all_.position[3 * atom + k]);
  }
  void set_owners() {
    for (std::size_t a = 0; a < part.type.size(); ++a) {
      const std::int64_t owner = a < atoms_.size() ? number_[all_.owner[atoms_[a]]] : -1;
      part.owner.push_back(owner >= 0 && owner < part.n_centres ? owner : std::int64_t(a) % part.n_centres);
    }
  }
  [[nodiscard]] std::int64_t atom(std::size_t a) const { return atoms_[a]; }
  [[nodiscard]] std::size_t size() const { return atoms_.size(); }

  ExportedSystem part;

 private:
  const ExportedSystem& all_;
  std::vector<std::int64_t> number_, atoms_;
};

}  // namespace

ExportedSystem sample_of(const ExportedSystem& system, int n_rows, int n_idle) {
  QUINTET_ASSERT(n_rows <= system.n_rows, "{} rows of {}", n_rows, system.n_rows);
  Sample sample(system);
  ExportedSystem& part = sample.part;
  const auto rows = chosen_rows(system, n_rows);
  for (const int row : rows) (void)sample.number_of(row);
  part.n_rows = n_rows;
  part.n_centres =
      static_cast<int>(std::lower_bound(rows.begin(), rows.end(), system.n_centres) - rows.begin());
  part.width = system.width;
  // One of each type next: a model may want a row of each.
  std::vector<bool> met(1 + *std::max_element(system.type.begin(), system.type.end()), false);
  for (std::int64_t a = 0; a < system.n_atoms(); ++a)
    if (!met[system.type[a]]) {
      met[system.type[a]] = true;
      (void)sample.number_of(a);
    }
  for (const int row : rows)
    for (int c = 0; c < system.width; ++c) {
      const std::int64_t neighbour = system.neighbour[std::size_t(row) * system.width + c];
      part.neighbour.push_back(neighbour < 0 ? -1 : sample.number_of(neighbour));
    }
  const std::size_t n = sample.size();
  for (int i = 0; i < n_idle; ++i) sample.add(sample.atom(i % n));
  if (!system.owner.empty()) sample.set_owners();
  return part;
}

EvaluationBytes::EvaluationBytes(ExportedModel& model, const ExportedSystem& system)
    : neighbours_(mean_length(system)) {
  const auto few = sample_of(system, most_sampled / 2, 0), many = sample_of(system, most_sampled, 0);
  const auto idle = sample_of(system, most_sampled / 2, few.n_atoms());
  const double bytes = model.bytes_of(few);
  by_atom_ = (model.bytes_of(idle) - bytes) / few.n_atoms();
  by_row_ = (model.bytes_of(many) - bytes - by_atom_ * (many.n_atoms() - few.n_atoms())) /
            (many.n_rows - few.n_rows);
  fixed_ = bytes - by_row_ * few.n_rows - by_atom_ * few.n_atoms();
}

bool EvaluationBytes::holds_for(const ExportedSystem& system) const {
  constexpr double tolerance = 0.05;
  return std::abs(mean_length(system) - neighbours_) <= tolerance * neighbours_;
}

double EvaluationBytes::of(const ExportedSystem& system) const {
  return fixed_ + by_row_ * system.n_rows + by_atom_ * system.n_atoms();
}

}  // namespace quintet::potential
