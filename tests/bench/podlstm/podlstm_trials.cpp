#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/core_rate.hpp"
#include "tests/support/scratch.hpp"

/// Trials an hour of `podlstm search` beside DeepHyper with PyTorch: the SC20 paper's space (8 605 184
/// networks), its data (8 + 8 weeks, the first 427), 20 epochs of batches of 64 in float32, two workers of
/// one core each.
///
/// Random candidates on both sides by default: then both train the same networks in the mean, which evolution
/// in a short time does not (whoever is faster comes to larger networks sooner). Repeated candidates, which
/// ours does not train again, are in no number. Ours validates after each epoch, the peer once. Wall times:
/// leave the machine alone. The peer's clock starts when all its workers have started. See --help.
namespace quintet {
namespace {

constexpr int weeks = 427, epochs = 20, batch = 64;
struct Arguments {
  int seconds = 60, workers = 2;
  std::vector<std::string> methods = {"random"};
  std::string modes, python = "python3";
  std::string precision = "float32", stopping = "none";
  bool peer = true;
};

/// Of one side.
struct Rate {
  double trials = 0, an_hour = 0, cpu_s = 0, utilisation = 0, parameters = 0, best_r2 = 0;
};

void show(const char* who, const Rate& rate) {
  fmt::print(
      "{:<9} {:5.0f} trials, {:6.0f} an hour; {:.3f} CPU s and {:.0f} parameters each; workers busy {:.1f} "
      "%; "
      "best R2 {:.3f}\n",
      who, rate.trials, rate.an_hour, rate.cpu_s, rate.parameters, 100 * rate.utilisation, rate.best_r2);
  std::fflush(stdout);
}

void execute(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw ResourceError(fmt::format("this ended badly: {}", command));
}

/// modes.h5 of a made-up ocean, where no other is given: 33 years, seasons, an El Nino, noise.
std::string modes_of(const Arguments& a, const Scratch& scratch) {
  if (!a.modes.empty()) return a.modes;
  write_text_file(scratch / "fit.yaml",
                  "fields: {stochastic: {climatology: '', years: 9, start: 1981-10-29, seed: 1}}\n"
                  "pod: {modes: 5}\nfit_until: 1989-12-30\n");
  execute(fmt::format("{} fit {} --quiet --threads 1 --output {}", QUINTET_PODLSTM, scratch / "fit.yaml",
                      scratch / "fit"));
  return scratch / "fit/modes.h5";
}

Rate ours(const Arguments& a, const Scratch& scratch, const std::string& modes, const std::string& method) {
  write_text_file(
      scratch / "search.yaml",
      fmt::format(
          "modes: '{}'\nsplit: {{kind: random, train_until: 1989-12-30, validation_share: 0.2}}\n"
          "forecast: {{kind: raw, training: {{epochs: {}, batch: {}, learning_rate: 1e-3, weight_decay: 0, "
          "zero_head: false, keep_best: false, precision: {}}}}}\n"
          "space: {{head: lstm}}\n"
          "search: {{method: {}, trials: 1000000, time_limit: {} s, stopping: {{rule: {}}}, workers: "
          "{{per_rank: {}}}}}\n"
          "retrain: {{members: 0}}\n",
          modes, epochs, batch, a.precision, method, a.seconds, a.stopping, a.workers));
  execute(fmt::format("OPENBLAS_NUM_THREADS=1 {} search {} --quiet --threads 1 --output {}", QUINTET_PODLSTM,
                      scratch / "search.yaml", scratch / method));
  const Tree summary = read_yaml(scratch / (method + "/summary.json"));
  const auto number = [&](const char* key) { return summary.at(key).as_number(); };
  return {number("trials"),      number("trials_per_hour"),       number("mean_trial_cpu_s"),
          number("utilisation"), number("mean_trial_parameters"), number("best_r2")};
}

/// Throws ResourceError where there is no DeepHyper.
Rate peers(const Arguments& a, const std::string& modes, const std::string& method) {
  const std::string command =
      fmt::format("OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 {} {} {} {} {} {} {} {} {}", a.python, QUINTET_PEER,
                  modes, weeks, method, a.seconds, a.workers, epochs, batch);
  Rate rate;
  double span = 0, in_span = 0;
  int read = 0;
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    read = std::fscanf(pipe, "%lf %lf %lf %lf %lf %lf %lf", &rate.trials, &span, &in_span, &rate.cpu_s,
                       &rate.utilisation, &rate.parameters, &rate.best_r2);
    pclose(pipe);
  }
  if (read != 7)
    throw ResourceError(fmt::format(
        "{} gave no numbers: --python takes one with deephyper 0.13, torch and h5py, --no-peer leaves it out",
        a.python));
  rate.an_hour = 3600 * in_span / span;
  return rate;
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto text = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    const auto value = [&] { return std::max(1, std::atoi(text().c_str())); };
    if (flag == "--quick")
      a.seconds = 20;
    else if (flag == "--seconds")
      a.seconds = value();
    else if (flag == "--workers")
      a.workers = value();
    else if (flag == "--method")
      a.methods = {text()};
    else if (flag == "--modes")
      a.modes = text();
    else if (flag == "--python")
      a.python = text();
    else if (flag == "--stopping")
      a.stopping = text();
    else if (flag == "--bf16")
      a.precision = "bf16";
    else if (flag == "--no-peer")
      a.peer = false;
    else
      throw UsageError(
          "podlstm_trials [--quick] [--seconds N (of each side)] [--workers N] [--method random|evolution] "
          "[--modes "
          "FILE (modes.h5 of weeks from 1981-10-29 on)] [--stopping median (hopeless trials end early)] "
          "[--bf16] [--python FILE (with deephyper 0.13, torch, h5py)] "
          "[--no-peer]");
  }
  return a;
}

void run(const Arguments& a) {
  const Scratch scratch("podlstm_trials");
  const auto modes = modes_of(a, scratch);
  std::vector<std::string> rows;
  for (const auto& method : a.methods) {
    fmt::print("{}, {} workers, {} s a side\n", method, a.workers, a.seconds);
    const Bracket<double> bracket;
    const auto mine = ours(a, scratch, modes, method);
    show("ours", mine);
    if (!a.peer) continue;
    const auto theirs = peers(a, modes, method);
    show("DeepHyper", theirs);
    const double slots = Bracket<double>::share_of_slots(bracket.close());
    const double by_cpu = theirs.cpu_s / theirs.parameters * mine.parameters / mine.cpu_s;
    fmt::print(
        "{:.2f} x the trials; {:.2f} x by CPU time of networks of one size; {:.0f} % of the slots of issue\n",
        mine.an_hour / theirs.an_hour, by_cpu, 100 * slots);
    rows.push_back(fmt::format(
        R"({{"bench": "podlstm_trials", "case": "{}, {} workers, {} epochs, {}, stopping {}", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "trials/h", "utilisation": {:.4f}, "peer_utilisation": {:.4f}, "issue_slots": {:.3f}}})",
        method, a.workers, epochs, a.precision, a.stopping, mine.an_hour, theirs.an_hour,
        mine.an_hour / theirs.an_hour, mine.utilisation, theirs.utilisation, slots));
  }
  fmt::print("[{}]\n", fmt::join(rows, ", "));
}

}  // namespace
}  // namespace quintet

int main(int argc, char** argv) {
  try {
    quintet::run(quintet::parse(argc, argv));
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
