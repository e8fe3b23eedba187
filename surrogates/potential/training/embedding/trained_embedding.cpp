#include "surrogates/potential/training/embedding/trained_embedding.hpp"

#include "io/log/error.hpp"
#include "surrogates/potential/training/embedding/trainable_embedding.hpp"
#include "surrogates/potential/training/embedding/trainable_triplets.hpp"

namespace quintet::potential {

template <class Real>
std::unique_ptr<TrainedEmbedding<Real>> trained_embedding(const Model& model, const ParameterLayout& places,
                                                          double tolerance, double closest) {
  if (model.kind == DescriptorKind::se_e3) {
    const auto layout = choose_triplet_layout(model, pack_width<Real>, tolerance, closest);
    const double largest = bound_of_theta(model, closest);
    QUINTET_CHECK(
        largest <= layout.end(),
        "se_e3: with neighbours at {:.3g} angstrom R_j.R_k reaches {:.2g}, a training takes {:.2g} at "
        "most: dstd of this model is too small for these data",
        closest, largest, layout.end());
    return std::make_unique<TrainableTriplets<Real>>(model, places, layout);
  }
  return std::make_unique<TrainableEmbedding<Real>>(
      model, places, choose_layout(model, pack_width<Real>, tolerance, closest));
}

template <class Real>
std::unique_ptr<TrainedEmbedding<Real>> restored_embedding(const Model& model, const ParameterLayout& places,
                                                           const std::vector<double>& v) {
  const bool has_triplets = model.kind == DescriptorKind::se_e3;
  const std::size_t expected = has_triplets ? 4 : 6;
  QUINTET_CHECK(v.size() == expected, "the checkpoint's embedding_intervals has {} numbers, not {}", v.size(),
                expected);
  const auto whole = [&](std::size_t i) { return static_cast<int>(v[i]); };
  if (has_triplets)
    return std::make_unique<TrainableTriplets<Real>>(model, places,
                                                     TripletLayout{whole(0), whole(1), whole(2), v[3]});
  return std::make_unique<TrainableEmbedding<Real>>(
      model, places, SpectralLayout{whole(0), v[1], v[2], whole(3), v[4], v[5]});
}

template std::unique_ptr<TrainedEmbedding<float>> trained_embedding(const Model&, const ParameterLayout&,
                                                                    double, double);
template std::unique_ptr<TrainedEmbedding<double>> trained_embedding(const Model&, const ParameterLayout&,
                                                                     double, double);
template std::unique_ptr<TrainedEmbedding<float>> restored_embedding(const Model&, const ParameterLayout&,
                                                                     const std::vector<double>&);
template std::unique_ptr<TrainedEmbedding<double>> restored_embedding(const Model&, const ParameterLayout&,
                                                                      const std::vector<double>&);

}  // namespace quintet::potential
