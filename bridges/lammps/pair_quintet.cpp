/// `pair_style quintet MODEL [precision double|mixed|model] [device cpu|gpu|gpu:N|auto|portable]` for LAMMPS:
/// a Deep Potential by libquintet_c. Of a model that reads n numbers of each atom also `aparam V1 ... Vn`,
/// for all atoms; `aparam_of NAME V1 ... Vn`, for those of the model's type NAME; or `aparam_from_compute
/// ID`.
///
/// LAMMPS's classes change from one update of a release to the next, so this source is compiled for the very
/// LAMMPS that loads it (`quintet lammps-plugin`). It calls no MPI and formats its own texts: both would bind
/// it to one MPI and one fmt.
///
///     pair_style quintet water.dp
///     pair_coeff * * O H            (types of LAMMPS by the model's names; NULL: another pair style's)

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "atom.h"
#include "comm.h"
#include "compute.h"
#include "error.h"
#include "force.h"
#include "lammps.h"
#include "memory.h"
#include "modify.h"
#include "neigh_list.h"
#include "neighbor.h"
#include "pair.h"
#include "quintet.h"
#include "update.h"

namespace LAMMPS_NS {

class PairQuintet : public Pair {
 public:
  explicit PairQuintet(LAMMPS* lmp) : Pair(lmp) {
    one_coeff = 1;
    manybody_flag = 1;
    single_enable = 0;
    restartinfo = 0;
    respa_enable = 0;
    writedata = 0;
    no_virial_fdotr_compute = 1;
    centroidstressflag = CENTROID_AVAIL;
    pppmflag = 1;
  }
  PairQuintet(const PairQuintet&) = delete;
  PairQuintet& operator=(const PairQuintet&) = delete;
  ~PairQuintet() override {
    quintet_potential_close(potential_);
    if (allocated == 0) return;
    memory->destroy(setflag);
    memory->destroy(cutsq);
  }

  void settings(int n_words, char** words) override {
    if (n_words < 1)
      refuse(
          "a model is missing: pair_style quintet MODEL [precision double|mixed|model] [device "
          "cpu|gpu|auto]");
    std::string precision = "model", device = "cpu";
    parameters_ = Parameters();
    for (int i = 1; i < n_words; i += 2) {
      if (const int n = take_parameters(n_words - i, words + i); n > 0) {
        i += n - 2;
        continue;
      }
      const bool is_precision = std::strcmp(words[i], "precision") == 0;
      if (!is_precision && std::strcmp(words[i], "device") != 0)
        refuse("unknown keyword '" + std::string(words[i]) +
               "'; expected precision, device, aparam, aparam_of or aparam_from_compute. Several models: "
               "pair_style deepmd on our library "
               "(docs/beside_lammps.md)");
      if (i + 1 == n_words)
        refuse(is_precision ? "precision: a value is missing; expected double, mixed or model"
                            : "device: a value is missing; expected cpu, gpu, gpu:N, auto or portable");
      (is_precision ? precision : device) = words[i + 1];
    }
    units();
    const char* file = words[0];
    quintet_potential_close(potential_);
    potential_ = quintet_potential_open_on(1, &file, precision.c_str(), device.c_str());
    if (potential_ == nullptr) error->one(FLERR, std::string("pair_style quintet: out of memory"));
    if (quintet_potential_code(potential_) == QUINTET_RESOURCE)  // of this rank's GPU, perhaps
      error->one(FLERR, std::string("pair_style quintet: ") + quintet_potential_error(potential_));
    if (quintet_potential_models(potential_) != 1) refuse(quintet_potential_error(potential_));
    give_type_parameters();
    if (device != "cpu" && comm->me == 0 && screen != nullptr)
      std::fprintf(screen, "pair_style quintet is computed by %s\n", quintet_potential_device(potential_));
  }

  void coeff(int n_words, char** words) override {
    if (potential_ == nullptr) refuse("pair_coeff comes before pair_style");
    const int n = atom->ntypes;
    if (n_words != 2 + n || std::strcmp(words[0], "*") != 0 || std::strcmp(words[1], "*") != 0)
      refuse("expected 'pair_coeff * *' and a name of the model's or NULL for each of LAMMPS's " +
             std::to_string(n) + " types; it knows: " + names());
    if (allocated == 0) {
      memory->create(setflag, n + 1, n + 1, "pair:setflag");
      memory->create(cutsq, n + 1, n + 1, "pair:cutsq");
      allocated = 1;
    }
    types_.assign(n + 1, -1);
    for (int type = 1; type <= n; ++type) {
      if (std::strcmp(words[1 + type], "NULL") == 0) continue;
      for (int t = 0; t < quintet_potential_types(potential_); ++t)
        if (std::strcmp(words[1 + type], quintet_potential_type_name(potential_, t)) == 0) types_[type] = t;
      if (types_[type] < 0)
        refuse("the model has no type '" + std::string(words[1 + type]) + "'; it knows: " + names());
    }
    for (int i = 1; i <= n; ++i)
      for (int j = i; j <= n; ++j) setflag[i][j] = types_[i] >= 0 && types_[j] >= 0 ? 1 : 0;
  }

  void init_style() override {
    if (force->newton_pair == 0) refuse("needs 'newton on': forces on ghosts go back to their owners");
    units();
    neighbor->add_request(this, NeighConst::REQ_FULL);
    is_checked_ = false;
    find_compute();
  }

  double init_one(int, int) override { return quintet_potential_cutoff(potential_); }

  void compute(int eflag, int vflag) override {
    ev_init(eflag, vflag);
    if (vflag_atom != 0) refuse("has no symmetric virial of atoms; use compute centroid/stress/atom");
    const int n_all = atom->nlocal + atom->nghost;
    const double* x = n_all > 0 ? atom->x[0] : nullptr;
    if (neighbor->ago == 0 || n_listed_ != n_all) take_list(x, n_all);

    give_atom_parameters();

    double energy = 0, w[9] = {};
    forces_.assign(3 * std::size_t(n_all) + 1, 0);
    if (eflag_atom != 0) energies_.assign(std::size_t(atom->nlocal) + 1, 0);
    if (cvflag_atom != 0) virials_.assign(9 * std::size_t(n_all) + 1, 0);
    check(quintet_potential_compute_neighbours(potential_, 0, x, &energy, forces_.data(), w,
                                               eflag_atom != 0 ? energies_.data() : nullptr,
                                               cvflag_atom != 0 ? virials_.data() : nullptr));
    warn_once();

    for (int i = 0; i < n_all; ++i)
      for (int k = 0; k < 3; ++k) atom->f[i][k] += energy_ * forces_[3 * std::size_t(i) + k];
    if (eflag_global != 0) eng_vdwl += energy_ * energy;
    if (eflag_atom != 0)
      for (int i = 0; i < atom->nlocal; ++i) eatom[i] += energy_ * energies_[std::size_t(i)];
    if (vflag_global != 0) {
      constexpr int place[6] = {0, 4, 8, 3, 6, 7};  // xx yy zz xy xz yz
      for (int c = 0; c < 6; ++c) virial[c] += energy_ * w[place[c]];
    }
    if (cvflag_atom != 0) {
      // xx yy zz xy xz yz yx zx zy, distance before force; ours are 3 force + distance
      constexpr int place[9] = {0, 4, 8, 3, 6, 7, 1, 2, 5};
      for (int i = 0; i < n_all; ++i)
        for (int c = 0; c < 9; ++c) cvatom[i][c] += energy_ * virials_[9 * std::size_t(i) + place[c]];
    }
  }

 private:
  /// A mistake that all ranks see alike.
  [[noreturn]] void refuse(const std::string& text) const {
    error->all(FLERR, std::string("pair_style quintet: ") + text);
    std::abort();
  }
  void check(int code) const {
    if (code != QUINTET_OK)
      error->one(FLERR, std::string("pair_style quintet: ") + quintet_potential_error(potential_));
  }
  [[nodiscard]] std::string names() const {
    std::string text;
    for (int t = 0; t < quintet_potential_types(potential_); ++t)
      text += (t > 0 ? " " : "") + std::string(quintet_potential_type_name(potential_, t));
    return text;
  }

  /// What words say of the numbers of atoms that the model reads.
  struct Parameters {
    bool is_given = false;
    std::vector<double> of_all;
    std::vector<std::pair<std::string, std::vector<double>>> of_types;
    std::string compute;  ///< its ID
  };

  /// Take one of the keywords aparam..., with its values. Returns how many words that was: 0 for another.
  int take_parameters(int n_words, char** words) {
    const std::string keyword = words[0];
    const bool is_of_type = keyword == "aparam_of", is_compute = keyword == "aparam_from_compute";
    if (keyword != "aparam" && !is_of_type && !is_compute) return 0;
    parameters_.is_given = true;
    int n = is_of_type || is_compute ? 2 : 1;
    if (n_words < n) refuse(keyword + ": " + (is_compute ? "the ID of a compute" : "a type") + " is missing");
    if (is_compute) {
      parameters_.compute = words[1];
      return n;
    }
    std::vector<double> values;
    for (char* end = nullptr; n < n_words; ++n) {
      const double value = std::strtod(words[n], &end);
      if (end == words[n] || *end != '\0') break;
      values.push_back(value);
    }
    if (values.empty()) refuse(keyword + ": numbers are missing");
    if (is_of_type)
      parameters_.of_types.emplace_back(words[1], values);
    else
      parameters_.of_all = values;
    return n;
  }

  /// Give the model the numbers of its types, which also a device takes.
  void give_type_parameters() {
    const std::size_t n = quintet_potential_atom_parameters(potential_);
    if (n == 0 && parameters_.is_given) refuse("the model reads no numbers of atoms: remove aparam");
    if (n == 0) return;
    const std::string reads = "the model reads " + std::to_string(n) + " number(s) of each atom (aparam)";
    if (!parameters_.is_given) refuse(reads + ": give them with aparam, aparam_of or aparam_from_compute");
    const bool has_values = !parameters_.of_all.empty() || !parameters_.of_types.empty();
    if (!parameters_.compute.empty() && has_values)
      refuse("aparam_from_compute gives the numbers of all atoms: remove aparam and aparam_of");
    if (!has_values) return;
    std::vector<std::vector<double>> by_type(quintet_potential_types(potential_), parameters_.of_all);
    for (const auto& [name, values] : parameters_.of_types) {
      std::size_t t = 0;
      while (t < by_type.size() && name != quintet_potential_type_name(potential_, int(t))) ++t;
      if (t == by_type.size())
        refuse("aparam_of: the model has no type '" + name + "'; it knows: " + names());
      by_type[t] = values;
    }
    std::vector<double> rows;
    for (std::size_t t = 0; t < by_type.size(); ++t) {
      if (by_type[t].size() != n)
        refuse(reads + ", " + std::to_string(by_type[t].size()) + " given of type " +
               quintet_potential_type_name(potential_, int(t)));
      rows.insert(rows.end(), by_type[t].begin(), by_type[t].end());
    }
    if (quintet_potential_set_type_parameters(potential_, int(by_type.size()), int(n), rows.data()) !=
        QUINTET_OK)
      refuse(quintet_potential_error(potential_));
  }

  void find_compute() {
    compute_ = nullptr;
    if (parameters_.compute.empty()) return;
    compute_ = modify->get_compute_by_id(parameters_.compute);
    if (compute_ == nullptr) refuse("aparam_from_compute: there is no compute '" + parameters_.compute + "'");
    if (compute_->peratom_flag == 0)
      refuse("aparam_from_compute: compute " + parameters_.compute + " has no values of atoms");
    const int n = quintet_potential_atom_parameters(potential_), columns = compute_->size_peratom_cols;
    if (columns != n && !(columns == 0 && n == 1))
      refuse("aparam_from_compute: the model reads " + std::to_string(n) +
             " number(s) of each atom, compute " + parameters_.compute + " has " +
             std::to_string(columns == 0 ? 1 : columns));
  }

  /// Hand on what the compute has of this step's atoms.
  void give_atom_parameters() {
    if (compute_ == nullptr) return;
    compute_->compute_peratom();  // always: atoms may have changed ranks since it was asked in this step
    const int n = quintet_potential_atom_parameters(potential_);
    values_.assign(std::size_t(n) * atom->nlocal + 1, 0);
    for (int i = 0; i < atom->nlocal; ++i)
      for (int k = 0; k < n; ++k)
        values_[std::size_t(n) * i + k] =
            compute_->size_peratom_cols == 0 ? compute_->vector_atom[i] : compute_->array_atom[i][k];
    check(quintet_potential_set_atom_parameters(potential_, atom->nlocal, n, values_.data()));
  }

  /// LAMMPS's unit of energy in eV, from its k_B; its unit of length is the angstrom in both systems.
  void units() {
    const std::string style = update->unit_style;
    if (style != "metal" && style != "real")
      refuse("needs 'units metal' or 'units real', not '" + style + "'");
    constexpr double boltzmann_of_metal = 8.617343e-5;
    energy_ = force->boltz / boltzmann_of_metal;
  }

  void take_list(const double* x, int n_all) {
    listed_types_.assign(std::size_t(n_all) + 1, -1);
    for (int i = 0; i < n_all; ++i) listed_types_[std::size_t(i)] = types_[std::size_t(atom->type[i])];
    counts_.clear();
    rows_.clear();
    for (int r = 0; r < list->inum; ++r) {
      counts_.push_back(list->numneigh[list->ilist[r]]);
      rows_.push_back(list->firstneigh[list->ilist[r]]);
    }
    check(quintet_potential_set_neighbours(potential_, atom->nlocal, n_all - atom->nlocal,
                                           listed_types_.data(), list->inum, list->ilist, counts_.data(),
                                           rows_.data(), NEIGHMASK));
    n_listed_ = n_all;
    // special_bonds and neigh_modify exclude take pairs out of the list: the first of a run tells.
    if (!is_checked_ && std::getenv("QUINTET_ALLOW_INCOMPLETE_LISTS") == nullptr)
      check(quintet_potential_check_neighbours(potential_, x));
    is_checked_ = true;
  }

  void warn_once() {
    const char* warning = quintet_potential_warning(potential_);
    if (has_warned_ || warning[0] == 0) return;
    has_warned_ = true;
    error->warning(FLERR, std::string("pair_style quintet: ") + warning);
  }

  quintet_potential* potential_ = nullptr;
  std::vector<int> types_;  ///< of the model, by LAMMPS's
  Parameters parameters_;
  Compute* compute_ = nullptr;  ///< where numbers of atoms come from
  std::vector<double> values_;  ///< [nlocal, n] of this step's atoms
  double energy_ = 1;
  bool is_checked_ = false, has_warned_ = false;
  int n_listed_ = -1;
  std::vector<int> listed_types_, counts_;
  std::vector<const int*> rows_;
  std::vector<double> forces_, energies_, virials_;
};

}  // namespace LAMMPS_NS

namespace {

/// What LAMMPS takes from a plugin. Source: its manual, "Writing plugins".
struct Plugin {
  const char *version, *style, *name, *info, *author;
  void* (*make)(void*);
  void* handle;
};

void* make(void* lammps) { return new LAMMPS_NS::PairQuintet(static_cast<LAMMPS_NS::LAMMPS*>(lammps)); }

/// Size and checksum of a file (FNV-1a over its words of 8 bytes).
std::string mark_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(1 << 20);
  std::uint64_t sum = 14695981039346656037ULL, size = 0;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    const std::size_t n = file.gcount();
    size += n;
    std::memset(piece.data() + n, 0, piece.size() - n);
    for (std::size_t i = 0; i < n; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, &piece[i], sizeof word);
      sum = (sum ^ word) * 1099511628211ULL;
    }
  }
  return std::to_string(size) + " " + std::to_string(sum);
}

/// The file that holds an address. For the executable the system knows it: dladdr has the word that started
/// it, which may be a name on the PATH.
std::string file_of(const void* address) {
  Dl_info found{};
  void* entry = nullptr;
  if (dladdr1(address, &found, &entry, RTLD_DL_LINKMAP) == 0) return "";
  std::error_code ignored;
  if (static_cast<const link_map*>(entry)->l_name[0] == '\0')
    return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  return found.dli_fname;
}

/// Whether the LAMMPS that loads us is the one we were compiled for: its library's mark stands beside us. No
/// class of LAMMPS may be touched before.
bool is_our_host(const void* in_host) {
  const std::string self = file_of(reinterpret_cast<const void*>(&make)), host = file_of(in_host);
  const std::string mark = mark_of(host.c_str()), beside = self + ".host";
  if (std::getenv("QUINTET_PLUGIN_LEARNS_HOST") != nullptr) {
    std::ofstream(beside) << mark << '\n';
    return true;
  }
  std::ifstream file(beside);
  std::string known;
  std::getline(file, known);
  if (known == mark) return true;
  std::fprintf(
      stderr,
      "ERROR: pair_style quintet: %s was compiled for another LAMMPS than %s, and their classes differ "
      "from update to update. For this one: quintet lammps-plugin --lammps LMP\n",
      self.c_str(), host.c_str());
  return false;
}

/// Whether the libquintet_c that was found is as new as the header that this was compiled with.
bool has_its_library() {
  const char* const mismatch = quintet_api_mismatch(QUINTET_API_VERSION);
  if (mismatch[0] != '\0') std::fprintf(stderr, "ERROR: pair_style quintet: %s\n", mismatch);
  return mismatch[0] == '\0';
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void lammpsplugin_init(void* lammps, void* handle,
                                                                         void* add) {
  if (!is_our_host(add) || !has_its_library()) return;
  static const std::string info = std::string("Deep Potentials by ") + quintet_version();
  Plugin plugin{QUINTET_LAMMPS_VERSION, "pair", "quintet", info.c_str(), "Quintet", &make, handle};
  reinterpret_cast<void (*)(Plugin*, void*)>(add)(&plugin, lammps);
}
