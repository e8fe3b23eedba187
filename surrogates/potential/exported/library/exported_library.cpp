#include "surrogates/potential/exported/library/exported_library.hpp"

#include <ATen/Parallel.h>

#include "io/log/error.hpp"
#include "surrogates/potential/exported/library/compiled_deepmd_model.hpp"
#include "surrogates/potential/exported/library/compiled_nequip_model.hpp"
#include "surrogates/potential/exported/library/deepmd_model.hpp"
#include "surrogates/potential/exported/library/mace_model.hpp"
#include "surrogates/potential/exported/library/script_module.hpp"

namespace quintet::potential {

ExportedModel* quintet_open_exported_model(const std::string& path,
                                           const std::vector<double>& frame_parameters, int threads) {
  at::set_num_threads(threads);
  auto script = load_script(path);
  if (is_deepmd(*script)) return new DeepmdModel(path, std::move(script), frame_parameters);
  if (is_mace(*script)) return new MaceModel(path, std::move(script), frame_parameters);
  throw InputError(
      path +
      ": a model for LibTorch, but neither one that DeePMD-kit's PyTorch back end has frozen (it "
      "has no forward_lower) nor one of mace_create_lammps_model --format libtorch (it has no "
      "r_max)");
}

ExportedModel* quintet_open_compiled_model(const CompiledPackage& package, int threads) {
  at::set_num_threads(threads);
  if (package.maker == CompiledPackage::Maker::deepmd) return new CompiledDeepmdModel(package);
  return new CompiledNequipModel(package);
}

}  // namespace quintet::potential
