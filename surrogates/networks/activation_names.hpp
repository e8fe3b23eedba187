#pragma once

#include <optional>
#include <string_view>

#include "physics/kernels/activation.hpp"

namespace quintet::networks {

/// The activation functions by their names in input files, the usual ones first.
struct ActivationRow {
  Activation value;
  const char* name;
};
inline constexpr ActivationRow activation_rows[] = {
    {Activation::tanh, "tanh"},       {Activation::gelu, "gelu"},    {Activation::silu, "silu"},
    {Activation::relu, "relu"},       {Activation::relu6, "relu6"},  {Activation::softplus, "softplus"},
    {Activation::sigmoid, "sigmoid"}, {Activation::linear, "linear"}};

/// Throws InternalError for a value that is not in the table.
[[nodiscard]] std::string_view name_of(Activation activation);
[[nodiscard]] std::optional<Activation> activation_named(std::string_view name);

}  // namespace quintet::networks
