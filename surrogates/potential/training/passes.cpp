#include "surrogates/potential/training/passes.hpp"

namespace quintet::potential {

AtomShare share_of(const TrainingFrame& frame, const Model& model, Sharer sharer) {
  constexpr int block = 8;
  AtomShare share;
  share.atoms.resize(model.n_types());
  std::vector<int> count(model.n_types(), 0);
  for (int i = 0; i < frame.n_atoms; ++i) {
    const int type = frame.type[i];
    if (count[type]++ / block % sharer.size != sharer.rank || model.excluded_atoms[type]) continue;
    share.energy += model.output_bias[type];
    if (model.excluded_fitting[type]) continue;
    share.energy += model.atom_bias[type];
    share.atoms[type].push_back(i);
  }
  return share;
}

}  // namespace quintet::potential
