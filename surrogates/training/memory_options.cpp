#include "surrogates/training/memory_options.hpp"

#include "io/config/table.hpp"

namespace quintet {

namespace {

struct PolicyRow {
  ActivationPolicy value;
  const char* name;
};
constexpr PolicyRow policies[] = {{ActivationPolicy::keep, "keep"},
                                  {ActivationPolicy::recompute, "recompute"},
                                  {ActivationPolicy::planned, "planned"}};

}  // namespace

void describe(Schema& schema, MemoryOptions& options) {
  schema
      .quantity("activations", options.activations, "MB",
                "What tensors of a step may take on each rank; a run that cannot keep to it is refused. "
                "Absent: anything")
      .above(0)
      .at_most(1e9);
  schema.choice("policy", options.policy, choices_of(policies),
                "What the forward pass leaves for the backward pass. keep: all; recompute: each segment of "
                "blocks keeps its input and runs forward once more; planned: the fastest mixture that fits "
                "`activations`. Losses are the same to the last bit");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.policy == ActivationPolicy::planned && !options.activations)
      return "policy: planned needs activations, the memory that it may plan with";
    return std::nullopt;
  });
}

}  // namespace quintet
