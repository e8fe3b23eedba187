#include "physics/electronic/density/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/block_panel.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/sparse_product.hpp"

namespace quintet::electronic {

namespace {

using std::numbers::pi;
using Panel = AlignedVector<double>;

/// T_k((A - centre)/half_width) X for k = 0, 1, 2 ...
class Recurrence {
 public:
  Recurrence(SparseProduct<double>& a, double centre, double half_width, Panel x, int f)
      : a_(a), centre_(centre), half_width_(half_width), f_(f), current_(std::move(x)) {}

  [[nodiscard]] const Panel& current() const { return current_; }
  void step() {
    a_(current_, product_, f_);
    const bool first = previous_.empty();
    if (first) previous_.assign(current_.size(), 0.0);
    const double scale = (first ? 1 : 2) / half_width_;
    for (std::size_t i = 0; i < current_.size(); ++i)
      previous_[i] = scale * (product_[i] - centre_ * current_[i]) - previous_[i];
    std::swap(previous_, current_);
  }

 private:
  SparseProduct<double>& a_;
  double centre_, half_width_;
  int f_;
  Panel current_, previous_, product_;
};

/// sum_i x_ic y_ic of each column c, over this rank's part, added to `sums`; one of several copies adds.
void add_column_products(const PanelPart& part, const Panel& x, const Panel& y, std::span<double> sums) {
  if (!part.counts) return;
  const int f = sums.size();
  const std::size_t width = part.n_columns(f);
  double* const to = sums.data() + part.first_column(f);
  for (std::size_t i = 0; i < x.size(); i += width)
    for (std::size_t c = 0; c < width; ++c) to[c] += x[i + c] * y[i + c];
}

SparseProduct<double> product_with(const BlockMatrix& a, const std::optional<SpmmLayout>& layout) {
  return {a.comm, sparse_rows(a), layout.value_or(layout_1d(a.comm.size(), true))};
}

void sum_over_ranks(const Comm& comm, std::vector<double>& sums) {
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
}

/// Mean of independent numbers and the standard error of the mean.
Estimate mean_of(std::span<const double> numbers) {
  const double n = numbers.size();
  double mean = 0, square = 0;
  for (const double x : numbers) mean += x / n;
  for (const double x : numbers) square += (x - mean) * (x - mean);
  return {mean, std::sqrt(square / (n * (n - 1)))};
}

void check_vectors(int vectors) {
  QUINTET_CHECK(vectors >= 2, "{} random vectors: expected 2 or more, one has no standard error", vectors);
}

/// Where the series has to be accurate; none if HOMO and LUMO are not apart.
std::vector<Band> bands_of(const SpectrumBounds& bounds, const Occupation& f, const LevelsAtMu& levels) {
  if (f.temperature > 0) return {{bounds.lower, bounds.upper}};
  constexpr double inside = 0.02;  // of the gap: HOMO and LUMO by Lanczos lie a little too far out
  const double gap = levels.lumo - levels.lumo_error - levels.homo - levels.homo_error;
  if (!(gap > 0)) return {};
  const double below = levels.homo + levels.homo_error + inside * gap;
  const double above = levels.lumo - levels.lumo_error - inside * gap;
  if (!(below > bounds.lower && above < bounds.upper)) return {};
  return {{bounds.lower, below}, {above, bounds.upper}};
}

/// Occupied below the middle of the gap, so that no band is cut wherever in the gap mu is.
std::function<double(double)> function_of(const Occupation& f, const LevelsAtMu& levels) {
  if (f.temperature > 0) return f;
  const double middle = 0.5 * (levels.homo + levels.lumo);
  return [middle](double x) { return x < middle ? 1.0 : 0.0; };
}

/// Y = sum_k c_k T_k X.
Panel apply(const ChebyshevSeries& series, SparseProduct<double>& a, const Panel& x, int f, const Comm& comm,
            const Interrupt& interrupt) {
  const auto& c = series.coefficients.front();
  Recurrence t(a, series.centre, series.half_width, x, f);
  Panel y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = c[0] * x[i];
  for (std::size_t k = 1; k < c.size(); ++k) {
    if (k % 16 == 0) give_up_if_asked(comm, interrupt);
    t.step();
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += c[k] * t.current()[i];
  }
  return y;
}

/// A with symmetric diagonal blocks: products that drop what is small (orthogonalise()) mirror the others
/// alone, and f(A) of what is left would be no projector by far more than the series' error.
BlockMatrix symmetric_blocks(const BlockMatrix& a) {
  BlockMatrix result = a;
  for (int c = 0; c < a.n_columns(); ++c)
    for (auto p = a.column_begin[c]; p < a.column_begin[c + 1]; ++p) {
      if (a.row[p] != a.first + c) continue;
      const int n = a.blocking->size(a.row[p]);
      double* const block = result.value.data() + a.offset[p];
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < j; ++i)
          block[i + j * n] = block[j + i * n] = 0.5 * (block[i + j * n] + block[j + i * n]);
    }
  return result;
}

ProbedError refused(std::string why) {
  ProbedError result;
  result.refused = std::move(why);
  return result;
}

}  // namespace

ProbedError probe_error(const BlockMatrix& p, const BlockMatrix& a, const Occupation& f,
                        const LevelsAtMu& levels, const ProbeOptions& options) {
  check_vectors(options.vectors);
  const auto bands = bands_of(spectrum_bounds(a), f, levels);
  if (bands.empty())
    return refused(fmt::format(
        "HOMO {:.6g} and LUMO {:.6g} hartree are not apart by more than their errors, {:.1g} and {:.1g}: no "
        "series is a step between them",
        levels.homo, levels.lumo, levels.homo_error, levels.lumo_error));
  const std::vector<std::function<double(double)>> functions{function_of(f, levels)};
  ChebyshevSeries series;
  try {
    series = fit(bands, functions, options.error, options.most_degree);
  } catch (const NumericalError&) {
    return refused(
        f.temperature > 0
            ? fmt::format("no Chebyshev series of degree {} is Fermi's function at k_B T = {:.3g} hartree to "
                          "{:.0e}: a higher temperature or a larger check.error needs less",
                          options.most_degree, f.temperature, options.error)
            : fmt::format(
                  "no Chebyshev series of degree {} is a step in the gap of {:.3g} hartree to {:.0e}: "
                  "a temperature or a larger check.error needs less",
                  options.most_degree, levels.lumo - levels.homo, options.error));
  }
  const double n_rows = a.blocking->n_rows();
  // Rounding of the recurrence stays below some 1e-15 a step.
  const double accuracy = series.error + 1e-15 * series.degree();
  const BlockMatrix symmetric = symmetric_blocks(a);
  SparseProduct<double> product = product_with(symmetric, options.layout),
                        with_p = product_with(p, options.layout);
  const PanelPart& part = product.part();
  std::vector<double> squares;
  double most_in_gap = 0;
  for (int first = 0; first < options.vectors; first += probe_columns) {
    const int n = std::min(probe_columns, options.vectors - first);
    const Panel x = random_sign_panel(part, options.seed, first, n);
    Panel y = apply(series, product, x, n, a.comm, options.interrupt), px;
    with_p(x, px, n);
    std::vector<double> sums(std::int64_t{3} * n, 0.0);
    const std::span<double> of_error(sums.data(), n), once(sums.data() + n, n), twice(sums.data() + 2 * n, n);
    add_column_products(part, x, y, once);
    add_column_products(part, y, y, twice);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] -= px[i];
    add_column_products(part, y, y, of_error);
    sum_over_ranks(a.comm, sums);
    squares.insert(squares.end(), of_error.begin(), of_error.end());
    for (int c = 0; c < n; ++c) most_in_gap = std::max(most_in_gap, std::abs(once[c] - twice[c]));
  }
  // |f - f f| of the series is at most its error but for its square on all levels, and |x|^2 = n.
  if (f.temperature == 0 && most_in_gap > 2 * n_rows * accuracy)
    return refused(
        fmt::format("a level lies between HOMO {:.6g} and LUMO {:.6g} hartree, as they were found: x^T (f - "
                    "f f) x is {:.1e} "
                    "where {:.1e} is the most that the series explains",
                    levels.homo, levels.lumo, most_in_gap, 2 * n_rows * accuracy));
  const Estimate square = mean_of(squares);
  ProbedError result;
  result.norm.value = std::sqrt(square.value);
  result.norm.deviation = square.value > 0 ? 0.5 * square.deviation / result.norm.value : 0;
  result.vectors = options.vectors;
  result.degree = series.degree();
  result.series_error = accuracy * std::sqrt(n_rows);
  return result;
}

SpectralDensity::SpectralDensity(double centre, double half_width, int n_vectors, std::vector<double> moments)
    : centre_(centre),
      half_width_(half_width),
      n_vectors_(n_vectors),
      n_moments_(static_cast<int>(moments.size()) / n_vectors),
      moments_(std::move(moments)) {
  std::vector<double> mean(n_moments_, 0.0);
  for (int v = 0; v < n_vectors_; ++v)
    for (int k = 0; k < n_moments_; ++k) mean[k] += moments_[std::int64_t{v} * n_moments_ + k] / n_vectors_;
  const int n_points = 2 * n_moments_;
  for (int i = 0; i < n_points; ++i) {
    const double angle = pi * (n_points - i - 0.5) / n_points, t = std::cos(angle);
    double sum = mean[0];
    for (int k = 1; k < n_moments_; ++k) sum += 2 * mean[k] * std::cos(k * angle);
    energies_.push_back(centre_ + half_width_ * t);
    weights_.push_back(half_width_ * std::sin(angle) * pi / n_points);
    density_.push_back(sum / (pi * half_width_ * std::sin(angle)));
  }
}

double SpectralDensity::resolution() const { return pi * half_width_ / n_moments_; }

Estimate SpectralDensity::count(double mu, double temperature) const {
  std::vector<double> c(n_moments_, 0.0);  // of sum_k c_k m_k
  if (temperature == 0) {
    const double angle = std::acos(std::clamp((mu - centre_) / half_width_, -1.0, 1.0));
    c[0] = 1 - angle / pi;
    for (int k = 1; k < n_moments_; ++k) c[k] = -2 * std::sin(k * angle) / (k * pi);
  } else {  // Gauss' quadrature at the points of density_
    const Occupation f{mu, temperature, 0};
    const double n_points = energies_.size();
    for (const double x : energies_) {
      const double t = (x - centre_) / half_width_, value = f(x) / n_points;
      double before = 1, now = t;
      c[0] += value;
      for (int k = 1; k < n_moments_; ++k) {
        c[k] += 2 * value * now;
        before = std::exchange(now, 2 * t * now - before);
      }
    }
  }
  std::vector<double> counts(n_vectors_, 0.0);
  for (int v = 0; v < n_vectors_; ++v)
    for (int k = 0; k < n_moments_; ++k) counts[v] += c[k] * moments_[std::int64_t{v} * n_moments_ + k];
  return mean_of(counts);
}

SpectralDensity spectral_density(const BlockMatrix& a, const SpectrumOptions& options) {
  check_vectors(options.vectors);
  QUINTET_CHECK(options.resolution > 0, "a resolution of {} hartree: expected above 0", options.resolution);
  const SpectrumBounds bounds = spectrum_bounds(a);
  const double centre = 0.5 * (bounds.lower + bounds.upper);
  const double half_width = std::max(0.5 * (bounds.upper - bounds.lower), 1e-6);
  const double wanted = std::ceil(pi * half_width / options.resolution);
  QUINTET_CHECK(
      wanted <= options.most_moments,
      "a resolution of {:.3g} hartree of a spectrum {:.3g} hartree wide needs {:.0f} moments, of {} "
      "at most: take {:.2g} hartree or more",
      options.resolution, 2 * half_width, wanted, options.most_moments,
      pi * half_width / options.most_moments);
  const int n_moments = std::max<int>(8, wanted);
  const BlockMatrix symmetric = symmetric_blocks(a);
  SparseProduct<double> product = product_with(symmetric, options.layout);
  const PanelPart& part = product.part();
  std::vector<double> moments(std::int64_t{options.vectors} * n_moments, 0.0);
  for (int first = 0; first < options.vectors; first += probe_columns) {
    const int f = std::min(probe_columns, options.vectors - first);
    const Panel x = random_sign_panel(part, options.seed, first, f);
    Recurrence t(product, centre, half_width, x, f);
    // m_2k = 2 t_k . t_k - m_0 and m_2k+1 = 2 t_k+1 . t_k - m_1: two moments a product.
    std::vector<double> sums(std::int64_t{n_moments + 1} * f, 0.0);
    const auto of = [&](int k) { return std::span<double>(sums.data() + std::int64_t{k} * f, f); };
    for (int k = 0; 2 * k < n_moments; ++k) {
      if (k % 16 == 15) give_up_if_asked(a.comm, options.interrupt);
      add_column_products(part, t.current(), t.current(), of(2 * k));
      const Panel before = t.current();
      t.step();
      add_column_products(part, t.current(), before, of(2 * k + 1));
    }
    sum_over_ranks(a.comm, sums);
    for (int c = 0; c < f; ++c)
      for (int k = 0; k < n_moments; ++k) {
        const double q = pi / (n_moments + 1);
        const double jackson =
            ((n_moments - k + 1) * std::cos(k * q) + std::sin(k * q) / std::tan(q)) / (n_moments + 1);
        const double moment = k < 2 ? of(k)[c] : 2 * of(k)[c] - of(k % 2)[c];
        moments[std::int64_t{first + c} * n_moments + k] = jackson * moment;
      }
  }
  return {centre, half_width, options.vectors, std::move(moments)};
}

}  // namespace quintet::electronic
