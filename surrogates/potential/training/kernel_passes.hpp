#pragma once

#include <memory>
#include <vector>

#include "io/hdf5/file.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/chains.hpp"
#include "surrogates/potential/training/embedding/trained_embedding.hpp"
#include "surrogates/potential/training/passes.hpp"

namespace quintet::potential {

/// A training's steps by our kernels, on a core: a frame at a time, atoms of one type after the other.
template <class Real>
class KernelPasses final : public Passes<Real> {
 public:
  KernelPasses(const Model& start, const ParameterLayout& places, SelRule rule);
  void cover(double closest) override;
  void refresh(std::span<const TrainingFrame* const> frames, const Real* parameters, bool changed) override;
  [[nodiscard]] std::size_t frames_at_once(std::span<const TrainingFrame* const> /*frames*/) const override {
    return 1;
  }
  void predict(std::span<const TrainingFrame* const> frames, Sharer sharer, std::span<Prediction> predictions,
               bool is_differentiated) override;
  void differentiate(std::span<const TrainingFrame* const> frames, std::span<const Adjoint> adjoints,
                     Real* gradient) override;
  void collect(Real* gradient) override;
  [[nodiscard]] int take_overflowing() override;
  void save(hdf5::Group& group) const override;
  void load(hdf5::Group& group, const Model& now) override;

 private:
  /// Atoms that share a batch of neighbours.
  static constexpr int batch_atoms = 32;
  /// The atoms of one type of the frame at hand, and all that the passes leave for each other.
  struct Group {
    std::vector<int> atoms;
    std::vector<Batch<Real>> batches;
    std::vector<typename TrainedEmbedding<Real>::Record> records;
    AlignedVector<Real> t_bar, t_dot, t_dot_bar;     ///< [n_atoms, 4, stride]; t_dot_bar = dE/dT
    AlignedVector<Real> d, d_dot, d_bar, d_dot_bar;  ///< [n_atoms, d_stride]; d_dot_bar = dE/dD
    networks::Tape<Real> tape;
  };

  void choose_intervals(const Real* parameters);
  void gather_arrays() const;
  void fill_batches(const TrainingFrame& frame, Group& group);
  void predict(const TrainingFrame& frame, int type, Group& group, Prediction& prediction);
  void tangent(const TrainingFrame& frame, const Adjoint& adjoint, const Batch<Real>& batch);
  void differentiate(const TrainingFrame& frame, const Adjoint& adjoint, int type, Group& group,
                     Real* gradient);

  Model start_;
  ParameterLayout places_;
  bool warned_ = false;
  double allowed_ = 0;    ///< unresolved part of G from which on the intervals are chosen anew
  double covered_ = 1.0;  ///< closest distance of neighbours that the intervals reach (angstrom)
  Environment environment_;
  Environment::Scratch environment_scratch_;
  FittingInputs inputs_;
  std::unique_ptr<TrainedEmbedding<Real>> embedding_;
  std::vector<networks::Chain<Real>> fitting_;
  std::vector<Group> groups_;
  AlignedVector<Real> row_dot_, work_;
  bool grown_ = false;  ///< arrays are not in large pages yet
};

}  // namespace quintet::potential
