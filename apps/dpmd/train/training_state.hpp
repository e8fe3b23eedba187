#pragma once

#include <cstdint>

#include "apps/dpmd/train/train_options.hpp"
#include "apps/dpmd/train/train_setup.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/potential/training/trainer.hpp"

/// State in a checkpoint of `dpmd train` besides weights and moments.
namespace quintet::dpmd {

/// Throws InputError if it is not a checkpoint of a training. Collective.
void check_is_training(const hdf5::File& checkpoint);

/// Sizes, statistics and energy biases, which a restart takes from here in place of the data. Collective.
void write_known_model(hdf5::Group& group, const potential::Model& model);
[[nodiscard]] KnownModel read_known_model(const hdf5::File& checkpoint);

/// Throws NumericalError if a weight is not a finite number.
void check_finite(const potential::Trainer& trainer, std::int64_t step);

}  // namespace quintet::dpmd
