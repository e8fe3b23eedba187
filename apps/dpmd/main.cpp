#include "apps/application/cli/application.hpp"
#include "apps/dpmd/convert/compress.hpp"
#include "apps/dpmd/convert/convert.hpp"
#include "apps/dpmd/convert/expert.hpp"
#include "apps/dpmd/convert/from_deepmd.hpp"
#include "apps/dpmd/convert/inspect.hpp"
#include "apps/dpmd/evaluate/elastic_constants.hpp"
#include "apps/dpmd/evaluate/equation_of_state.hpp"
#include "apps/dpmd/evaluate/evaluate.hpp"
#include "apps/dpmd/ipi/serve.hpp"
#include "apps/dpmd/label/label.hpp"
#include "apps/dpmd/learn/learn.hpp"
#include "apps/dpmd/learn/selection_command.hpp"
#include "apps/dpmd/run/cost.hpp"
#include "apps/dpmd/run/run.hpp"
#include "apps/dpmd/run/sizes.hpp"
#include "apps/dpmd/test/test.hpp"
#include "apps/dpmd/train/cost.hpp"
#include "apps/dpmd/train/train.hpp"

/// Deep Potential molecular dynamics.
int main(int argc, char** argv) {
  namespace dpmd = quintet::dpmd;
  return quintet::Application("dpmd", "Deep Potential molecular dynamics")
      .may_load_torch()
      .command<dpmd::RunOptions>("run", "Run molecular dynamics or a minimisation", dpmd::run)
      .cost<dpmd::RunOptions>(dpmd::cost)
      .sizes<dpmd::RunOptions>(dpmd::sizes)
      .command<dpmd::TrainOptions>("train", "Train a Deep Potential on labelled frames", dpmd::train)
      .cost<dpmd::TrainOptions>(dpmd::train_cost)
      .instead(
          {"--from-deepmd", "translate DeePMD-kit's input.json; --output names the YAML file", false, ""},
          dpmd::from_deepmd)
      .command<dpmd::EquationOptions>("equation_of_state",
                                      "Lattice constant, energy and bulk modulus of a crystal",
                                      dpmd::equation_of_state)
      .command<dpmd::ElasticOptions>("elastic_constants",
                                     "Elastic constants, stability and moduli of a crystal",
                                     dpmd::elastic_constants)
      .command<dpmd::LearnOptions>("learn", "Active learning: train, run, select, label, again", dpmd::learn)
      .plain_command<dpmd::EvaluateOptions>(
          "evaluate", "Energies, forces, virials and atomic energies of given configurations",
          {{"systems", "SYSTEM..."}}, dpmd::evaluate)
      .plain_command<dpmd::ServeCommandOptions>("serve",
                                                "Answer i-PI, ASE or another server of i-PI's protocol",
                                                {{"structures", "STRUCTURE..."}}, dpmd::serve)
      .plain_command<dpmd::TestOptions>(
          "test", "How far a model is from the labels of systems",
          {{"systems", "SYSTEM..."}, {"prefix", "--labels"}, {"stress_limit", ""}}, dpmd::test)
      .plain_command<dpmd::InspectOptions>(
          "inspect", "What a model is, block by block; or what is understood of a file of atoms",
          {{"file", "MODEL"}}, dpmd::inspect)
      .plain_command<dpmd::CompressOptions>(
          "compress", "Tabulate a model's embedding networks, for programs that need it",
          {{"file", "MODEL"}, {"data", "--data..."}}, dpmd::compress)
      .plain_command<dpmd::ConvertOptions>("convert",
                                           "Models between .dp and .yaml, precisions, old versions and new",
                                           {{"in", "IN"}, {"out", "OUT"}}, dpmd::convert)
      .plain_command("expert", "Say what a registry of models is to know of one", dpmd::expert_flags(),
                     dpmd::expert)
      .plain_command<dpmd::SelectCommandOptions>("select",
                                                 "Frames worth a label, by the deviation of several models",
                                                 {{"frames", "FRAMES..."}}, dpmd::select)
      .plain_command<dpmd::LabelCommandOptions>(
          "label", "Energies, forces and virials of frames by CP2K, LAMMPS or i-PI drivers",
          {{"with", "--with", true}, {"frames", "FRAMES..."}}, dpmd::label)
      .execute(argc, argv);
}
