#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// Recurrent networks of sequences: what one is, its graph, and the space that a search looks through.
namespace quintet::sequence {

/// Kind of a node of the chain: its operation on the sequence that it reads.
enum class NodeKind {
  identity,  ///< nothing: it gives what it reads
  lstm,      ///< a layer of LSTM cells that gives its state after every step
  dense      ///< relu(x W + b), each step by itself
};

struct Node {
  NodeKind kind = NodeKind::lstm;
  int units = 80;  ///< numbers a step; 0 for identity
  bool operator==(const Node&) const = default;
};

/// h(from) is added to what node `to` gives, 0 <= from < to; h(0) is the input, h(k) what follows node k.
struct Skip {
  int from = 0, to = 1;
  bool operator==(const Skip&) const = default;
  auto operator<=>(const Skip&) const = default;
};

/// How h(last) becomes the output.
enum class Head {
  lstm,       ///< a layer of n_outputs LSTM cells: a step for a step; step k has seen steps 1 .. k alone
  dense,      ///< h W + b, a step for a step; the same
  last_state  ///< h(last step) W + b gives all steps_out steps at once: each has seen the whole window
};

/// A recurrent network without its weights.
///
///     h(0) = x,   y(k) = node_k(h(k-1)),   h(k) = y(k)                                   without skips to k
///                                          h(k) = relu(y(k) + sum of P h(i)), i -> k a skip      with skips
///     output = head(h(last))
///
/// P is nothing where h(i) is as wide as y(k), else a dense projection with bias of its own; a skip from
/// h(k-1) goes round node k. Source: the search space of Maulik et al. 2020 (SC20, arXiv 2004.10928).
struct Architecture {
  int n_inputs = 5;                ///< numbers a step of the input
  std::vector<Node> nodes = {{}};  ///< in their order
  std::vector<Skip> skips;         ///< ascending (to, from), each once; validate() puts them in order
  Head head = Head::lstm;
  int n_outputs = 5;  ///< numbers a step of the output
  int steps_out =
      8;  ///< steps of the output; meant for last_state, the other heads give as many as they read
  bool operator==(const Architecture&) const = default;
};

/// Puts skips in order; throws InputError for an invalid network (widths, skips that lead nowhere or twice).
void validate(Architecture& architecture);

/// One operation of a network. Tensor 0 is the input, tensor i + 1 what operation i gives, all [step,
/// number].
struct Operation {
  enum class Kind {
    lstm,   ///< see Network; parameters W [n_in, 4 n_out], U [n_out, 4 n_out], b [4 n_out]
    dense,  ///< x W + b, relu of it where `relu`; of the last step alone where `last_step`; W [n_in, n_out],
            ///< b
    merge   ///< relu of the sum of its inputs, all as wide
  };
  Kind kind = Kind::lstm;
  std::string name;         ///< node_2, project_0_to_2, merge_2, head
  std::vector<int> inputs;  ///< tensors; one, but for merge
  int n_in = 0, n_out = 0;
  bool relu = false, last_step = false;
  std::size_t first = 0;         ///< of its parameters in the flat array
  std::size_t n_parameters = 0;  ///< with one bias a gate
};

/// A network as operations in an order in which they can run; the last one gives the output.
struct Graph {
  int n_inputs = 0;
  std::vector<Operation> operations;
  std::size_t n_parameters = 0;
};
/// Identity nodes leave no trace but their skips. @param architecture as validate() leaves it
[[nodiscard]] Graph graph_of(const Architecture& architecture);

/// Text that two architectures share if and only if their graphs are the same: the key of a cache.
///
/// Many architectures of a search space build one network: an identity without skips may stand anywhere.
[[nodiscard]] std::string canonical_form(const Architecture& architecture);
/// Parameters with one bias a gate (as here and in Keras) or two (PyTorch, which adds one to the other).
[[nodiscard]] std::size_t count_parameters(const Architecture& architecture, int biases_a_gate = 1);
/// In words: "LSTM 80 - identity - LSTM 96 - LSTM 5; skips 0->2 1->2".
[[nodiscard]] std::string summary(const Architecture& architecture);

/// A network as the user writes it.
struct ArchitectureOptions {
  std::vector<std::string> nodes = {"80"};  ///< "80": LSTM; "dense 80"; "identity"
  std::vector<std::string> skips;           ///< "0->2"
  Head head = Head::lstm;
};
void describe(Schema& schema, ArchitectureOptions& options);
/// Throws InputError that names the key.
[[nodiscard]] Architecture make_architecture(const ArchitectureOptions& options, int n_inputs, int n_outputs,
                                             int steps_out);
/// The way back: what is written is what make_architecture() reads.
[[nodiscard]] ArchitectureOptions options_of(const Architecture& architecture);

/// Architectures that a search may choose from: of each node its units, of each candidate whether it is
/// there.
///
/// Candidates of node k: h(k - reach) .. h(k - 1), as far as there are any. The defaults are the space of the
/// paper: 7^5 2^9 = 8 605 184.
struct ArchitectureSpace {
  int n_nodes = 5;
  std::vector<std::int64_t> units = {0, 16, 32, 48, 64, 80, 96};  ///< of an LSTM; 0: identity
  int reach = 2;                                                  ///< candidates of a node; 0: no skips
  Head head = Head::lstm;
};
void describe(Schema& schema, ArchitectureSpace& space);

/// One choice of a search: its name and its alternatives in words.
struct Decision {
  std::string name;  ///< "node 2", "skip 0->2"
  std::vector<std::string> choices;
};
/// Node by node: its units, then its candidates from the farthest. Throws InputError for a space of size 0.
[[nodiscard]] std::vector<Decision> decisions(const ArchitectureSpace& space);
/// Number of its members (exact below 2^53).
[[nodiscard]] double size_of(const ArchitectureSpace& space);
/// The member with these genes: genes[i] is a choice of decision i. Throws InternalError for others.
[[nodiscard]] Architecture make_architecture(const ArchitectureSpace& space, const std::vector<int>& genes,
                                             int n_inputs, int n_outputs, int steps_out);

}  // namespace quintet::sequence
