#pragma once

#include "surrogates/potential/exported/exported_model.hpp"

namespace quintet::potential {

/// A model whose tensors are counted, on the thread that evaluates it, where that is asked for.
class MeasuredModel : public ExportedModel {
 public:
  [[nodiscard]] double bytes_of(const ExportedSystem& system) final;
};

}  // namespace quintet::potential
