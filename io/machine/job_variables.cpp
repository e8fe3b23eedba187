#include "io/machine/job_variables.hpp"

#include <algorithm>
#include <iterator>

namespace quintet {
namespace {

constexpr std::string_view of_launcher[] = {"PMIX_",
                                            "PMI_",
                                            "PMI2_",
                                            "HYDI_",
                                            "OMPI_COMM_",
                                            "OMPI_UNIVERSE_",
                                            "OMPI_APP_CTX_",
                                            "OMPI_FIRST_",
                                            "OMPI_NUM_",
                                            "OMPI_ARGV",
                                            "OMPI_COMMAND",
                                            "OMPI_FILE_",
                                            "OMPI_REACHABLE",
                                            "OMPI_MCA_ess",
                                            "OMPI_MCA_orte_",
                                            "OMPI_MCA_pmix",
                                            "OMPI_MCA_initial_wdir",
                                            "OMPI_MCA_num_procs",
                                            "OMPI_MCA_shmem_RUNTIME",
                                            "OMPI_VERSION",
                                            "PRTE_"};
constexpr std::string_view of_scheduler[] = {"SLURM_", "SBATCH_", "SQUEUE_", "SCANCEL_", "SACCT_",
                                             "SINFO_", "SRUN_",   "SALLOC_", "PBS_"};
/// Where the scheduler is; PBS_STUB... and SLURM_STUB... are those of the tests' stand-ins.
constexpr std::string_view of_site[] = {"SLURM_CONF",    "SLURM_CLUSTERS", "SLURM_JWT",     "SLURM_STUB",
                                        "PBS_CONF_FILE", "PBS_SERVER",     "PBS_DEFAULT",   "PBS_EXEC",
                                        "PBS_HOME",      "PBS_PRIMARY",    "PBS_SECONDARY", "PBS_STUB"};

template <class Prefixes>
bool begins_with_one_of(const Prefixes& prefixes, std::string_view variable) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace

bool is_of_launcher(std::string_view variable) { return begins_with_one_of(of_launcher, variable); }

bool is_of_a_job(std::string_view variable) {
  return is_of_launcher(variable) ||
         (begins_with_one_of(of_scheduler, variable) && !begins_with_one_of(of_site, variable));
}

CommandResult ask_scheduler(const std::vector<std::string>& words, double limit_s) {
  return run_command(words, limit_s, is_of_a_job);
}

}  // namespace quintet
