#include "apps/podlstm/evaluate/quantised.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"

namespace quintet::podlstm {

void share(const Comm& comm, Judgement& judgement) {
  comm.broadcast(std::span(judgement.ours.forecast));
  for (auto& member : judgement.members) comm.broadcast(std::span(member.forecast));
}

void report_codes(Context& context, const Judgement& judgement, const sequence::ForecastModel& trained,
                  const QuantiseOptions& options, const ocean::OceanModes& modes,
                  const sequence::Windows& windows, const sequence::Metric& metric, const std::string& unit,
                  int block) {
  const auto& comm = context.comm();
  const sequence::Comparison comparison(judgement.truth, judgement.shape, metric, block);
  const auto sample_of = [&](const sequence::ForecastModel& model, const std::string& name) {
    auto ensemble = sequence::forecast(model, modes.series, windows);
    share(comm, ensemble);
    return comparison.sample({name, std::move(ensemble.mean)});
  };
  const double trained_bytes = bytes_of_weights(trained);
  const double trained_s = comm.broadcast(seconds_of_window(trained));
  const auto as_trained = sample_of(trained, "as trained");
  const auto score = comparison.score(as_trained);
  std::vector<std::vector<std::string>> rows = {
      {"32, as trained", fmt::format("{:.4f}", score.rmse.value), "", fmt::format("{:.4f}", score.r2.value),
       fmt::format("{:.1f}", trained_bytes / 1000), "", fmt::format("{:.1f}", 1e6 * trained_s), "fp32"}};
  context.summarise("trained_rmse", score.rmse.value, "of the model as it was trained (" + unit + ")");
  double fastest = 0;
  std::string how;
  std::set<int> all = {1, 2, 3, 4};
  all.insert(options.codes.bits);
  for (const int bits : all) {
    auto own = options;
    own.codes.bits = bits;
    const auto model = quantised(trained, own);
    const auto sampled = sample_of(model, fmt::format("{}", counted(bits, "bit")));
    const auto coded = comparison.score(sampled);
    const auto change = comparison.gain(sampled, as_trained).rmse;  // positive: the codes are better
    const double bytes = bytes_of_weights(model), seconds = comm.broadcast(seconds_of_window(model));
    const auto kernels = comm.broadcast(kernels_of(model));
    if (trained_s / seconds > fastest) {
      fastest = trained_s / seconds;
      how = fmt::format("{} a weight, multiplied by {}", counted(bits, "bit"), kernels);
    }
    rows.push_back(
        {fmt::format("{}", bits), fmt::format("{:.4f}", coded.rmse.value),
         fmt::format("{:+.4f} ± {:.4f} {}", -change.value, change.error, verdict_text(verdict_of(change))),
         fmt::format("{:.4f}", coded.r2.value), fmt::format("{:.1f}", bytes / 1000),
         fmt::format("{:.1f}", trained_bytes / bytes), fmt::format("{:.1f}", 1e6 * seconds), kernels});
    log::info(
        "{} a weight: RMSE {:.4f} {} (as trained {:.4f}), weights {:.1f} times smaller, {:.1f} us a "
        "window ({}; as trained {:.1f})",
        counted(bits, "bit"), coded.rmse.value, unit, score.rmse.value, trained_bytes / bytes, 1e6 * seconds,
        kernels, 1e6 * trained_s);
    const auto prefix = fmt::format("bits_{}_", bits);
    context.summarise(prefix + "rmse", coded.rmse.value, "with that many bits a weight (" + unit + ")");
    context.summarise(prefix + "weights_bytes", static_cast<std::int64_t>(bytes));
  }
  auto& report = context.report();
  report.section("Bits a weight");
  report.table(
      {"bits", fmt::format("RMSE ({})", unit), "change", "R2 (paper)", "weights (kB)", "times smaller",
       "a window (us)", "multiplied by"},
      rows,
      fmt::format("Binary codes, {}, {}, all leads, {}. A change below two of its errors is a tie. Weights "
                  "are those of all networks, codes with their scales and biases; a window is forecast by "
                  "one network, least CPU time of 15 samples, without the linear base.",
                  options.codes.group == 0
                      ? "a scale a row"
                      : fmt::format("a scale for {}", counted(options.codes.group, "input")),
                  counted(options.codes.rounds, "alternating round"), judgement.period));
  const std::string speed =
      fastest < 1.05
          ? "Codes make the file smaller, not the forecast faster: matrices of this size stay in the cache "
            "in float32, too."
          : fmt::format("The fastest, {}, takes {:.2f} of the time of the trained weights in float32.", how,
                        1 / fastest);
  report.paragraph(speed);
  log::info("{}", speed);
}

}  // namespace quintet::podlstm
