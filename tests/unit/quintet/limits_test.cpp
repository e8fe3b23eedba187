#include <cmath>
#include <map>
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "apps/quintet/submit/script.hpp"
#include "io/log/error.hpp"

/// No script breaks a published limit, and whatever is refused would have: thousands of random requests.
namespace quintet {
namespace {

/// The limits of a queue as published, typed here once more: the machine's file is tested too.
struct Published {
  std::int64_t nodes, cores, gpus;
  double memory, hours, node_hours;
};
const std::map<std::string, Published> published = {{"rt_HF", {128, 96, 8, 1920e9, 168, 21504}},
                                                    {"rt_HG", {1, 8, 1, 160e9, 168, INFINITY}},
                                                    {"rt_HC", {1, 16, 0, 320e9, 168, INFINITY}},
                                                    {"gpu", {64, 64, 4, 500e9, 24, INFINITY}},
                                                    {"cpu", {256, 128, 0, 250e9, 48, INFINITY}}};

/// A number in a script behind some words; `otherwise` if they are not there.
double number_behind(const std::string& script, const std::string& words, double otherwise) {
  std::smatch found;
  return std::regex_search(script, found, std::regex(words + "([0-9]+)")) ? std::stod(found[1]) : otherwise;
}

double hours_behind(const std::string& script, const std::string& words) {
  std::smatch found;
  if (!std::regex_search(script, found, std::regex(words + "([0-9]+):([0-9]{2}):([0-9]{2})")))
    return INFINITY;
  return std::stod(found[1]) + std::stod(found[2]) / 60 + std::stod(found[3]) / 3600;
}

/// What is wrong with a script by the published limits, read from the script alone; "" if nothing.
std::string fault(const std::string& script, bool is_abci) {
  std::smatch found;
  if (!std::regex_search(script, found,
                         std::regex(is_abci ? "#PBS -q (\\S+)" : "#SBATCH --partition=(\\S+)")))
    return "no queue";
  const auto& limit = published.at(found[1]);
  const double nodes = number_behind(script, is_abci ? "select=" : "--nodes=", INFINITY);
  const double ranks = number_behind(script, is_abci ? "mpiprocs=" : "--ntasks-per-node=", INFINITY);
  const double threads = number_behind(script, is_abci ? "ompthreads=" : "--cpus-per-task=", INFINITY);
  const double hours = hours_behind(script, is_abci ? "walltime=" : "--time=");
  const double memory = is_abci ? number_behind(script, ":mem=", 0) : number_behind(script, "--mem=", 0);
  if (!(nodes >= 1 && nodes <= static_cast<double>(limit.nodes))) return "nodes";
  if (!(ranks * threads <= static_cast<double>(limit.cores))) return "cores";
  if (!(hours <= limit.hours)) return "walltime";
  if (!(nodes * hours <= limit.node_hours * (1 + 1e-12))) return "node-hours";
  if (!(memory * 1048576 <= limit.memory + 1048576)) return "memory";
  if (number_behind(script, "--gpus-per-node=", 0) > static_cast<double>(limit.gpus)) return "GPUs";
  if (number_behind(script, "(?:-J 0-|--array=0-)", 0) + 1 > (is_abci ? 75000 : 1000)) return "array";
  if (is_abci && script.find("#PBS -P group") == std::string::npos) return "account";
  const double computes = hours_behind(script, "--walltime ");
  if (!(computes > 0 && computes < hours)) return "margin";
  return "";
}

class Requests {
 public:
  explicit Requests(unsigned seed) : random_(seed) {}

  /// Numbers of all sizes, and often those just at a limit.
  std::int64_t number(double most) {
    if (chance(0.15)) return static_cast<std::int64_t>(most) + pick(-1, 1);
    const std::int64_t n = std::exp(std::uniform_real_distribution<>(0, std::log(most * 1.5))(random_));
    return std::max<std::int64_t>(n, 1);
  }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  std::int64_t pick(std::int64_t a, std::int64_t b) {
    return std::uniform_int_distribution<std::int64_t>(a, b)(random_);
  }

  JobShape shape() {
    JobShape job{.account = chance(0.9) ? "group" : "",
                 .nodes = chance(0.4) ? 1 : number(128),
                 .ranks_per_node = number(96),
                 .threads = chance(0.5) ? 1 : number(12)};
    if (chance(0.4)) job.gpus_per_node = number(8);
    if (chance(0.3)) job.memory = 1e9 * number(1920);
    job.walltime = chance(0.1) ? 168 * 3600.0 + pick(-1, 1) : static_cast<double>(number(168 * 3600));
    job.margin = chance(0.5) ? 300 : static_cast<double>(number(3600));
    if (chance(0.2)) job.array_tasks = number(75000);
    if (chance(0.3)) job.chain = number(1000);
    return job;
  }

 private:
  std::mt19937 random_;
};

TEST(limits, no_random_request_leads_to_a_script_that_breaks_one) {
  const Machine machines[] = {read_machine("abci3"), read_machine("slurm_gpu"), read_machine("slurm_cpu")};
  Requests requests(20260130);
  int n_taken = 0, n_refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto& machine = machines[requests.pick(0, 2)];
    const bool is_abci = machine.name == "abci3";
    const auto& any = machine.queues[requests.pick(0, std::ssize(machine.queues) - 1)];
    const std::string queue = requests.chance(0.5) ? "" : any.name;
    const JobShape shape = requests.shape();
    const auto script_for = [&](const std::string& name) {
      return script_text(machine, {.name = "job",
                                   .directory = "/d",
                                   .input = "i.yaml",
                                   .executable = "/x",
                                   .command = "run",
                                   .queue = name,
                                   .shape = shape});
    };
    try {
      const auto& chosen = queue_for(machine, queue, [&](const MachineQueue&) { return shape; });
      EXPECT_EQ(fault(script_for(chosen.name), is_abci), "") << script_for(chosen.name);
      ++n_taken;
    } catch (const InputError& error) {
      // Each refusal names a key of the file, and each queue that was asked is told with one.
      EXPECT_TRUE(std::regex_search(
          error.what(),
          std::regex("\\((queues\\.\\w+\\.\\w+|limits\\.\\w+|stop\\.\\w+|scheduler\\.account_required) of " +
                     machine.name + "\\)")))
          << error.what();
      for (const auto& asked : machine.queues)
        if ((queue.empty() && !asked.reserved) || queue == asked.name) {
          EXPECT_NE(std::string(error.what()).find("\n" + asked.name + ": "), std::string::npos);
        }
      ++n_refused;
    }
  }
  EXPECT_GT(n_taken, 250);
  EXPECT_GT(n_refused, 500);
}

TEST(limits, nothing_is_refused_that_would_be_allowed) {
  const Machine machine = read_machine("abci3");
  Requests requests(7);
  int n = 0;
  for (int i = 0; i < 1000; ++i) {
    JobShape shape = requests.shape();
    // Limits that a script does not show.
    if (shape.chain > 1000 || shape.walltime < 1 ||
        (shape.gpus_per_node > 0 && shape.ranks_per_node % shape.gpus_per_node != 0))
      continue;
    for (const auto& queue : machine.queues) {
      if (shape.gpus_per_node > queue.gpus) continue;
      const auto script = script_text(machine, {.name = "job",
                                                .directory = "/d",
                                                .input = "i.yaml",
                                                .executable = "/x",
                                                .command = "run",
                                                .queue = queue.name,
                                                .shape = shape});
      const bool is_fine = fault(script, true).empty();
      EXPECT_EQ(broken_rules(machine, queue, shape).empty(), is_fine) << fault(script, true) << "\n"
                                                                      << script;
      n += is_fine ? 1 : 0;
    }
  }
  EXPECT_GT(n, 100);
}

}  // namespace
}  // namespace quintet
