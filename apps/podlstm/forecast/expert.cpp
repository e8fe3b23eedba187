#include "apps/podlstm/forecast/expert.hpp"

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/experts/description.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"

namespace quintet::podlstm {

std::vector<Application::Flag> expert_flags() {
  return {{"MODEL", "model.h5 as `podlstm train` writes it", true, ""}};
}

void expert(const Comm& comm, const Application::Arguments& arguments) {
  on_root(comm, [&] {
    const auto read = [&] {
      return std::make_shared<sequence::ForecastModel>(
          sequence::read_forecast_model(Comm::self(), arguments[0].front()));
    };
    const auto model = read();
    experts::Expert expert;
    expert.app = "podlstm";
    expert.kind = model->kind == sequence::ForecastKind::hybrid ? "hybrid" : "raw";
    constexpr const char* precisions[] = {"float32", "float64", "bf16"};
    expert.precision = model->precision == sequence::Precision::float32   ? precisions[0]
                       : model->precision == sequence::Precision::float64 ? precisions[1]
                                                                          : precisions[2];
    const double n_modes = model->n_modes();
    expert.range = {{"lead", 1, static_cast<double>(model->shape.out), "steps"}, {"modes", n_modes, n_modes}};
    experts::describe_opened(expert, read);
  });
}

}  // namespace quintet::podlstm
