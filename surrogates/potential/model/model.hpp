#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "physics/kernels/activation.hpp"

/// A Deep Potential model (Zhang et al. 2018, NeurIPS 31) as plain host data in double precision.
namespace quintet::potential {

/// y = phi(x W + b) * idt (+ skip): one dense layer.
struct DenseLayer {
  /// Skip added to the activated output: nothing, x (n_out = n_in) or [x, x] (n_out = 2 n_in).
  enum class Skip { none, identity, doubled };
  int n_in = 0, n_out = 0;
  std::vector<double> weight;    ///< [n_in, n_out]
  std::vector<double> bias;      ///< [n_out] (zeros if the file has none)
  std::vector<double> timestep;  ///< idt [n_out], ones if the file has none
  Activation activation = Activation::tanh;
  Skip skip = Skip::none;
};

struct Network {
  std::vector<DenseLayer> layers;
  [[nodiscard]] int n_in() const { return layers.front().n_in; }
  [[nodiscard]] int n_out() const { return layers.back().n_out; }
};

/// Outputs and their derivatives of a network of one input at x: g[n_out], dg[n_out] = d g / d x. Plain, for
/// set-up and tests.
void evaluate_scalar(const Network& network, double x, std::vector<double>& g, std::vector<double>& dg);

/// A piecewise quintic of an embedding network as DeePMD-kit tabulates it (compressed models).
///
/// Rows of width stride[1] on [minimum, lower), of stride[0] on [lower, upper), of stride[1] on [upper,
/// maximum); row r, channel m holds a0..a5 of sum_k a_k x^k, x = s - left end. Outside: linear with the slope
/// of the end point. Tables of s begin at lower; of theta (se_e3) at -maximum.
struct QuinticTable {
  double lower = 0, upper = 0, maximum = 0;
  std::array<double, 2> stride{0.01, 0.1};
  int n_channels = 0;
  std::vector<double> coefficients;  ///< [rows, n_channels, 6]; empty: of a network that no pair uses
  bool two_sided = false;            ///< minimum = -maximum

  [[nodiscard]] double minimum() const { return two_sided ? -maximum : lower; }
  void evaluate(double s, double* g,
                double* dg) const;  ///< G and G' [n_channels]. Plain, for set-up and tests
};

/// Where the rows of a quintic table lie.
class QuinticRanges {
 public:
  explicit QuinticRanges(const QuinticTable& table);
  /// Row of an s, the way there from the row's left end, and how far beyond the table's ends it is.
  struct Place {
    std::int64_t row;
    double x, beyond;
  };
  [[nodiscard]] Place place(double s) const;
  [[nodiscard]] std::int64_t n_rows() const { return ranges_[2].first + ranges_[2].rows; }

 private:
  struct Range {
    double begin, end, stride;
    std::int64_t first, rows;
  };
  std::array<Range, 3> ranges_;
};

/// How the neighbours of an atom become numbers that a fitting network reads.
enum class DescriptorKind {
  se_e2_a,  ///< D = T T[:M2]^T, a network for each type or pair of types (Zhang et al. 2018)
  se_e2_r,  ///< D = 1/(5 n) sum_j G(s_j): distances alone
  se_e3,    ///< D = sum_jk theta_jk G(theta_jk), theta_jk = R_j . R_k: angles between pairs of neighbours
  dpa1,     ///< se_e2_a with one network that reads embeddings of the types, without attention layers
};

/// Its name in input files and logs.
[[nodiscard]] std::string name_of(DescriptorKind kind);

/// Whether D = T T[:M2]^T; else T is invariant itself, and D = T[0].
[[nodiscard]] constexpr bool has_axis(DescriptorKind kind) {
  return kind == DescriptorKind::se_e2_a || kind == DescriptorKind::dpa1;
}

/// One descriptor of a model.
///
/// Of dpa1 (se_atten with attn_layer 0; Zhang et al. 2022, 2208.08236) the type embeddings are constants of a
/// pair of types, so that G depends on s alone. With `tebd_input_mode` concat they are part of the first
/// layer's bias, and there is a network for each pair. With strip the networks are one, G_s, and
///
///     G(s) = G_s(s) (1 + c_pair w),  w = w(r) if the gates are smooth, else 1.
struct DescriptorModel {
  DescriptorKind kind = DescriptorKind::se_e2_a;
  std::vector<std::string> type_names;
  double rcut = 6, rcut_smooth = 0.5;  ///< (angstrom)
  double protection = 0;               ///< p in 1/(r + p) (angstrom)
  std::vector<int> sel;  ///< most neighbours of each type, of dpa1 of all types; their sum divides T
  int axis_neuron = 4;   ///< M2; 0: D is one number a channel (se_e2_r, se_e3)
  bool type_one_side = true;
  std::vector<std::array<double, 4>> mean, deviation;  ///< davg, dstd per centre type
  /// One, [n_types] one-sided, else [neighbour * n_types + centre]; of se_e3 [u (u + 1)/2 + t], one for each
  /// pair of types of neighbours t <= u.
  std::vector<Network> embedding;
  std::vector<QuinticTable> tables;        ///< as embedding; empty if the model is not compressed
  std::vector<std::vector<double>> gates;  ///< c [neighbour * n_types + centre][n_channels]; empty: none
  bool smooth_gates = false;
  std::vector<bool> excluded_descriptor_pairs;  ///< [n_types * n_types] rows of these neighbours become 0
  std::vector<bool> excluded_pairs;             ///< [n_types * n_types] these neighbours become empty slots

  [[nodiscard]] int n_types() const { return type_names.size(); }
  [[nodiscard]] int n_channels() const { return embedding.front().n_out(); }
  [[nodiscard]] int n_slots() const;  ///< sum(sel)
  [[nodiscard]] int network_index(int centre, int neighbour) const {
    if (embedding.size() == 1) return 0;
    if (kind == DescriptorKind::se_e3) {  // both are neighbours
      const int u = centre > neighbour ? centre : neighbour, t = centre + neighbour - u;
      return u * (u + 1) / 2 + t;
    }
    return type_one_side ? neighbour : pair_index(centre, neighbour);
  }
  /// How many embedding networks it has, unless one serves all types.
  [[nodiscard]] std::size_t n_networks() const {
    const std::size_t n = type_names.size();
    return kind == DescriptorKind::se_e3 ? n * (n + 1) / 2 : type_one_side ? n : n * n;
  }
  [[nodiscard]] int pair_index(int centre, int neighbour) const { return neighbour * n_types() + centre; }
  /// s of a neighbour at distance r (angstrom), normalised for a centre type: the input of the embedding
  /// networks.
  [[nodiscard]] double normalised_s(int centre, double r) const;
};

/// The networks of a model dpa1 before what they read of types became constants: what is trained and written.
struct TypeReaders {
  Network types;                    ///< the unit vector of a type [n_types] -> its embedding
  Network embedding;                ///< of s, then, without a gate, of the embedding of a pair of types
  Network gate;                     ///< c of the embedding of a pair; without layers: none (concat)
  std::vector<Network> fitting;     ///< one, or one for each type: of D, then of the centre's embedding
  bool fitting_reads_types = true;  ///< else of D alone
  bool types_have_bias = false;     ///< else the network of types has matrices alone
  [[nodiscard]] bool has_gate() const { return !gate.layers.empty(); }
};

/// Everything a .dp file says that the energy depends on: its descriptor, and what makes of it an energy. Of
/// a hybrid the first descriptor, and the others in `further`.
struct Model : DescriptorModel {
  std::vector<DescriptorModel> further;  ///< their numbers follow those of the first, in this order
  std::vector<Network> fitting;          ///< per centre type
  std::vector<double> atom_bias;         ///< bias_atom_e (eV)
  std::vector<double> output_bias;       ///< out_bias (eV)
  std::vector<bool> excluded_atoms;      ///< energy 0, bias included
  std::vector<bool> excluded_fitting;    ///< energy = output_bias alone
  bool single_precision = false;         ///< descriptor and networks are float32
  std::optional<double> least_distance;  ///< least distance in the training data (angstrom)
  std::optional<TypeReaders> readers;    ///< of one dpa1: embedding, gates and fitting follow from them
  int version = 2;                       ///< of the descriptor: 3 is compressed

  /// Numbers that the fitting networks read after the descriptors, as (value - mean) * inverse_deviation.
  struct ReadParameters {
    std::vector<double> mean, inverse_deviation;
    std::vector<double> usual;  ///< values where none are given; empty: they must be
    [[nodiscard]] int count() const { return mean.size(); }
  };
  ReadParameters frame_parameters;  ///< of a frame (fparam: an electronic temperature, a field)
  ReadParameters atom_parameters;   ///< of each atom (aparam: its spin, its temperature), after those

  [[nodiscard]] int n_descriptors() const { return 1 + static_cast<int>(further.size()); }
  [[nodiscard]] const DescriptorModel& descriptor(int i) const { return i == 0 ? *this : further[i - 1]; }
  /// Largest cutoff of its descriptors (angstrom).
  [[nodiscard]] double cutoff() const;
  [[nodiscard]] std::string summary() const;  ///< one line for logs
};

/// The outputs of a network for inputs `x`. Plain, for set-up and tests.
[[nodiscard]] std::vector<double> outputs_of(const Network& network, std::vector<double> x);

/// The network that is left where some inputs are constants: they become part of the first layer's bias.
/// @param constants [n_in] the value of each input, none where it is read
/// Throws InputError where the first layer adds its inputs to its outputs (a skip), which a bias cannot do.
[[nodiscard]] Network with_constants(Network network, const std::vector<std::optional<double>>& constants);

/// Embeddings of types [n_types][width]: the outputs of a network for unit vectors.
[[nodiscard]] std::vector<std::vector<double>> type_embeddings(const Network& types);
/// What a network reads of a pair of types: the neighbour's embedding, and the centre's if two-sided.
[[nodiscard]] std::vector<double> pair_embedding(const std::vector<std::vector<double>>& embeddings,
                                                 bool one_side, int neighbour, int centre);
/// Gates as compressed files have them: of each type of neighbour, then of the padding (its embedding is 0);
/// two-sided these for each centre, and for the padding.
[[nodiscard]] std::vector<std::vector<double>> padded_gates(const TypeReaders& readers, bool one_side);
/// Set a descriptor's embedding networks and gates to what the readers give for its types.
void resolve_descriptor(const TypeReaders& readers, DescriptorModel& model);
/// Set these, and the fitting networks, of a model with readers. Throws InputError: as with_constants().
void resolve_types(Model& model);

/// The model of frames that all have these parameters; as it is if it has none. Throws InputError for
/// another number of values than the model wants.
[[nodiscard]] Model with_frame_parameters(Model model, const std::vector<double>& values);

/// Numbers of atoms (aparam) that all atoms of some types have.
struct AtomParameters {
  std::vector<std::string> types;
  std::vector<double> values;
};
/// The model of atoms whose types alone tell their parameters; as it is where
/// nothing is given, or it reads none. Throws
/// InputError for another number of values than the model wants, a type that it does not know, and one that
/// is named twice or not at all.
[[nodiscard]] Model with_atom_parameters(Model model, const std::vector<AtomParameters>& given);

/// Throws InputError, with what may be done instead, unless a model has one descriptor se_e2_a or dpa1 and
/// reads no parameters of frames or atoms. @param what cannot be done with others: "a device evaluates"
void require_with_axis(const Model& model, const std::string& what);
/// The same of any one descriptor, which but for dpa1 may have parameters of atoms: what is trained and
/// written.
void require_trainable(const Model& model, const std::string& what);
/// The same of any descriptors, hybrids too, without parameters of frames and atoms.
void require_without_parameters(const Model& model, const std::string& what);

/// Read DeePMD-kit's native .dp file (HDF5), versions 2 and 3, or its serialised tree as text (.yaml, .yml,
/// .json). Reads on every rank. Throws InputError that names the file and what is wrong or not supported
/// (spin, attention, other descriptors...).
[[nodiscard]] Model read_dp(const std::string& path);

}  // namespace quintet::potential
