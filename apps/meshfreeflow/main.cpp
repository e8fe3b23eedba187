#include "apps/meshfreeflow/networks.hpp"
#include "apps/meshfreeflow/program.hpp"

/// Rayleigh-Bénard convection and its super-resolution. What is about flows alone starts without LibTorch.
int main(int argc, char** argv) {
  namespace meshfreeflow = quintet::meshfreeflow;
  if (meshfreeflow::is_about_flows(argc, argv))
    return meshfreeflow::run_program(argc, argv, [](quintet::Application&) {});
  return meshfreeflow::run_with_networks(argc, argv);
}
