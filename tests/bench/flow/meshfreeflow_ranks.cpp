#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "io/parallel/shared_array.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/convection/initial.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "tests/bench/flow/paper_case.hpp"

/// Scaling of `meshfreeflow simulate` and `train` over the ranks of a node: seconds a step of the slowest
/// rank, minimum of many. Wall time, and CPU time of a rank, waiting included as far as MPI waits awake:
/// where other work holds the cores wall time tells nothing, CPU time still does (mpirun with
/// --mca mpi_yield_when_idle 1 there).
///
///     mpirun -n 2 meshfreeflow_ranks [--quick] [--no-train] [--stages [--bucket MB]] [--rounds N]
///
/// --stages: a training step of all ranks by who holds parameters, gradients and states, instead.
///
/// Four ways in turn: a rank alone with the whole problem (the others sleep), a rank alone with its share,
/// all ranks with a share each and nothing in common (what memory and clock leave of the cores), all
/// together. Strong scaling: whole/(ranks together); weak: share/together, of a problem that grows with the
/// ranks; communication: apart/together. Simulate: Ra = 1e6. Train: the paper's networks, crops and points,
/// Pr = 1, batch 10.
namespace quintet::flow {
namespace {

using Step = std::function<void()>;

/// Ranks that have nothing to do sleep until all are called again, without a core's worth of waiting.
class Stages {
 public:
  explicit Stages(const Comm& comm) : comm_(comm), stage_(comm.node(), comm.is_root() ? 1 : 0) {}
  void alone(const std::function<void()>& work) {
    ++number_;
    std::atomic_ref<long> stage(*stage_.part(0));
    if (comm_.is_root()) {
      usleep(3000);
      work();
      stage.store(number_);
    } else {
      while (stage.load() < number_) usleep(1000);
    }
    comm_.barrier();
  }

 private:
  Comm comm_;
  SharedArray<long> stage_;
  long number_ = 0;
};

/// Seconds a step.
struct Seconds {
  double wall = 1e30, cpu = 1e30;
  void least(const Seconds& other) {
    wall = std::min(wall, other.wall);
    cpu = std::min(cpu, other.cpu);
  }
};
double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
Seconds timed(const Step& step, int n) {
  const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < n; ++i) step();
  return {(now(CLOCK_MONOTONIC) - wall) / n, (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n};
}

struct Ways {
  Step whole, share, together;  ///< whole: on the first rank only
  int steps;                    ///< timed at once
};

struct Times {
  Seconds whole, share, apart, together;
};

Times measure(const Comm& comm, Stages& stages, const Ways& ways, int rounds) {
  Times best;
  // What all do counts by its slowest rank: a step together ends with the last.
  const auto slowest = [&](Seconds own) { return Seconds{comm.maximum(own.wall), comm.maximum(own.cpu)}; };
  for (int round = 0; round < rounds; ++round) {
    stages.alone([&] { best.whole.least(timed(ways.whole, ways.steps)); });
    stages.alone([&] { best.share.least(timed(ways.share, ways.steps)); });
    best.apart.least(slowest(timed(ways.share, ways.steps)));
    comm.barrier();
    best.together.least(slowest(timed(ways.together, ways.steps)));
  }
  return best;
}

Step simulation(const Comm& comm, int nx, int nz) {
  struct Held {
    convection::Problem problem;
    std::unique_ptr<convection::Grid> grid;
    std::unique_ptr<convection::Boussinesq> flow;
    int step = 0;
  };
  auto held = std::make_shared<Held>();
  held->problem.rayleigh = 1e6;
  held->grid =
      std::make_unique<convection::Grid>(comm, make_axis(0, 4, nx, convection::Spacing::uniform, 0, true),
                                         make_axis(-0.5, 0.5, nz, convection::Spacing::tanh, 1.2, false));
  held->flow = std::make_unique<convection::Boussinesq>(held->problem, *held->grid,
                                                        make_transform_solver(held->problem, *held->grid), 1);
  convection::Start start;
  start.roll = 0.1;
  fill(held->problem, start, 1, *held->flow, 0);
  held->flow->start(Exec());
  return [held] { held->flow->advance(Exec(), 0.002 * (1 + 1e-6 * (held->step++ % 1000))); };
}

Step training(const Comm& comm, int batch, const ParallelOptions& parallel = {}) {
  struct Held {
    FlowTrainer<float> trainer;
    Batch batch;
    std::int64_t step = 0;
  };
  FlowTrainerOptions options;
  options.batch = batch;
  options.parallel = parallel;
  auto held = std::make_shared<Held>(
      Held{FlowTrainer<float>(comm, {paper_header(), {}, {}}, options, {{1, 1e6}}), {}});
  held->batch = paper_batch(held->trainer.first_crop(), held->trainer.n_crops());
  return [held] { static_cast<void>(held->trainer.step(held->batch, held->step++, 1e-5)); };
}

/// Steps of all ranks together, by who holds what (docs/large_models.md), in turns; ratios to the first way.
std::vector<std::string> stages(const Comm& comm, int batch, int rounds, double bucket) {
  struct Row {
    std::string name;
    Step step;
    Seconds best{};
  };
  std::vector<Row> rows;
  const auto add = [&](const char* name, ParallelStrategy strategy, int stage, Holder holder,
                       Progress progress = Progress::blocks) {
    ParallelOptions parallel;
    parallel.progress = progress;
    if (bucket >= 0) parallel.bucket = bucket;
    parallel.strategy = strategy;
    parallel.stage = stage;
    parallel.holder = holder;
    rows.push_back({name, training(comm, batch, parallel)});
  };
  add("data, holder node", ParallelStrategy::data, 1, Holder::node);
  add("stage 2, holder node", ParallelStrategy::sharded, 2, Holder::node);
  add("data, holder rank", ParallelStrategy::data, 1, Holder::rank);
  add("stage 1, holder rank", ParallelStrategy::sharded, 1, Holder::rank);
  add("stage 2, holder rank", ParallelStrategy::sharded, 2, Holder::rank);
  add("stage 2, holder rank, progress none", ParallelStrategy::sharded, 2, Holder::rank, Progress::none);
  add("stage 3, holder rank", ParallelStrategy::sharded, 3, Holder::rank);
  add("stage 3, holder rank, progress none", ParallelStrategy::sharded, 3, Holder::rank, Progress::none);
  for (int round = 0; round < rounds; ++round)
    for (auto& row : rows) {
      comm.barrier();
      const Seconds own = timed(row.step, 1);
      row.best.least({comm.maximum(own.wall), comm.maximum(own.cpu)});
    }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    const auto& first = rows.front().best;
    if (!comm.is_root()) continue;
    fmt::print("train, {}: CPU {:.4g} s ({:.3f}), wall {:.4g} s ({:.3f})\n", row.name, row.best.cpu,
               row.best.cpu / first.cpu, row.best.wall, row.best.wall / first.wall);
    lines.push_back(fmt::format(
        R"({{"bench": "meshfreeflow_ranks", "case": "{}, {} ranks", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "CPU s/step"}})",
        row.name, comm.size(), row.best.cpu, first.cpu, first.cpu / row.best.cpu));
  }
  return lines;
}

void run(bool quick, bool train, bool only_stages, int rounds, double bucket) {
  const Comm comm = Comm::world();
  Stages stages(comm);
  const int n = comm.size();
  std::vector<std::string> rows;
  const auto compare = [&](const std::string& name, const Ways& ways, int times) {
    const Times t = measure(comm, stages, ways, times);
    if (!comm.is_root()) return;
    for (const auto& [clock, part] : {std::pair{"CPU", &Seconds::cpu}, std::pair{"wall", &Seconds::wall}}) {
      const double whole = t.whole.*part, share = t.share.*part, apart = t.apart.*part,
                   together = t.together.*part;
      fmt::print(
          "{}, {} s: whole {:.4g}, share {:.4g}, apart {:.4g}, together {:.4g}: strong {:.1f} %, weak {:.1f} "
          "%, of what the cores do apart {:.1f} %\n",
          name, clock, whole, share, apart, together, 100 * whole / (n * together), 100 * share / together,
          100 * apart / together);
      rows.push_back(fmt::format(
          R"({{"bench": "meshfreeflow_ranks", "case": "{}, {} ranks", "ours": {:.5g}, "peer": {:.5g}, "ratio": {:.4g}, "unit": "{} s/step", "strong": {:.4f}, "weak": {:.4f}, "communication": {:.4f}}})",
          name, n, together, whole, whole / together, clock, whole / (n * together), share / together,
          apart / together));
    }
    std::fflush(stdout);
  };
  const Comm self = Comm::self();
  if (only_stages) {
    rows = quintet::flow::stages(comm, 10 / n * n, rounds, bucket);
    if (comm.is_root()) fmt::print("[{}]\n", fmt::join(rows, ", "));
    return;
  }
  for (const auto& [nx, nz] : {std::pair{256, 64}, std::pair{512, 128}, std::pair{1024, 256}}) {
    Step whole;
    if (comm.is_root()) whole = simulation(self, nx, nz);
    compare(fmt::format("simulate {} x {}", nx, nz),
            {whole, simulation(self, nx, nz / n), simulation(comm, nx, nz),
             std::max(1, 2 * 256 * 64 / (nx * nz))},
            50 * rounds);
    if (quick) break;
  }
  if (train) {
    const int batch = 10 / n * n;
    Step whole;
    if (comm.is_root()) whole = training(self, batch);
    compare(fmt::format("train, batch {}", batch),
            {whole, training(self, batch / n), training(comm, batch), 1}, rounds);
  }
  if (comm.is_root()) fmt::print("[{}]\n", fmt::join(rows, ", "));
}

}  // namespace
}  // namespace quintet::flow

int main(int argc, char** argv) {
  try {
    bool quick = false, train = true, only_stages = false;
    int rounds = 10;
    double bucket = -1;
    for (int i = 1; i < argc; ++i) {
      const std::string flag = argv[i];
      if (flag == "--quick")
        quick = true, rounds = 2;
      else if (flag == "--no-train")
        train = false;
      else if (flag == "--stages")
        only_stages = true;
      else if (flag == "--rounds" && i + 1 < argc)
        rounds = std::stoi(argv[++i]);
      else if (flag == "--bucket" && i + 1 < argc)
        bucket = std::stod(argv[++i]);
      else
        throw quintet::UsageError(
            "mpirun -n N meshfreeflow_ranks [--quick] [--no-train] [--stages [--bucket MB]] [--rounds N]");
    }
    const quintet::Runtime runtime(argc, argv, 1, {quintet::torch_subsystem()});
    quintet::flow::run(quick, train, only_stages, rounds, bucket);
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
