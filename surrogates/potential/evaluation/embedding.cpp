#include "surrogates/potential/evaluation/embedding.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/evaluation/gated_embedding.hpp"
#include "surrogates/potential/evaluation/pointwise_embedding.hpp"
#include "surrogates/potential/evaluation/radial_embedding.hpp"
#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_embedding.hpp"

namespace quintet::potential {

template <class Real>
EmptySlots<Real>::EmptySlots(const DescriptorModel& model, bool use_tables)
    : n_types(model.n_types()),
      is_radial(model.kind == DescriptorKind::se_e2_r),
      inverse_slots(static_cast<Real>((is_radial ? 0.2 : 1.0) / model.n_slots())) {
  const int stride = padded(model.n_channels(), pack_width<Real>);
  std::vector<double> g, dg;
  for (int centre = 0; centre < n_types; ++centre) {
    std::array<double, 4> e;
    for (int a = 0; a < 4; ++a) e[a] = -model.mean[centre][a] / model.deviation[centre][a];
    row.push_back(
        {static_cast<Real>(e[0]), static_cast<Real>(e[1]), static_cast<Real>(e[2]), static_cast<Real>(e[3])});
    if (is_radial) row.back() = {1, 0, 0, 0};
    for (int t = 0; t < n_types; ++t) {
      const int i = model.network_index(centre, t);
      evaluate_scalar(model.embedding[i], e[0], g, dg);
      if (use_tables && !model.tables[i].coefficients.empty())
        model.tables[i].evaluate(e[0], g.data(), dg.data());
      AlignedVector<Real> values(stride, Real(0));
      std::copy(g.begin(), g.end(), values.begin());
      value.push_back(std::move(values));
    }
  }
}

namespace {

constexpr double closest = 0.6;  // angstrom: below all bonds, and standard tables are fine from there on

/// Largest difference between a compressed file's tables and its own networks, of neighbours at `closest` or
/// further.
double table_difference(const DescriptorModel& model) {
  std::vector<double> g, dg, table(model.n_channels()), slope(model.n_channels());
  double worst = 0;
  const double theta = model.kind == DescriptorKind::se_e3 ? bound_of_theta(model, closest) : 0;
  for (int centre = 0; centre < model.n_types(); ++centre)
    for (int t = 0; t < model.n_types(); ++t) {
      const int i = model.network_index(centre, t);
      if (model.tables[i].coefficients.empty()) continue;
      const double lower = theta > 0 ? -theta : model.normalised_s(centre, model.rcut);
      const double upper = theta > 0 ? theta : model.normalised_s(centre, closest);
      for (int k = 0; k <= 60; ++k) {
        const double s = lower + (upper - lower) * (k + 0.37) / 61;
        evaluate_scalar(model.embedding[i], s, g, dg);
        model.tables[i].evaluate(s, table.data(), slope.data());
        for (int m = 0; m < model.n_channels(); ++m) worst = std::max(worst, std::abs(g[m] - table[m]));
      }
    }
  return worst;
}

/// How far fine tables are from their networks: by round-off, of a float32 file by that of its numbers; of
/// triplets by the usual stride of theta, 0.1.
double table_tolerance(const DescriptorModel& model) {
  const auto is_rounded = [](const QuinticTable& table) {
    return std::all_of(table.coefficients.begin(), table.coefficients.end(),
                       [](double a) { return static_cast<double>(static_cast<float>(a)) == a; });
  };
  const bool is_single = std::all_of(model.tables.begin(), model.tables.end(), is_rounded);
  if (is_single) return 2e-6;
  return model.kind == DescriptorKind::se_e3 ? 1e-9 : 1e-11;
}

/// A compressed model is its tables. Where they equal its networks we make better ones, of all but distances
/// alone (se_e2_r); where they are just coarse they are kept; where they are wrong (dp compress ignores the
/// time steps of resnet_dt) the networks are used.
bool tables_are_the_model(const DescriptorModel& model) {
  const double difference = table_difference(model);
  if (difference < table_tolerance(model)) return model.kind == DescriptorKind::se_e2_r;
  bool timesteps = false;
  for (const auto& network : model.embedding)
    for (const auto& layer : network.layers)
      for (double idt : layer.timestep) timesteps = timesteps || idt != 1.0;
  if (timesteps)
    log::warning(
        "the model's compression tables differ from its own networks by up to {:.2e}: dp compress ignores "
        "the time "
        "steps of resnet_dt. The networks are used; 'compress: file' uses the tables",
        difference);
  else
    log::warning(
        "the model's compression tables are coarse: they differ from its own networks by up to {:.2e}. The "
        "tables are "
        "used, as DeePMD-kit does; 'compress: off' uses the networks",
        difference);
  return !timesteps;
}

}  // namespace

namespace {
// Round-off of G in float64; in float32 the table must not be worse than the arithmetic.
double polynomial_tolerance(bool single) { return single ? 1e-7 : 2e-14; }

/// Those of triplets (TripletLayout); none if they do not reach the precision.
/// @param from (angstrom) the nearest neighbours that they reach
std::optional<TripletLayout> layout_of_triplets(const DescriptorModel& model, int pack, bool single,
                                                double from) {
  const double tolerance = 10 * polynomial_tolerance(single);
  const TripletLayout layout = choose_triplet_layout(model, pack, tolerance, from);
  if (layout.error <= tolerance) return layout;
  log::info("compress: auto keeps the networks: polynomials reach a relative error of {:.1e} only",
            layout.error);
  return {};
}

template <class Real>
std::unique_ptr<Embedding<Real>> make_triplets(const DescriptorModel& model, Compression compression) {
  std::optional<TripletLayout> layout;
  if (compression == Compression::automatic)
    layout = layout_of_triplets(model, pack_width<Real>, sizeof(Real) == 4, closest);
  return std::make_unique<TripletEmbedding<Real>>(model, layout, compression == Compression::file);
}

/// Polynomials that stand for the networks; none if they do not reach the precision.
std::optional<SpectralLayout> layout_of_networks(const DescriptorModel& model, int pack, bool single) {
  const double tolerance = polynomial_tolerance(single);
  const SpectralLayout layout = kept_layout(model, pack, tolerance);
  if (layout.error <= 10 * tolerance) return layout;
  log::info("compress: auto keeps the networks: polynomials reach a relative error of {:.1e} only",
            layout.error);
  return {};
}
}  // namespace

namespace {
/// Those of a compressed file, too, unless its tables are another model than its networks.
bool polynomials_may_stand(const DescriptorModel& model, Compression compression) {
  return compression == Compression::automatic &&
         (model.tables.empty() || table_difference(model) < table_tolerance(model) ||
          !tables_are_the_model(model));
}
}  // namespace

std::optional<SpectralLayout> spectral_layout(const DescriptorModel& model, Compression compression, int pack,
                                              bool single) {
  if (!polynomials_may_stand(model, compression)) return {};
  return layout_of_networks(model, pack, single);
}

std::optional<TripletLayout> triplet_layout(const DescriptorModel& model, Compression compression, int pack,
                                            bool single) {
  if (!polynomials_may_stand(model, compression)) return {};
  return layout_of_triplets(model, pack, single, closest_distance);
}

template <class Real>
std::unique_ptr<Embedding<Real>> make_embedding(const DescriptorModel& model, Compression compression) {
  QUINTET_CHECK(compression != Compression::file || !model.tables.empty(),
                "compress: file needs a compressed model (descriptor version 3); this one has no tables: use "
                "auto or off");
  if (compression == Compression::automatic && !model.tables.empty() && tables_are_the_model(model))
    compression = Compression::file;
  const bool use_tables = compression == Compression::file;
  if (model.kind == DescriptorKind::se_e3) return make_triplets<Real>(model, compression);
  if (model.kind == DescriptorKind::se_e2_r)
    return std::make_unique<RadialEmbedding<Real>>(model, use_tables);
  if (compression == Compression::automatic)
    if (const auto layout = layout_of_networks(model, pack_width<Real>, sizeof(Real) == 4)) {
      if (!model.gates.empty()) return std::make_unique<GatedEmbedding<Real>>(model, *layout);
      return std::make_unique<SpectralEmbedding<Real>>(model, *layout);
    }
  return std::make_unique<PointwiseEmbedding<Real>>(model, use_tables);
}

template struct EmptySlots<float>;
template struct EmptySlots<double>;
template std::unique_ptr<Embedding<float>> make_embedding<float>(const DescriptorModel&, Compression);
template std::unique_ptr<Embedding<double>> make_embedding<double>(const DescriptorModel&, Compression);

}  // namespace quintet::potential
