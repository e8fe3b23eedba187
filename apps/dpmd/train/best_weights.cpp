#include "apps/dpmd/train/best_weights.hpp"

#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

void BestWeights::save(hdf5::Group& group) const {
  group.write<double>("least_loss", std::vector<double>{least_.least(), least_.waited()}, {2},
                      {"1", {"value"}, "Least loss of frames held out, looks since then"});
  group.set_attribute("best_step", step_);
  if (!weights_.empty())
    group.write<double>("best_weights", weights_, {weights_.size()},
                        {"1", {"parameter"}, "Weights with the least loss of frames held out"});
}

void BestWeights::load(const hdf5::Group& group, std::uint64_t n_weights) {
  const auto values = group.read<double>("least_loss");
  QUINTET_CHECK(values.size() == 2, "the checkpoint's least_loss has {}, expected 2",
                counted(values.size(), "value"));
  least_.restore(values[0], values[1]);
  step_ = group.integer_attribute("best_step");
  QUINTET_CHECK(
      values[1] >= 0 && step_ >= 0,
      "the checkpoint's least loss is of step {}, {} looks ago: it is damaged, go on from an earlier one",
      step_, values[1]);
  if (group.has("best_weights")) weights_ = group.read<double>("best_weights", {n_weights});
}

}  // namespace quintet::dpmd
