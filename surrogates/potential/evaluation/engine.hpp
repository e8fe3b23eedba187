#pragma once

#include <vector>

#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

/// Engine that DeepPotential runs, in one precision or the other.
struct DeepPotential::Engine {
  virtual ~Engine() = default;
  virtual Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                             const ByAtom& by_atom) = 0;
  virtual std::string description() const = 0;
  /// Throws InputError unless the atoms have the parameters that the model reads.
  void require_parameters(const Atoms& atoms) const;
  virtual bool rounds() const = 0;
  virtual std::vector<double> sum_descriptors(const Exec& exec, const Atoms& atoms,
                                              const NeighbourList& list) = 0;
  virtual void round_about(std::span<const double> descriptors) = 0;
  /// DeepPotential::finds_neighbours_of().
  virtual bool finds_neighbours_of(const Engine& other) const = 0;
  /// DeepPotential::compute_together(), of engines of which each finds_neighbours_of() this first one.
  virtual std::vector<Energetics> compute_together(std::span<Engine* const> engines, const Exec& exec,
                                                   const Atoms& atoms, const NeighbourList& list,
                                                   std::span<const Vectors> forces) = 0;
  Model model;
};

template <class Real>
class TypedEngine final : public DeepPotential::Engine {
 public:
  TypedEngine(Model model_in, const DeepPotentialOptions& options);
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;
  std::string description() const override;
  bool rounds() const override { return rounds_; }
  std::vector<double> sum_descriptors(const Exec& exec, const Atoms& atoms,
                                      const NeighbourList& list) override;
  void round_about(std::span<const double> descriptors) override;
  bool finds_neighbours_of(const Engine& other) const override;
  std::vector<Energetics> compute_together(std::span<Engine* const> engines, const Exec& exec,
                                           const Atoms& atoms, const NeighbourList& list,
                                           std::span<const Vectors> forces) override;

  /// Atoms a batch: whole register tiles. Most is what shares one passage of the fitting network's weights
  /// through the caches; where several workers would have few batches each, the least that is worth a
  /// passage.
  static constexpr int least_batch_atoms = 32, most_batch_atoms = 64;

 private:
  /// A descriptor of the model; a hybrid has several.
  struct Part {
    Environment environment;
    std::unique_ptr<Embedding<Real>> embedding;
  };
  /// What a thread needs of one.
  struct Work {
    Batch<Real> batch;
    Environment::Scratch environment;
    typename Embedding<Real>::Scratch embedding;
    AlignedVector<Real> unfolded;
  };
  /// All that one thread needs; made once.
  struct Worker {
    std::vector<Work> parts;
    networks::Tape<Real> fitting;
    AlignedVector<Real> descriptors;      ///< [atoms, numbers that the fitting networks read]
    std::vector<double> descriptor_sums;  ///< [n_types, 1 + entries]
    Energetics total;
    Vectors force;   ///< of worker 0 the atoms' own
    Tensors virial;  ///< by atom, of worker 0 the caller's; empty: not asked for
    std::string error;
  };
  struct BatchRange {
    int type, begin, end;  ///< atoms order_[begin, end)
  };
  void plan(const Atoms& atoms, int n_workers);
  void reserve(Worker& worker) const;
  void prepare(const Vectors& force, const Tensors& virial, int n_workers, int n_all);
  template <class Begin, class Run>
  void run_batches(const Exec& exec, Begin&& begin, Run&& run);
  void find_neighbours(const BatchRange& range, const Atoms& atoms, const NeighbourList& list,
                       Worker& worker) const;
  void take_neighbours(const TypedEngine& owner, Worker& from, Worker& worker) const;
  void describe_batch(const Atoms& atoms, Worker& worker) const;
  void add_parameters(const Atoms& atoms, Worker& worker) const;
  void run_batch(int type, const Atoms& atoms, const Array<double>& atom_energy, Worker& worker) const;
  [[nodiscard]] Energetics sum_of_workers(const Atoms& atoms, const Vectors& force, const ByAtom& by_atom);
  void go_back(int part, int b, Worker& worker) const;
  static void add_atom_virials(const Batch<Real>& batch, int b, const std::array<double, 4>& deviation,
                               const Tensors& virial);

  FittingInputs inputs_;
  std::vector<Part> parts_;
  std::vector<networks::Chain<Real>> fitting_;
  bool rounds_;
  std::vector<int> order_;  ///< local atoms by type
  std::vector<BatchRange> batches_;
  std::vector<Worker> workers_;
};

}  // namespace quintet::potential
