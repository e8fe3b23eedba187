#include "apps/meshfreeflow/superresolve/expert.hpp"

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/experts/description.hpp"
#include "surrogates/flow/model/flow_model.hpp"

namespace quintet::meshfreeflow {

std::vector<Application::Flag> expert_flags() {
  return {{"MODEL", "What `meshfreeflow train` wrote", true, ""}};
}

void expert(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] {
    const auto load = [&] {
      return std::make_shared<flow::FlowModel>(flow::load_flow_model(Comm::self(), arguments[0].front()));
    };
    const auto model = load();
    experts::Expert expert;
    expert.app = "meshfreeflow";
    expert.kind =
        model->header.options.decoder.kind == flow::DecoderKind::continuous ? "continuous" : "convolutional";
    expert.precision = "float32";
    for (const auto& parameter : model->header.parameters)
      expert.range.push_back({parameter.name, parameter.range.least, parameter.range.most, "1"});
    for (const auto& name : model->header.field_names()) expert.words.emplace_back("field", name);
    experts::describe_opened(expert, load);
  });
}

}  // namespace quintet::meshfreeflow
