#include "io/machine/machine.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

/// What reading this text as a machine's file says.
std::string refusal(const std::string& text) {
  const Scratch scratch("machine");
  write_text_file(scratch / "m.yaml", text);
  try {
    (void)read_machine(scratch / "m.yaml");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(machine, files_of_the_project_are_read_by_name) {
  for (const char* name : {"local", "abci3", "slurm_gpu", "slurm_cpu"}) {
    EXPECT_EQ(read_machine(name).name, name);
  }
}

TEST(machine, abci3_has_its_published_limits) {
  const Machine machine = read_machine("abci3");

  const auto& full = queue_named(machine, "rt_HF");
  EXPECT_EQ(*full.nodes_max, 128);
  EXPECT_EQ(*full.walltime_max, 168 * 3600.0);
  EXPECT_EQ(*full.node_hours_max, 21504);
  EXPECT_EQ(full.gpus, 8);
  EXPECT_EQ(*full.memory, 1.92e12);
  EXPECT_EQ(*queue_named(machine, "rt_HC").cores, 16);
  EXPECT_EQ(*machine.limits.array_tasks, 75000);
  EXPECT_EQ(machine.node.nics->bandwidth, 25e9);
  EXPECT_EQ(machine.node.gpus->peak_bf16, 989e12);
  EXPECT_FALSE(machine.rates.gemm_fp64);  // nobody has published it
  EXPECT_TRUE(machine.links.empty());
  EXPECT_FALSE(machine.provenance.empty());
}

TEST(machine, what_is_written_is_read_back_the_same) {
  Machine machine = read_machine("abci3");
  machine.links.push_back(
      {.level = LinkLevel::node, .ranks_max = 2, .alpha = 4.25e-7, .beta = 1.0 / 7e9, .measured = true});
  machine.rates.gemm_fp64 = 5.4321e10;
  machine.rates.all_reduce = {{2, 8, 1.5e-6, 0.25}};
  machine.rates.spread = {{"gemm_fp64", 0.03}};
  const Scratch scratch("machine");
  write_text_file(scratch / "m.yaml", machine_text(machine));

  const Machine again = read_machine(scratch / "m.yaml");

  EXPECT_EQ(machine_text(again), machine_text(machine));
  EXPECT_EQ(again.links.at(0).beta, machine.links[0].beta);
  EXPECT_EQ(again.rates.gemm_fp64, machine.rates.gemm_fp64);
}

TEST(machine, a_typo_is_told_with_its_place_and_what_was_meant) {
  const auto text = refusal("name: x\nqueues:\n  - name: q\n    waltime_max: 3 h\n");
  EXPECT_TRUE(says(text, "m.yaml:4:5")) << text;
  EXPECT_TRUE(says(text, "queues.0.waltime_max: unknown key; did you mean 'walltime_max'?")) << text;
}

TEST(machine, all_mistakes_are_told_at_once) {
  const auto text = refusal(
      "about: nameless\nscheduler: {kind: slrum}\nnode: {memory: 5}\nlaunch: {command: 'mpirun -np {rank}'}\n"
      "queues: [{name: a, nodes_min: 3, nodes_max: 2}]\n");
  for (const char* part : {"name: required key is missing", "unknown value 'slrum'", "did you mean 'slurm'",
                           "'5' needs a unit", "{rank}", "did you mean 'ranks'", "nodes_max = 2 is less"})
    EXPECT_TRUE(says(text, part)) << part << " is not in\n" << text;
}

TEST(machine, two_queues_of_one_name_and_a_bad_pattern_are_refused) {
  EXPECT_TRUE(says(refusal("name: x\nqueues: [{name: a}, {name: a}]\n"), "two queues are called 'a'"));
  EXPECT_TRUE(says(refusal("name: x\nscheduler: {id_pattern: '['}\n"), "no regular expression"));
  EXPECT_TRUE(says(refusal("name: x\nenvironment: {variables: [a b]}\n"), "expected NAME=value"));
}

TEST(machine, an_unknown_name_is_told_with_those_there_are) {
  try {
    (void)read_machine("abci4");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(says(error.what(), "did you mean 'abci3'?")) << error.what();
    EXPECT_TRUE(says(error.what(), "slurm_gpu")) << error.what();
  }
}

TEST(machine, local_is_what_this_computer_says) {
  const Machine machine = read_machine("local");

  ASSERT_TRUE(machine.node.threads);
  EXPECT_LE(*machine.node.threads, static_cast<std::int64_t>(std::thread::hardware_concurrency()));
  EXPECT_GE(*machine.node.threads, machine.node.cores.value_or(1));
  ASSERT_TRUE(machine.node.memory);
  EXPECT_GT(*machine.node.memory, 1e8);
  EXPECT_TRUE(std::filesystem::is_directory(machine.node.scratch));
  EXPECT_GT(*machine.node.scratch_size, 0);
}

TEST(machine, what_the_file_says_is_not_detected_over) {
  Machine machine, detected;
  machine.node.cores = 3;
  detected.node.cores = 5;
  detected.node.sockets = 1;

  fill_in(machine, detected);

  EXPECT_EQ(*machine.node.cores, 3);
  EXPECT_EQ(*machine.node.sockets, 1);
}

TEST(machine, the_scheduler_is_that_whose_command_is_there) {
  const Scratch scratch("path");
  const std::string path = std::getenv("PATH");
  setenv("PATH", scratch.path().c_str(), 1);
  EXPECT_EQ(detected_machine().scheduler.kind, SchedulerKind::none);
  std::ofstream(scratch / "qsub") << "#!/bin/sh\n";
  EXPECT_EQ(detected_machine().scheduler.kind, SchedulerKind::none);  // may not be executed
  std::filesystem::permissions(scratch / "qsub", std::filesystem::perms::owner_all);
  EXPECT_EQ(detected_machine().scheduler.kind, SchedulerKind::pbs);
  setenv("PATH", path.c_str(), 1);
}

TEST(machine, a_link_is_that_of_the_fewest_ranks_that_are_enough) {
  Machine machine;
  machine.links = {{.level = LinkLevel::network, .alpha = 3e-6},
                   {.level = LinkLevel::network, .ranks_max = 64, .alpha = 1e-6},
                   {.level = LinkLevel::node, .alpha = 2e-7}};
  EXPECT_EQ(find_link(machine, LinkLevel::network, 8)->alpha, 1e-6);
  EXPECT_EQ(find_link(machine, LinkLevel::network, 65)->alpha, 3e-6);
  EXPECT_EQ(find_link(machine, LinkLevel::node, 2)->alpha, 2e-7);
  EXPECT_EQ(find_link(machine, LinkLevel::gpus, 2), nullptr);
}

}  // namespace
}  // namespace quintet
