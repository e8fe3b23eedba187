#include "io/runtime/library_threads.hpp"

#include <cstdlib>
#include <functional>
#include <set>
#include <string>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace quintet {

namespace {
int told = 1;
std::set<std::string, std::less<>> variables;  // of the environment, that were not the user's
}  // namespace

void wait_passively(char** argv) {
  constexpr const char *policy = "OMP_WAIT_POLICY", *begun_anew = "QUINTET_WAITS_PASSIVELY";
  if (std::getenv(begun_anew) != nullptr) {
    unsetenv(begun_anew);
    variables.insert(policy);
    return;
  }
  if (std::getenv(policy) != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv(policy, "passive", 0);
  variables.insert(policy);
  if (dlsym(RTLD_DEFAULT, "omp_get_max_threads") == nullptr) return;
  // A program that the dynamic linker was told to start is not what /proc/self/exe is: the linker.
  if (getauxval(AT_BASE) == 0) return;
  setenv(begun_anew, "1", 1);
  // Where this fails threads spin: slower at worst.
  execv("/proc/self/exe", argv);
  unsetenv(begun_anew);
}

void set_library_threads(int threads) {
  told = threads;
  const auto text = std::to_string(threads);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (std::getenv(name) != nullptr) continue;
    setenv(name, text.c_str(), 0);
    variables.insert(name);
  }
  // Libraries linked to the program have read their environment already.
  for (const char* name : {"omp_set_num_threads", "openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (void* function = dlsym(RTLD_DEFAULT, name)) reinterpret_cast<void (*)(int)>(function)(threads);
  }
}

int library_threads() { return told; }

bool is_of_runtime(std::string_view variable) {
  return variables.contains(variable.substr(0, variable.find('=')));
}

}  // namespace quintet
