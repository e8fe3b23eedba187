#include "apps/meshfreeflow/superresolve/error_bars_options.hpp"

#include <algorithm>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"

namespace quintet::meshfreeflow {

void describe(Schema& schema, ErrorBarsOptions& options) {
  schema
      .texts(
          "members", options.members,
          "Models that were trained as the model was, from other seeds; their mean square distance from it "
          "is the error bar")
      .required()
      .length(1)
      .existing_file();
  schema
      .numbers("scale", options.scale,
               "What error bars are multiplied by, a number for each field of the model; `evaluate` on flows "
               "with a known truth finds them; absent: 1")
      .above(0);
}

std::vector<flow::FlowModel> load_members(const Comm& comm, const ErrorBarsOptions& options,
                                          const flow::FlowModel& model) {
  std::vector<flow::FlowModel> members;
  for (const auto& file : options.members) {
    auto member = flow::load_flow_model(comm, file);
    QUINTET_CHECK(
        member.parameters != model.parameters,
        "error_bars.members: {} has the weights of the model itself; give models trained from other seeds "
        "(`seed` of meshfreeflow train)",
        file);
    QUINTET_CHECK(std::none_of(members.begin(), members.end(),
                               [&](const auto& other) { return other.parameters == member.parameters; }),
                  "error_bars.members: {} has the weights of another member; give each once", file);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace quintet::meshfreeflow
