#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "io/runtime/runtime.hpp"
#include "surrogates/potential/training/kernel_passes.hpp"
#include "surrogates/potential/training/torch/frame_rows.hpp"
#include "surrogates/potential/training/torch/torch_passes.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/torch/train_case.hpp"
#include "tests/bench/potential/driver_arguments.hpp"
#include "tests/bench/potential/water_training.hpp"

/// dpmd_train_case --data SYSTEM --output CASE: a frame of water, a model that begins, and the predictions
/// and the gradient that our kernels find for them, for build/tests/bench/device_train.
namespace {

using namespace quintet;
using namespace quintet::potential;

template <class Real>
train_case::Step<Real> make_step(const Model& model, const TrainingFrame& frame) {
  train_case::Step<Real> step;
  const ParameterLayout places(model);
  const auto parameters = parameters_of(model, places);
  step.parameters.assign(parameters.begin(), parameters.end());
  Environment::Scratch scratch;
  const AtomShare share = share_of(frame, model, {});
  step.rows = make_rows<Real>(frame, share, model, Environment(model, SelRule::per_type), scratch);

  KernelPasses<Real> kernels(model, places, SelRule::per_type);
  const TrainingFrame* one[] = {&frame};
  kernels.cover(frame.least_distance);
  kernels.refresh(one, step.parameters.data(), true);
  kernels.predict(one, {}, {&step.prediction, 1}, true);
  step.prediction.energy -= share.energy;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  step.adjoint.energy = 0.3;
  for (std::size_t i = 0; i < step.prediction.force.size(); ++i)
    step.adjoint.force.push_back(uniform(random));
  for (double& v : step.adjoint.virial) v = uniform(random);
  step.gradient.assign(places.size, Real(0));
  kernels.differentiate(one, {&step.adjoint, 1}, step.gradient.data());
  kernels.collect(step.gradient.data());
  return step;
}

void run(const DriverArguments& arguments) {
  const auto systems = read_water(arguments.text("--data"));
  const Model model = water_model(systems, false);
  const TrainingFrame frame = make_frame(systems.front().frames.front(), model.rcut);
  train_case::Case c;
  c.shapes = shapes_of(model, ParameterLayout(model));
  c.in_double = make_step<double>(model, frame);
  c.in_single = make_step<float>(model, frame);
  device_bench::write_cases(c, arguments.text("--output"));
  std::printf("%d atoms, %d slots each, %lld parameters\n", frame.n_atoms, model.n_slots(),
              static_cast<long long>(c.shapes.n_parameters));
}

}  // namespace

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  try {
    run(DriverArguments(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dpmd_train_case: %s\n", error.what());
    std::_Exit(1);
  }
}
