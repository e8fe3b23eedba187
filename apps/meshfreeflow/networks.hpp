#pragma once

namespace quintet::meshfreeflow {

/// Runs the application with all its commands, those with networks among them: from a library with LibTorch,
/// which would take a start of the others 0.2 s to load. Without it the commands are there, but say what is
/// missing. Returns the exit code.
int run_with_networks(int argc, char** argv);

}  // namespace quintet::meshfreeflow

extern "C" {
/// Runs the application as run_with_networks() does; defined in that library.
int quintet_meshfreeflow_with_networks(int argc, char** argv);
}
