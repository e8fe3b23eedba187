#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/quintet/submit/answers.hpp"
#include "apps/quintet/submit/script.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

Machine slurm_machine() {
  Machine machine;
  machine.name = "m";
  machine.scheduler.kind = SchedulerKind::slurm;
  machine.queues = {{.name = "q"}};
  return machine;
}

Job small_job() {
  return {.name = "job",
          .directory = "/runs/a",
          .input = "i.yaml",
          .executable = "/x",
          .command = "run",
          .queue = "q",
          .shape = {.walltime = 3600, .margin = 60}};
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(heads, a_per_cent_in_a_path_stands_for_itself_and_an_array_has_a_log_a_task) {
  Job job = small_job();
  job.directory = "/runs/100%a it's";
  EXPECT_TRUE(has(head_options(slurm_machine(), job), "--output='/runs/100%%a it'\\''s/scheduler.log'"));
  job.shape.array_tasks = 3;
  EXPECT_TRUE(has(head_options(slurm_machine(), job), "--output='/runs/100%%a it'\\''s/scheduler_%a.log'"));
  Machine pbs = read_machine("abci3");
  job.directory = "/runs/100%a", job.queue = "rt_HC";
  EXPECT_TRUE(has(head_options(pbs, job), "-o /runs/100%a/scheduler_^array_index^.log"));
}

TEST(heads, paths_that_a_scheduler_would_misread_are_refused_before_anything_is_queued) {
  const Machine slurm = slurm_machine(), pbs = read_machine("abci3");
  for (const char* path : {"/a b/it's", "/100%a", "/x:y", "/\xc3\xbc", "/$HOME", "/a;b#c"})
    EXPECT_EQ(refusal([&] { require_head(slurm, path, "group"); }), "") << path;
  for (const char* path : {"/a\nb", "/a\\b", "/a\tb"})
    EXPECT_NE(refusal([&] { require_head(slurm, path, ""); }).find("--output DIR"), std::string::npos)
        << path;
  for (const char* path : {"/a b", "/x:y", "/\xc3\xbc", "/it's", "/^array_index^", "/a\nb"})
    EXPECT_NE(refusal([&] { require_head(pbs, path, ""); }).find("--output DIR"), std::string::npos) << path;
  EXPECT_EQ(refusal([&] { require_head(pbs, "/groups/g/x_1.2+3,4=5%@", "g"); }), "");
  EXPECT_NE(refusal([&] { require_head(slurm, "/a", "me; rm"); }).find("The account 'me; rm'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { require_head(slurm, "/a", "", "R 1"); }).find("The reservation"),
            std::string::npos);
}

TEST(heads, memory_is_asked_for_once) {
  Machine machine = slurm_machine();
  machine.queues[0].options = {"--mem-per-cpu=2G", "--hint=nomultithread"};
  Job job = small_job();
  EXPECT_TRUE(has(head_options(machine, job), "--mem-per-cpu=2G"));
  job.shape.memory = 1048576 * 500.0;
  const auto options = head_options(machine, job);
  EXPECT_TRUE(has(options, "--mem=500M") && has(options, "--hint=nomultithread"));
  EXPECT_FALSE(has(options, "--mem-per-cpu=2G"));
}

TEST(heads, a_reservation_is_a_queue_of_pbs_and_an_option_of_slurm) {
  Job job = small_job();
  job.reservation = "R1234", job.queue = "reserved";
  const auto options = head_options(read_machine("abci3"), job);
  EXPECT_TRUE(has(options, "-q R1234") && has(options, "-v RTYPE=rt_HF") && !has(options, "-q reserved"));
  job.queue = "q";
  EXPECT_TRUE(has(head_options(slurm_machine(), job), "--reservation=R1234"));
  EXPECT_TRUE(has(head_options(slurm_machine(), job), "--partition=q"));
}

TEST(heads, nodes_are_left_out_by_name) {
  Job job = small_job();
  job.exclude = {"n1", "n7"};
  EXPECT_TRUE(has(head_options(slurm_machine(), job), "--exclude=n1,n7"));
}

TEST(heads, the_shells_own_job_and_options_reach_no_command) {
  const Scratch scratch("heads");
  write_text_file(scratch / "submit", "#!/bin/sh\nenv > $(dirname $0)/environment; echo 12\n");
  std::filesystem::permissions(scratch / "submit", std::filesystem::perms::owner_all);
  Machine machine = slurm_machine();
  machine.scheduler.submit = machine.scheduler.status = machine.scheduler.cancel = scratch / "submit";
  const char* hidden[] = {"SLURM_JOB_ID",  "SBATCH_PARTITION", "SBATCH_EXPORT",        "SLURM_MEM_PER_CPU",
                          "SQUEUE_FORMAT", "PBS_JOBID",        "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                          "PBS_DPREFIX",   "PMI_RANK"};
  const char* kept[] = {"SLURM_CONF", "PBS_CONF_FILE", "OMPI_MCA_btl", "QUINTET_HEADS_TEST"};
  for (const auto* name : hidden) setenv(name, "1", 1);
  for (const auto* name : kept) setenv(name, "1", 0);
  EXPECT_EQ(Scheduler(machine).submit("job.sh", {}), "12");
  const std::string seen = run_command({"cat", scratch / "environment"}, 5).out;
  for (const auto* name : hidden) {
    EXPECT_EQ(("\n" + seen).find("\n" + std::string(name) + "="), std::string::npos) << name;
    unsetenv(name);
  }
  for (const auto* name : kept) {
    EXPECT_NE(("\n" + seen).find("\n" + std::string(name) + "="), std::string::npos) << name;
    unsetenv(name);
  }
}

TEST(heads, tasks_that_can_never_begin_are_taken_away_unless_the_machine_says_no) {
  Machine machine = slurm_machine();
  const auto words = [&] { return slurm_row.submit_words(machine, "sbatch", "job.sh", {.tasks = {"4"}}); };
  EXPECT_TRUE(has(words(), "--kill-on-invalid-dep=yes"));
  machine.scheduler.kill_on_invalid_dependency = false;
  EXPECT_FALSE(has(words(), "--kill-on-invalid-dep=yes"));
}

/// What a machine's lines of environment hand on, with this before them in the script.
std::string handed_on(const Machine& machine, const std::string& before) {
  const std::string script = before + "\n" + environment_lines(machine) + "echo " + "\"$QUINTET_HAND_ON \"";
  return run_command({"env", "-i", "PATH=/usr/bin:/bin", "HOME=/h", "bash", "-c", script}, 10).out;
}

TEST(heads, variables_and_paths_of_modules_go_to_ranks_that_ssh_starts) {
  Machine machine = slurm_machine();
  machine.environment.init = "export MODULE_SET='two words'; export LD_LIBRARY_PATH=/lib2";
  machine.environment.variables = {"FOO=hello", "SAME=1"};
  EXPECT_EQ(handed_on(machine, "export SAME=1"), " \n");
  machine.launch.command = "mpirun {variables} -np {ranks}";
  const std::string names = handed_on(machine, "export SAME=1 OTHER=1");
  for (const char* name : {" -x PATH ", " -x LD_LIBRARY_PATH ", " -x FOO ", " -x MODULE_SET "})
    EXPECT_NE(names.find(name), std::string::npos) << names;
  for (const char* name : {" -x HOME ", " -x OTHER ", " -x PWD ", " -x _ "})
    EXPECT_EQ(names.find(name), std::string::npos) << names;
}

TEST(heads, ranks_of_srun_have_the_scripts_environment_whatever_is_exported) {
  EXPECT_TRUE(environment_lines(slurm_machine()).starts_with("export SLURM_EXPORT_ENV=ALL\n"));
}

}  // namespace
}  // namespace quintet
