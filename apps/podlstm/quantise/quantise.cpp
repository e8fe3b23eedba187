#include "apps/podlstm/quantise/quantise.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/counted.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"

namespace quintet::podlstm {

void quantise(Context& context, const QuantiseModelOptions& options) {
  const auto& comm = context.comm();
  const auto trained =
      context.timed("read", [&] { return sequence::read_forecast_model(comm, options.model); });
  const auto model = context.timed("encode", [&] { return quantised(trained, options.quantise); });
  const auto& codes = options.quantise.codes;
  context.describe_run("model",
                       fmt::format("{}{}", counted(model.members.size(), "network"), codes_text(model)));
  if (!context.go_ahead({"model.h5"})) return;
  write_forecast_model(comm, context.path("model.h5"), model, context.provenance());

  std::vector<std::vector<std::string>> rows;
  const auto graph = graph_of(model.architecture);
  double all = 0, all_off = 0;
  for (const auto& place : matrices_of(graph)) {
    double size = 0, off = 0;
    for (std::size_t k = 0; k < model.members.size(); ++k)
      for (std::size_t i = place.first; i < place.first + place.size(); ++i) {
        size += std::pow(trained.members[k][i], 2);
        off += std::pow(trained.members[k][i] - model.members[k][i], 2);
      }
    all += size;
    all_off += off;
    rows.push_back({place.name, fmt::format("{} x {}", place.outputs, place.inputs),
                    size > 0 ? fmt::format("{:.3f}", std::sqrt(off / size)) : "0"});
  }
  const double error = all > 0 ? std::sqrt(all_off / all) : 0;
  const double before = bytes_of_weights(trained), after = bytes_of_weights(model);
  context.report().title("podlstm quantise", fmt::format("{} a weight", counted(codes.bits, "bit")));
  context.headline("weights", fmt::format("{:.1f} kB, {:.1f} times smaller", after / 1000, before / after));
  context.headline("error of the weights", fmt::format("{:.1f} % of their size", 100 * error));
  context.report().section("Matrices");
  context.report().table(
      {"matrix", "outputs x inputs", "|W - W~|/|W|"}, rows,
      "Over all networks. The effect on forecasts needs a test: `podlstm evaluate` with `quantise` "
      "has it for 1 to 4 bits.");
  context.summarise("weights_bytes", static_cast<std::int64_t>(after));
  context.summarise("weights_bytes_float32", static_cast<std::int64_t>(before));
  context.summarise("weights_error", error, "|W - W~|/|W|, all matrices");
}

}  // namespace quintet::podlstm
