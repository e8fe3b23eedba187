#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include "bridges/c/quintet.h"

/// Programs with a Kokkos that is libquintet_c's, too: who starts it, who ends it, and when. Kokkos starts
/// and ends once a process, so each is a process of its own, which must end as it wants and print nothing.
namespace {

constexpr double box[9] = {9, 0, 0, 0, 9, 0, 0, 0, 9};
constexpr double water[9] = {0, 0, 0, 0.76, 0.59, 0, -0.76, 0.58, 0.1};
constexpr int types[3] = {0, 1, 1};
int failed = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  failed = 1;
}

quintet_potential* opened() {
  const std::string file =
      std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/oneside.dp";
  const char* const name = file.c_str();
  return quintet_potential_open(1, &name, "double");
}

int compute(quintet_potential* potential, double& energy) {
  return quintet_potential_compute(potential, 0, 3, types, water, box, &energy, nullptr, nullptr, nullptr,
                                   nullptr);
}

double energy_of(quintet_potential* potential) {
  double energy = 0;
  expect(compute(potential, energy) == QUINTET_OK, quintet_potential_error(potential));
  expect(energy != 0, "it has an energy");
  return energy;
}

void expect_refused(quintet_potential* potential) {
  double energy = 5;
  const int types_of_all[1] = {-1};
  for (int again = 0; again < 2; ++again) {
    expect(compute(potential, energy) == QUINTET_RESOURCE, "the code of an evaluation is QUINTET_RESOURCE");
    expect(
        std::strstr(quintet_potential_error(potential), "was ended by the program that uses it") != nullptr,
        quintet_potential_error(potential));
  }
  expect(quintet_potential_set_neighbours(potential, 1, 0, types_of_all, 0, nullptr, nullptr, nullptr, ~0) ==
             QUINTET_RESOURCE,
         "a list is refused, too");
  expect(energy == 5, "nothing is written");
  expect(quintet_potential_cutoff(potential) > 0, "what was known is known still");
}

bool starts_twice() { return KOKKOS_VERSION < 30700; }

void host_starts_and_ends_it() {
  Kokkos::initialize();
  quintet_potential* const potential = opened();
  const double energy = energy_of(potential);
  expect(energy == energy_of(potential), "the same again");
  quintet_potential_close(potential);
  Kokkos::finalize();
}

void host_ends_it_before_its_handles() {
  Kokkos::initialize();
  quintet_potential *const used = opened(), *const unused = opened();
  energy_of(used);
  Kokkos::finalize();
  expect_refused(used);
  quintet_potential* const late = opened();
  expect(quintet_potential_code(late) == QUINTET_RESOURCE, "no handle can be opened any more");
  expect(std::strstr(quintet_potential_error(late), "was ended by the program") != nullptr,
         quintet_potential_error(late));
  for (auto* potential : {used, unused, late}) quintet_potential_close(potential);
}

/// Handles that are never given back, where a sanitizer sees that the host has them still.
std::array<quintet_potential*, 2> kept{};

void host_never_ends_it() {
  Kokkos::initialize();
  energy_of(kept[0] = opened());
}

void library_starts_it_and_nobody_ends_it() {
  quintet_potential* const potential = opened();
  expect(Kokkos::is_initialized(), "it is up");
  energy_of(potential);
  quintet_potential_close(potential);
  expect(Kokkos::is_initialized(), "it stays up for the next handle");
  energy_of(kept[1] = opened());
}

/// A host that does not ask whether it is up. Newer Kokkos ends such a host itself.
void library_starts_it_and_the_host_starts_it_again() {
  quintet_potential* const potential = opened();
  const double energy = energy_of(potential);
  if (!starts_twice()) return quintet_potential_close(potential);
  Kokkos::initialize();
  expect(energy_of(potential) == energy, "the same energy");
  quintet_potential_close(potential);
  Kokkos::finalize();
}

void library_starts_it_and_the_host_ends_it() {
  quintet_potential* const potential = opened();
  energy_of(potential);
  if (!Kokkos::is_initialized()) Kokkos::initialize();  // as a host does that expects to share it
  energy_of(potential);
  Kokkos::finalize();
  expect_refused(potential);
  quintet_potential_close(potential);
}

/// Handles of its first life stay refused, and so do new ones.
void host_starts_it_twice() {
  Kokkos::initialize();
  quintet_potential* const potential = opened();
  energy_of(potential);
  Kokkos::finalize();
  expect_refused(potential);
  if (starts_twice()) {
    Kokkos::initialize();
    expect_refused(potential);
    quintet_potential* const another = opened();
    expect(quintet_potential_code(another) == QUINTET_RESOURCE, quintet_potential_error(another));
    quintet_potential_close(another);
    quintet_potential_close(potential);
    Kokkos::finalize();
  } else {
    quintet_potential_close(potential);
  }
}

void host_has_ended_it_before_the_first_handle() {
  Kokkos::initialize();
  Kokkos::finalize();
  quintet_potential* const potential = opened();
  if (starts_twice())
    energy_of(potential);
  else
    expect(quintet_potential_code(potential) == QUINTET_RESOURCE, quintet_potential_error(potential));
  quintet_potential_close(potential);
}

struct Host {
  const char* name;
  void (*run)();
};
#define HOST(NAME) \
  Host { #NAME, &(NAME) }
const std::array hosts{HOST(host_starts_and_ends_it),
                       HOST(host_ends_it_before_its_handles),
                       HOST(host_never_ends_it),
                       HOST(library_starts_it_and_nobody_ends_it),
                       HOST(library_starts_it_and_the_host_starts_it_again),
                       HOST(library_starts_it_and_the_host_ends_it),
                       HOST(host_starts_it_twice),
                       HOST(host_has_ended_it_before_the_first_handle)};

/// What a host of this program prints, and how it ends.
bool is_fine(const char* program, const Host& host) {
  const std::string command = std::string(program) + " " + host.name + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string printed;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) printed += static_cast<char>(c);
  const int status = pclose(pipe);
  const bool fine = status == 0 && printed.empty();
  std::printf("%s %s\n%s", fine ? "OK    " : "FAILED", host.name, printed.c_str());
  if (status != 0) std::printf("       its status is %d\n", status);
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  bool fine = true;
  for (const auto& host : hosts) {
    if (argc == 1) fine = is_fine(argv[0], host) && fine;
    if (argc == 2 && std::strcmp(argv[1], host.name) == 0) return host.run(), failed;
  }
  return argc == 1 && fine ? 0 : 1;
}
