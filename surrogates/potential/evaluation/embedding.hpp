#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "surrogates/networks/chain.hpp"
#include "surrogates/potential/model/batch.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// T_am = 1/n_slots sum_j R_ja G_m(s_j): the embedding of the environment, and its derivative. Of distances
/// alone (se_e2_r) R_j is (1, 0, 0, 0), and the factor 1/(5 n_slots).
///
/// Empty slots contribute G(e_0) e with e = -mean/deviation, a constant per network, added n_empty times; of
/// distances alone G(e_0). Of triplets (se_e3) T_0m is a sum over pairs of neighbours: triplet_embedding.hpp.
template <class Real>
class Embedding {
 public:
  virtual ~Embedding() = default;
  /// Room for one worker's batches.
  struct Scratch {
    AlignedVector<Real> moments;       ///< [n_types, intervals, order, 4]
    std::vector<int> occupied, count;  ///< intervals with neighbours by type, and their number
    std::vector<char> marked;
    AlignedVector<Real> local;         ///< [rows] place within the interval
    std::vector<int> interval;         ///< [rows]
    AlignedVector<Real> value, slope;  ///< [rows, stride] G and G' (pointwise evaluation)
    AlignedVector<Real> input;         ///< [2 rows] s and its tangent 1 (pointwise evaluation)
    AlignedVector<Real> gated;         ///< [4, stride] T or dE/dT of one type of neighbours
    AlignedVector<Real> ones;          ///< [rows, 4] the R of se_e2_r, as a pack is read of each
    networks::Tape<Real> tape;
    /// Of triplets (se_e3): the neighbours of one atom, those of a type one after the other.
    struct Directions {
      AlignedVector<Real> x, y, z, count;  ///< [rows] R_1, R_2, R_3, and how many slots have this row
      AlignedVector<Real> gx, gy, gz;      ///< [rows] dE/dR
      AlignedVector<Real> theta;           ///< of one with others
      std::vector<int> first;              ///< [n_types + 1]
    } directions;
    /// Some pairs of its neighbours whose network is run.
    struct Pairs {
      std::vector<int> j, k;              ///< rows of the two
      AlignedVector<Real> theta, weight;  ///< R_j . R_k, and how often it is counted
      void clear() {
        for (auto* rows : {&j, &k}) rows->clear();
        for (auto* numbers : {&theta, &weight}) numbers->clear();
      }
    } pairs;
  };
  /// Fill batch.t from batch.row.
  virtual void forward(Batch<Real>& batch, Scratch& scratch) const = 0;
  /// For atom b fill its rows of batch.gradient (dE/dR) from batch.dt (dE/dT), after forward() of the same
  /// batch.
  virtual void backward(Batch<Real>& batch, int b, Scratch& scratch) const = 0;
  /// One line for the log: how G is evaluated and with what error.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Data of the model for all embeddings: sizes and the constant rows of empty slots.
template <class Real>
struct EmptySlots {
  /// @param use_tables G is that of a compressed file's tables, as neighbours at the cutoff have it
  explicit EmptySlots(const DescriptorModel& model, bool use_tables = false);
  int n_types = 0;
  bool is_radial = false;                  ///< se_e2_r
  Real inverse_slots = 0;                  ///< 1/sum(sel), of se_e2_r a fifth of it
  std::vector<std::array<Real, 4>> row;    ///< [centre] e, of se_e2_r (1, 0, 0, 0)
  std::vector<AlignedVector<Real>> value;  ///< [centre * n_types + neighbour][stride] G(e_0)
};

/// How G is evaluated.
enum class Compression {
  automatic,  ///< our own piecewise polynomials with moments, if they reach the precision, else the networks
  off,        ///< the networks themselves
  file,       ///< the quintic table of a compressed model
};

struct SpectralLayout;
struct TripletLayout;
/// How polynomials stand for a model's networks; none where something else was asked for or is better.
/// @param pack the order is a multiple of it
[[nodiscard]] std::optional<SpectralLayout> spectral_layout(const DescriptorModel& model,
                                                            Compression compression, int pack, bool single);
/// The same of triplets (se_e3), down to neighbours at closest_distance: who asks has no networks to run.
[[nodiscard]] std::optional<TripletLayout> triplet_layout(const DescriptorModel& model,
                                                          Compression compression, int pack, bool single);

template <class Real>
[[nodiscard]] std::unique_ptr<Embedding<Real>> make_embedding(const DescriptorModel& model,
                                                              Compression compression);

}  // namespace quintet::potential
