#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/potential/exported/compiled_package.hpp"
#include "surrogates/potential/exported/library/compiled_module.hpp"
#include "surrogates/potential/exported/library/measured_model.hpp"

namespace quintet::potential {

/// Edges of a graph whose nodes are atoms. Edge e goes from atom i = ends[e] to its neighbour
/// j = ends[n + e], and is x_j - x_i + shift_e.
struct CompiledEdges {
  std::vector<std::int64_t> ends;  ///< [2, n]
  std::vector<double> shift;       ///< [n, 3] (angstrom)
};

/// A model of NequIP or Allegro, compiled: energies of atoms, and forces and the virial of their sum over all
/// nodes. Sources: Batzner et al. 2022 (2101.03164), Musaelian et al. 2023 (2204.05249); nequip 0.19.1.
///
/// Nodes are the centres and their neighbours where the model is local. Where atoms pass messages, images of
/// centres are folded onto these, since energies of other nodes would be differentiated, too.
class CompiledNequipModel final : public MeasuredModel {
 public:
  /// Errors: InputError where the code gives no energies or forces, fails for the types that it says to know,
  /// or atoms pass messages and it takes no shifts of images.
  explicit CompiledNequipModel(CompiledPackage package);

  [[nodiscard]] const ExportedFacts& facts() const override { return package_.facts; }
  void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) override;

 private:
  [[nodiscard]] CompiledEdges edges_of(const ExportedSystem& system) const;
  [[nodiscard]] std::vector<at::Tensor> run(const ExportedSystem& system, std::int64_t n_nodes,
                                            CompiledEdges edges) const;
  [[nodiscard]] int output(const char* name) const;
  [[nodiscard]] bool takes_its_types() const;
  [[nodiscard]] bool passes_messages() const;

  CompiledPackage package_;
  CompiledModule code_;
};

}  // namespace quintet::potential
