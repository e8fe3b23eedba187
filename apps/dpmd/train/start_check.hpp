#pragma once

#include <vector>

#include "apps/dpmd/train/train_options.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/frame.hpp"

namespace quintet::dpmd {

/// Refuse labels of another sign or unit than the model has that a training starts from.
///
/// Looks at up to 16 frames, spread evenly. Forces that are the model's with the other sign (correlation of
/// components -0.9 or below) are gradients. Where forces follow the model's (0.9 or above), the traces of the
/// virials must, too: refused where sum tr W_label tr W_model / sum (tr W_model)^2 is within 30 % of -1 or of
/// a factor between units of stress, both are correlated by 0.9, and the deviatoric parts do not say
/// otherwise. Only labels that the loss asks for are looked at. Throws InputError that names the keys.
void check_start(const potential::Model& start, const std::vector<potential::LabelledSystem>& systems,
                 const LossOptions& loss, const LabelsOptions& labels);

}  // namespace quintet::dpmd
