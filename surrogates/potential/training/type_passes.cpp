#include <utility>

#include "io/hdf5/file.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/potential/training/kernel_passes.hpp"

namespace quintet::potential {

namespace {

Model without_readers(Model model) {
  model.readers.reset();
  return model;
}

/// Passes of a model whose networks read types (dpa1): through the networks of numbers alone that are left of
/// them for these types, and back.
///
/// All of them share the readers' weights, so that gradients of theirs are added up; what a network reads of
/// types is part of a bias, whose gradient gives that of the embeddings of types and of the weights there.
template <class Real>
class TypePasses final : public Passes<Real> {
 public:
  TypePasses(const Model& start, const ParameterLayout& places, SelRule rule)
      : model_(start),
        places_(places),
        given_(without_readers(start)),
        passes_(without_readers(start), given_, rule),
        numbers_(given_.size),
        gradient_(given_.size, Real(0)) {}

  void cover(double closest) override { passes_.cover(closest); }
  void refresh(std::span<const TrainingFrame* const> frames, const Real* parameters, bool changed) override {
    if (changed) {
      const std::vector<double> values(parameters, parameters + places_.size);
      set_parameters(model_, places_, values.data());
      const auto given = parameters_of(model_, given_);
      std::copy(given.begin(), given.end(), numbers_.begin());
    }
    passes_.refresh(frames, numbers_.data(), changed);
  }
  [[nodiscard]] std::size_t frames_at_once(std::span<const TrainingFrame* const> frames) const override {
    return passes_.frames_at_once(frames);
  }
  void predict(std::span<const TrainingFrame* const> frames, Sharer sharer, std::span<Prediction> predictions,
               bool is_differentiated) override {
    passes_.predict(frames, sharer, predictions, is_differentiated);
  }
  void differentiate(std::span<const TrainingFrame* const> frames, std::span<const Adjoint> adjoints,
                     Real* /*gradient*/) override {
    passes_.differentiate(frames, adjoints, gradient_.data());
  }
  void collect(Real* gradient) override {
    passes_.collect(gradient_.data());
    add_gradient_of_readers<Real>(model_, places_, given_, gradient_.data(), gradient);
    std::fill(gradient_.begin(), gradient_.end(), Real(0));
  }
  [[nodiscard]] int take_overflowing() override { return passes_.take_overflowing(); }
  void save(hdf5::Group& group) const override { passes_.save(group); }
  void load(hdf5::Group& group, const Model& now) override { passes_.load(group, without_readers(now)); }

 private:
  Model model_;             ///< with the numbers of now
  ParameterLayout places_;  ///< of what is trained
  ParameterLayout given_;   ///< of the networks that are evaluated
  KernelPasses<Real> passes_;
  AlignedVector<Real> numbers_, gradient_;  ///< of these
};

}  // namespace

template <class Real>
std::unique_ptr<Passes<Real>> make_kernel_passes(const Model& start, const ParameterLayout& places,
                                                 SelRule rule) {
  if (start.readers) return std::make_unique<TypePasses<Real>>(start, places, rule);
  return std::make_unique<KernelPasses<Real>>(start, places, rule);
}

template std::unique_ptr<Passes<float>> make_kernel_passes(const Model&, const ParameterLayout&, SelRule);
template std::unique_ptr<Passes<double>> make_kernel_passes(const Model&, const ParameterLayout&, SelRule);

}  // namespace quintet::potential
