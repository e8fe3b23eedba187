#pragma once

#include <optional>
#include <string>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/experts/router.hpp"

/// The model of a command that takes one by name (`model`) or lets a router choose (`experts`).
namespace quintet::experts {

/// Keys `model` and `experts`, one of which must be given.
void describe_model(Schema& schema, std::string& model, std::optional<ExpertsOptions>& experts,
                    const std::string& doc);

struct ChosenModel {
  std::string name;            ///< what readers take: a file, or "registry.h5:ID"
  std::string expert, reason;  ///< ID and why; empty: it was given by name
  bool outside = false;
};
/// Collective. Throws what Registry and Router throw.
[[nodiscard]] ChosenModel chosen_model(const Comm& comm, const std::string& model,
                                       const std::optional<ExpertsOptions>& experts, const std::string& app,
                                       const Request& request);

}  // namespace quintet::experts
