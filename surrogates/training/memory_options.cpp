#include "surrogates/training/memory_options.hpp"

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/table.hpp"

namespace quintet {

namespace {

struct PolicyRow {
  ActivationPolicy value;
  const char* name;
};
constexpr PolicyRow policies[] = {{ActivationPolicy::keep, "keep"},
                                  {ActivationPolicy::recompute, "recompute"},
                                  {ActivationPolicy::swap, "swap"},
                                  {ActivationPolicy::planned, "planned"}};

}  // namespace

void describe(Schema& schema, MemoryOptions& options) {
  schema
      .quantity("activations", options.activations, "MB",
                "What tensors of a step may take on each rank; a run that cannot keep to it is refused. "
                "Absent: anything")
      .above(0)
      .at_most(1e9);
  schema.choice(
      "policy", options.policy, choices_of(policies),
      "What the forward pass leaves for the backward pass. keep: all; recompute: each segment of "
      "blocks keeps its input and runs forward once more; swap: each leaves over `link` or to `path` "
      "and comes back as soon as `activations` allows; planned: the fastest mixture that fits `activations`. "
      "Losses are the same to the last bit");
  schema
      .quantity("link", options.link, "GB/s",
                "Bandwidth over which activations are swapped. On a CPU it is emulated: what is swapped "
                "goes to other memory, in the time of such a link")
      .above(0)
      .at_most(1e4);
  schema.check(Expert{"link"});
  schema.text("path", options.path,
              "In place of a link: a folder on a disk of the node, where activations are swapped to a file "
              "without a name, which goes with the process");
  schema.check([&options]() -> std::optional<std::string> {
    const bool swaps = options.policy == ActivationPolicy::swap;
    if ((swaps || options.policy == ActivationPolicy::planned) && !options.activations)
      return fmt::format("policy: {} needs activations, the memory that it may plan with",
                         swaps ? "swap" : "planned");
    if (swaps && !options.may_swap())
      return "policy: swap needs path, a folder on a disk of the node, or link, the bandwidth that swapping "
             "is "
             "emulated with";
    if (options.link && options.path)
      return "link and path exclude each other: a disk's bandwidth is measured";
    if (options.may_swap() && !swaps && options.policy != ActivationPolicy::planned)
      return fmt::format("{}: policies keep and recompute swap nothing; expected policy: swap or planned",
                         options.link ? "link" : "path");
    return std::nullopt;
  });
}

}  // namespace quintet
