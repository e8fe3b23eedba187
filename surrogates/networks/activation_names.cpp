#include "surrogates/networks/activation_names.hpp"

#include "io/log/error.hpp"

namespace quintet::networks {

std::string_view name_of(Activation activation) {
  for (const auto& row : activation_rows)
    if (row.value == activation) return row.name;
  throw InternalError(fmt::format("activation {} has no name", static_cast<int>(activation)));
}

std::optional<Activation> activation_named(std::string_view name) {
  for (const auto& row : activation_rows)
    if (row.name == name) return row.value;
  return std::nullopt;
}

}  // namespace quintet::networks
