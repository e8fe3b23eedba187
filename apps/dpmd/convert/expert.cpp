#include "apps/dpmd/convert/expert.hpp"

#include <cmath>

#include "io/parallel/together.hpp"
#include "surrogates/experts/description.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::dpmd {

std::vector<Application::Flag> expert_flags() { return {{"MODEL", "Deep Potential model (.dp)", true, ""}}; }

void expert(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] {
    const std::string& path = arguments[0].front();
    const auto model = potential::read_dp(path);
    experts::Expert expert;
    expert.app = "dpmd";
    expert.kind = model.tables.empty() ? "deep_potential" : "compressed";
    expert.precision = model.single_precision ? "float32" : "float64";
    for (const auto& name : model.type_names) {
      expert.words.emplace_back("type", name);
      expert.range.push_back({"fraction_" + name, 0, 1, "1"});
    }
    experts::describe_opened(expert, [&] {
      return std::make_shared<potential::DeepPotential>(potential::read_dp(path),
                                                        potential::DeepPotentialOptions{});
    });
  });
}

}  // namespace quintet::dpmd
