#include "surrogates/potential/exported/exported_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "io/files/zip_file.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/exported/compiled_package.hpp"

namespace quintet::potential {

namespace {

bool begins_as_archive(const std::string& path) {
  std::array<char, 4> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file.gcount() == 4 && std::string_view(begin.data(), 4) == std::string_view("PK\x03\x04", 4);
}

}  // namespace

bool is_exported(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".pth" || ending == ".pt" || ending == ".pt2" || begins_as_archive(path);
}

ExportedKind exported_kind(const std::string& path) {
  const ZipFile archive(path);
  const auto names = archive.names();
  const auto has = [&](std::string_view part) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return ("/" + name).find(part) != std::string::npos; });
  };
  if (has("/code/") && has("/data.pkl")) return ExportedKind::torchscript;
  if (is_compiled_package(names)) return ExportedKind::compiled;
  QUINTET_CHECK(
      !has("/data.pkl"),
      "{}: a training's checkpoint or a pickled model, not an exported one. From DeePMD-kit: dp --pt "
      "freeze -c {} -o model.pth; from MACE: mace_create_lammps_model {} --format libtorch",
      path, path, path);
  throw InputError(path +
                   ": an archive, but neither one of TorchScript nor of AOTInductor: it holds no code");
}

}  // namespace quintet::potential
