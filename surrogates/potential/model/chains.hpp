#pragma once

#include <optional>
#include <string>
#include <vector>

#include "surrogates/networks/chain.hpp"
#include "surrogates/potential/model/descriptor.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/model/parameters.hpp"

/// A model's networks as chains of named layers.
namespace quintet::potential {

/// G(s): rows of n_out numbers from one. Without weights until refresh().
/// @param input what it is called in tables
template <class Real>
[[nodiscard]] networks::Chain<Real> embedding_chain(const Network& network,
                                                    const std::vector<LayerPlace>& places,
                                                    const std::string& input = "s");
/// With the network's own weights.
template <class Real>
[[nodiscard]] networks::Chain<Real> embedding_chain(const Network& network);

/// E(D): energies (eV, without biases) of the descriptor's kept entries; the network's twins are tied. Throws
/// InputError unless the network ends with a linear layer of one output after a hidden one.
template <class Real>
[[nodiscard]] networks::Chain<Real> fitting_chain(const Network& network,
                                                  const std::vector<LayerPlace>& places,
                                                  const Descriptor& descriptor);
template <class Real>
[[nodiscard]] networks::Chain<Real> fitting_chain(const Network& network, const Descriptor& descriptor);

/// The numbers that a model's fitting networks read, each distinct one once: those of its descriptors, one
/// descriptor after the other, then the parameters of the atom.
struct FittingInputs {
  FittingInputs(const Model& model, int pack);
  int size = 0;
  int n_parameters = 0;  ///< of them, the last ones
  std::vector<Descriptor> descriptors;
  std::vector<int> offset;  ///< of each descriptor among the numbers
  std::vector<int> tied;    ///< place of each of a network's inputs among them
  /// Room of one atom's numbers, padded so that rows may be written in whole packs.
  [[nodiscard]] int stride() const { return padded(size, pack_) + pack_; }
  /// Write an atom's parameters behind its descriptors, which are written in whole packs before. @param read
  /// of the model
  template <class Real>
  void put_parameters(const Model::ReadParameters& read, const double* values, Real* numbers) const {
    for (int k = 0; k < n_parameters; ++k)
      numbers[size - n_parameters + k] =
          static_cast<Real>((values[k] - read.mean[k]) * read.inverse_deviation[k]);
  }

 private:
  int pack_;
};
template <class Real>
[[nodiscard]] networks::Chain<Real> fitting_chain(const Network& network, const FittingInputs& inputs);
template <class Real>
[[nodiscard]] networks::Chain<Real> fitting_chain(const Network& network,
                                                  const std::vector<LayerPlace>& places,
                                                  const FittingInputs& inputs);

/// A network of a model, for people, and what its rows are.
struct NetworkDescription {
  enum class Kind { embedding, fitting };
  Kind kind;
  std::vector<int> neighbours;  ///< embedding: of this type, of pairs of these two, or of all types (empty)
  std::optional<int> centre;    ///< type of the atoms; none: all
  std::string title;
  networks::ChainDescription chain;
};
/// All networks of a model in its own precision, embedding first.
/// @param training what a training step keeps, else an evaluation
[[nodiscard]] std::vector<NetworkDescription> describe_networks(const Model& model, bool training);

}  // namespace quintet::potential
