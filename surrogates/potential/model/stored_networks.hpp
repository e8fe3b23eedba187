#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// A network as the file of a model with readers of types (dpa1) has it, and as a training changes it: what
/// is evaluated for neighbours and atoms (describe_networks) follows from these.
struct StoredNetwork {
  enum class Rows {
    types,       ///< n_rows, of types or pairs of them: constants until a training changes the weights
    neighbours,  ///< one for each neighbour, of atoms of any type
    atoms,       ///< one for each atom, of the type `centre` if there is one
  };
  struct Layer {
    int n_in, n_out;
    std::size_t parameters;
  };
  std::string title;
  Rows rows;
  std::int64_t n_rows = 0;  ///< of types
  std::optional<int> centre;
  int n_read;  ///< inputs of the first layer that differ between rows; the others are constants of types
  std::vector<Layer> layers;
  [[nodiscard]] std::size_t parameters() const;
  [[nodiscard]] std::string widths() const;  ///< "5-3-6-12", the inputs first
};

/// The networks that a model with readers of types stores; of others none: what they store is evaluated.
[[nodiscard]] std::vector<StoredNetwork> stored_networks(const Model& model);

}  // namespace quintet::potential
