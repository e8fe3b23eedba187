#include "surrogates/potential/exported/library/compiled_module.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <utility>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <omp.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/version.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"

namespace quintet::potential {

namespace {

/// While it lives, threads that code asks for are not made where the run has one.
class AsManyThreadsAsTheRun {
 public:
  AsManyThreadsAsTheRun() : levels_(omp_get_max_active_levels()) {
    if (at::get_num_threads() == 1) omp_set_max_active_levels(0);
  }
  ~AsManyThreadsAsTheRun() { omp_set_max_active_levels(levels_); }
  AsManyThreadsAsTheRun(const AsManyThreadsAsTheRun&) = delete;
  AsManyThreadsAsTheRun& operator=(const AsManyThreadsAsTheRun&) = delete;

 private:
  int levels_;
};

/// LibTorch unpacks code to TMPDIR before it loads it.
void require_place_to_unpack(const std::string& path) {
  const char* const given = std::getenv("TMPDIR");
  const std::string folder = given ? given : "/tmp";
  QUINTET_CHECK(
      access(folder.c_str(), W_OK | X_OK) == 0,
      "{}: its code is unpacked to {} (TMPDIR), where no file can be written; set TMPDIR to a folder "
      "of yours",
      path, folder);
}

}  // namespace

struct CompiledModule::Held {
  explicit Held(const std::string& path) : loader(path, "model", false, 1, -1) {}
  torch::inductor::AOTIModelPackageLoader loader;
};

CompiledModule::CompiledModule(std::string path) : path_(std::move(path)) {
  require_place_to_unpack(path_);
  try {
    held_ = std::make_unique<Held>(path_);
  } catch (const std::exception&) {
    try {
      rethrow_torch_error("Reading " + path_, ExitCode::input);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}. Was it compiled by another version of PyTorch? This is LibTorch {}, and wants a "
                      "model that was compiled by it",
                      error.what(), TORCH_VERSION));
    }
  }
}
CompiledModule::~CompiledModule() = default;

std::vector<at::Tensor> CompiledModule::run(const std::vector<at::Tensor>& inputs) const {
  return translate_torch_errors(
      "Evaluating " + path_,
      [&] {
        const AsManyThreadsAsTheRun threads;
        const c10::InferenceMode no_gradients;
        return held_->loader.run(inputs);
      },
      ExitCode::input);
}

}  // namespace quintet::potential
