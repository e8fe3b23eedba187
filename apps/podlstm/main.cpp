#include "apps/application/cli/application.hpp"
#include "apps/podlstm/append/append.hpp"
#include "apps/podlstm/evaluate/evaluate.hpp"
#include "apps/podlstm/fit/cost.hpp"
#include "apps/podlstm/fit/fit.hpp"
#include "apps/podlstm/forecast/expert.hpp"
#include "apps/podlstm/forecast/forecast.hpp"
#include "apps/podlstm/hindcast/cost.hpp"
#include "apps/podlstm/hindcast/hindcast.hpp"
#include "apps/podlstm/quantise/quantise.hpp"
#include "apps/podlstm/search/cost.hpp"
#include "apps/podlstm/search/search.hpp"
#include "apps/podlstm/setup/with_slepc.hpp"
#include "apps/podlstm/train/cost.hpp"
#include "apps/podlstm/train/train.hpp"

/// Sea-surface temperature forecasts from modes, references and recurrent networks.
int main(int argc, char** argv) {
  namespace podlstm = quintet::podlstm;
  return quintet::Application("podlstm", "Sea-surface temperature forecasts", podlstm::subsystems())
      .may_load_torch()
      .command<podlstm::FitOptions>("fit", "Modes of fields over the sea and their coefficients",
                                    podlstm::fit)
      .cost<podlstm::FitOptions>(podlstm::fit_cost)
      .command<podlstm::AppendOptions>("append", "New times of a record on the modes that are there",
                                       podlstm::append)
      .command<podlstm::TrainOptions>("train", "A forecast model: a linear base and networks that correct it",
                                      podlstm::train)
      .cost<podlstm::TrainOptions>(podlstm::train_cost)
      .command<podlstm::SearchInput>("search", "The network that forecasts best, among those of a space",
                                     podlstm::search)
      .cost<podlstm::SearchInput>(podlstm::search_cost)
      .command<podlstm::PredictOptions>("forecast", "The steps after a date, as coefficients and fields",
                                        podlstm::forecast)
      .command<podlstm::EvaluateOptions>("evaluate", "A model and all references on the same later times",
                                         podlstm::evaluate)
      .command<podlstm::HindcastOptions>(
          "hindcast", "All methods fitted anew each year and judged on what came", podlstm::hindcast)
      .cost<podlstm::HindcastOptions>(podlstm::hindcast_cost)
      .command<podlstm::QuantiseModelOptions>("quantise", "A model in a few bits a weight", podlstm::quantise)
      .plain_command("expert", "Say what a registry of models is to know of one", podlstm::expert_flags(),
                     podlstm::expert)
      .execute(argc, argv);
}
