#ifndef QUINTET_H
#define QUINTET_H

/**
 * Quintet for programs in C, and in all languages that call C: Deep Potential models as libquintet_c.
 *
 * No call throws, ends the process, prints, starts MPI or changes a setting of the caller; traps of
 * floating-point exceptions are put aside meanwhile. Calls return QUINTET_OK or another code; the text of the
 * last error is kept in the handle. Handles share nothing: each may be used by a thread of its own, and by
 * one thread at a time. Units: angstrom, eV. Matrices are row-major. Types are indices into the model's list
 * of types; an atom of type -1 is another force field's: it has no energy and no force, and is nobody's
 * neighbour.
 *
 * Virial: W[3k+l] = sum_pairs F_k d_l = -dE/d(strain_kl). Of atom j: W_j[3k+l] = -sum_i (dE_i/dx_j)_k (x_j -
 * x_i)_l; the sum over all atoms and ghosts is W.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** Raised when a function is added; functions are never changed. */
#define QUINTET_API_VERSION 3

enum quintet_code {
  QUINTET_OK = 0,
  QUINTET_INPUT = 2,     /**< a mistake of the caller's, or a file that is not as it must be */
  QUINTET_NUMERICAL = 3, /**< a result that is no number */
  QUINTET_RESOURCE = 4,  /**< out of memory */
  QUINTET_INTERNAL = 70  /**< a fault of Quintet */
};

/** One or several models of the same types. */
typedef struct quintet_potential quintet_potential;

/** QUINTET_API_VERSION of the library in use. */
int quintet_api_version(void);
/**
 * Why the library in use cannot serve a program that was compiled with another quintet.h, or "". A program
 * asks quintet_api_mismatch(QUINTET_API_VERSION) first: a newer library serves it, an older one lacks
 * functions. (A library of version 1 lacks this one, and the system's loader says so.) Since version 2.
 */
const char* quintet_api_mismatch(int api_version_of_program);
/** "Quintet 0.1.0", for logs. */
const char* quintet_version(void);

/**
 * Load models. files: [n_files] paths (.dp, or the same as .yaml, .json). precision: "double", "mixed"
 * (networks in float32; sums, forces and virial in double), "model" or NULL (as the file says). Returns a
 * handle even where this fails: ask quintet_potential_error(). NULL: out of memory.
 */
quintet_potential* quintet_potential_open(int n_files, const char* const* files, const char* precision);
/**
 * The same with a choice of what computes. device: "cpu" or NULL; "gpu": a GPU, of those that the process sees
 * the one of its rank on the node (by the variable of Open MPI, MPICH or Slurm); "gpu:1": the one of this
 * number, counted from 0; "auto": a GPU where one can be used, else the cpu; "portable": the GPU's algorithms
 * on the host's cores, to compare with. A process computes on one GPU. GPUs need libquintet_device.so beside
 * this library, or the variable QUINTET_DEVICE_LIBRARY to name it. Since version 2.
 */
quintet_potential* quintet_potential_open_on(int n_files, const char* const* files, const char* precision,
                                             const char* device);
/** What computes, in a line: "cpu", the GPU's name, or "cpu (why there is no GPU)" for "auto"; "" for a
 * handle that could not be opened. Lives as long as the handle. Since version 2. */
const char* quintet_potential_device(const quintet_potential* potential);
/** Give a handle back; NULL is allowed. */
void quintet_potential_close(quintet_potential* potential);

/** What was wrong with the last call on this handle; "" for nothing. Lives until the next call. */
const char* quintet_potential_error(const quintet_potential* potential);
/** Its code, also of opening; QUINTET_RESOURCE where a device was asked for that is not there. Since version 2. */
int quintet_potential_code(const quintet_potential* potential);
/** What the last evaluation has to say though its result is right, or ""; e.g. more neighbours than the
 * model's sel. */
const char* quintet_potential_warning(const quintet_potential* potential);

/** Number of models; 0 for a handle that could not be opened. */
int quintet_potential_models(const quintet_potential* potential);
/** Longest cutoff of the models (angstrom). */
double quintet_potential_cutoff(const quintet_potential* potential);
int quintet_potential_types(const quintet_potential* potential);
/** Name of a type, 0 ... types - 1; NULL for others. Lives as long as the handle. */
const char* quintet_potential_type_name(const quintet_potential* potential, int type);

/**
 * How many numbers of each atom the models read beside where it is (DeePMD-kit's aparam: a spin, a
 * temperature of electrons); 0 for none, which most read. Forces take them as constants. Since version 3.
 */
int quintet_potential_atom_parameters(const quintet_potential* potential);
/**
 * Give these numbers of each atom, for the evaluations that follow. values: [n_atoms, n]; n_atoms: those of
 * quintet_potential_compute, or the owned ones of a neighbour list, whose ghosts have none; n: as
 * quintet_potential_atom_parameters says. All is copied, and forgotten when a list is set, since the atoms
 * may be others then: the list first, its numbers next. Models that read none leave them. A device takes
 * those of types alone. Since version 3.
 */
int quintet_potential_set_atom_parameters(quintet_potential* potential, int n_atoms, int n,
                                          const double* values);
/**
 * Give these numbers of all atoms of a type, until others are given; the networks are made anew. values:
 * [n_types, n], or NULL: none any more. On every device. Since version 3.
 */
int quintet_potential_set_type_parameters(quintet_potential* potential, int n_types, int n,
                                          const double* values);

/**
 * One configuration; neighbours and periodic images are found by the library.
 *
 * model: 0 ... models - 1. types: [n_atoms]. positions: [n_atoms, 3] (angstrom), within 1e9. cell: [3, 3] rows
 * (angstrom), periodic; NULL: a cluster. Results, each of which may be NULL: energy [1] (eV), forces
 * [n_atoms, 3] (eV/angstrom), virial [3, 3] (eV), atomic_energies [n_atoms] (eV), atomic_virials [n_atoms, 3,
 * 3] (eV). Where it fails they are not written to.
 */
int quintet_potential_compute(quintet_potential* potential, int model, int n_atoms, const int* types,
                              const double* positions, const double* cell, double* energy, double* forces,
                              double* virial, double* atomic_energies, double* atomic_virials);

/**
 * Take a neighbour list of the caller's, for evaluations until the next one.
 *
 * Atoms 0 ... n_owned - 1 are the caller's own, those after them ghosts: copies of other processes' atoms or
 * periodic images, at the places where they are. Row r: the n_neighbours[r] indices neighbours[r][...] & mask
 * are within the cutoff, or a little more, of the owned atom atoms[r]; every pair stands in both rows (a full
 * list). mask: ~0, or the bits that are an index. types: [n_owned + n_ghosts]. All is copied.
 *
 * A device finds neighbours among these atoms and ghosts itself. There the first evaluation refuses a list
 * that lacks pairs, as check_neighbours does.
 */
int quintet_potential_set_neighbours(quintet_potential* potential, int n_owned, int n_ghosts,
                                     const int* types, int n_rows, const int* atoms, const int* n_neighbours,
                                     const int* const* neighbours, int mask);
/** Look for pairs within the cutoff that the list lacks, or has twice; costs about as much as making it. */
int quintet_potential_check_neighbours(quintet_potential* potential, const double* positions);
/**
 * Energy of the owned atoms, and what it gives all. positions: [n_owned + n_ghosts, 3]. forces: [n_owned +
 * n_ghosts, 3], to be added from ghosts to their owners by the caller; atomic_energies: [n_owned];
 * atomic_virials: [n_owned + n_ghosts, 3, 3].
 */
int quintet_potential_compute_neighbours(quintet_potential* potential, int model, const double* positions,
                                         double* energy, double* forces, double* virial,
                                         double* atomic_energies, double* atomic_virials);

/**
 * Where the models disagree about a configuration. by_atom: [n_atoms] sqrt(<|F_i - <F_i>|^2>) (eV/angstrom),
 * or NULL. summary: [7] largest, least, mean of it; largest, least, root mean square of the virial's standard
 * deviations an atom (eV); that of the energy an atom (eV). Source: Zhang et al. (2020), Comput. Phys.
 * Commun. 253, 107206.
 */
int quintet_potential_deviation(quintet_potential* potential, int n_atoms, const int* types,
                                const double* positions, const double* cell, double* by_atom,
                                double* summary);

/**
 * The same four in float, for programs that hold positions so: evaluated in double, results rounded to float.
 * The energy is a double, as are the numbers of `summary`. Since version 2.
 */
int quintet_potential_compute_float(quintet_potential* potential, int model, int n_atoms, const int* types,
                                    const float* positions, const float* cell, double* energy, float* forces,
                                    float* virial, float* atomic_energies, float* atomic_virials);
int quintet_potential_check_neighbours_float(quintet_potential* potential, const float* positions);
int quintet_potential_compute_neighbours_float(quintet_potential* potential, int model,
                                               const float* positions, double* energy, float* forces,
                                               float* virial, float* atomic_energies, float* atomic_virials);
int quintet_potential_deviation_float(quintet_potential* potential, int n_atoms, const int* types,
                                      const float* positions, const float* cell, float* by_atom,
                                      double* summary);

#ifdef __cplusplus
}
#endif

#endif
