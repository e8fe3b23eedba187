#include "apps/application/cli/application.hpp"
#include "apps/quintet/bench/metg.hpp"
#include "apps/quintet/campaign/campaign.hpp"
#include "apps/quintet/commands.hpp"
#include "apps/quintet/lammps/plugin.hpp"
#include "apps/quintet/machine/machine.hpp"
#include "apps/quintet/plan/plan.hpp"
#include "apps/quintet/registry/registry.hpp"
#include "apps/quintet/submit/submit.hpp"
#include "apps/quintet/verify/verify.hpp"
#include "io/hdf5/file.hpp"

// One call for each command, in the order of the help text; flags describe themselves.
int main(int argc, char** argv) {
  namespace commands = quintet::commands;
  return quintet::Application("quintet", "what all runs of the suite share")
      .local_command("inspect", "Say what a file is: provenance and datasets of HDF5, atoms, a model",
                     {{"FILE", "the file, or a DeePMD folder", true, ""}}, commands::inspect)
      .local_command<commands::ReportFlags>(
          "report",
          "Show the headline numbers of runs side by side and write a page that links their reports",
          {{"directories", "DIR..."}}, commands::report)
      .local_command("schema", "Print the JSON Schema of an application's YAML file, for editors",
                     {{"APP", "the application, e.g. dpmd", true, ""}, {"COMMAND", "its command", false, ""}},
                     commands::schema)
      .local_command<commands::MachineFlags>(
          "machine", "Say what a machine is: cores, memory, queues, links, rates; or measure it",
          {{"name", "NAME"}}, commands::machine)
      .plain_command<commands::MeasureFlags>(
          "measure", "Measure rates and links on the ranks it is started on (machine --calibrate)",
          {{"name", "NAME"}}, commands::measure)
      .plain_command("bench", "Measure what a machine and its messages cost (metg: how short tasks may be)",
                     quintet::bench::flags(), quintet::bench::metg_of_graph)
      .local_with("--app", quintet::bench::metg_of_application)
      .local_command<commands::PlanFlags>(
          "plan", "Say what a run would take on other numbers of ranks: time, memory, words, node-hours",
          {{"file", "FILE"}}, commands::plan)
      .local_command<commands::SubmitFlags>(
          "submit", "Queue a run: limits checked, inputs staged, restarts until it is done",
          {{"file", "FILE"}}, commands::submit)
      .local_command("status", "Say what the jobs of a run directory do and how far the run is",
                     commands::status_flags(), commands::status)
      .local_command("cancel", "Take the jobs of a run directory from the queue, with a checkpoint",
                     commands::cancel_flags(), commands::cancel)
      .local_command("retry", "Ask for more where the job before had too little (job scripts call it)",
                     commands::retry_flags(), commands::retry)
      .local_command<commands::CampaignFlags>(
          "campaign", "Run a graph of commands, none of them twice: stages, slots, a store",
          {{"files", "FILE..."}}, commands::campaign)
      .local_command<commands::RegistryOptions>(
          "registry", "Many models in one file: add, list, verify, remove (docs/experts.md)",
          {{"action", "ACTION"}, {"file", "FILE.h5"}, {"models", "MODEL..."}}, commands::registry)
      .local_command("verify", "Say whether what a run wrote is whole: checkpoints, tables, frames, models",
                     commands::verify_flags(), commands::verify)
      .local_command("lammps-plugin", "Compile pair_style quintet for your LAMMPS, and check it there",
                     commands::lammps_plugin_flags(), commands::lammps_plugin)
      .page(commands::campaign_page)
      .execute(argc, argv);
}
