#ifndef QUINTET_DENSITY_H
#define QUINTET_DENSITY_H

/**
 * Quintet for programs in C, and in all languages that call C: density matrices of sparse Kohn-Sham matrices,
 * as libquintet_density, in the shape of ELSI's elsi_dm_real_sparse.
 *
 * No call throws, ends the process, prints, or starts or ends MPI. Calls return 0 or another code, as those
 * of quintet.h do (2: a mistake of the caller's or a case that cannot be computed right, 3: a result that is
 * no number, 4: out of memory, 70: a fault of Quintet); the text of the last error is kept in the handle.
 * Handles share nothing: each may be used by a thread of its own, and by one thread at a time. Where a handle
 * has a communicator all calls but _error, _warning and _number are collective, an error on one rank is one
 * on all, and all ranks must give the same settings. Energies: hartree.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** Raised when a function is added; functions are never changed. */
#define QUINTET_DENSITY_API_VERSION 1

/** A solver with its settings, and what it keeps between calls: blocks, shares of ranks, S^-1/2. */
typedef struct quintet_density quintet_density;

/** QUINTET_DENSITY_API_VERSION of the library in use. */
int quintet_density_api_version(void);

/** A solver of this process alone; MPI need not be up. NULL: out of memory. */
quintet_density* quintet_density_open(void);
/**
 * A solver of the ranks of a communicator. comm: its Fortran handle (in Fortran the communicator itself, in C
 * MPI_Comm_c2f of it); it is duplicated. The program's MPI must be the one that the library is linked to.
 * Returns a handle even where this fails: ask quintet_density_error().
 */
quintet_density* quintet_density_open_mpi(int comm);
/** Give a handle back, before MPI is ended; NULL is allowed. */
void quintet_density_close(quintet_density* density);

/** What was wrong with the last call on this handle; "" for nothing. Lives until the next call. */
const char* quintet_density_error(const quintet_density* density);
/** Why the errors of the last result are large by estimate, or why the whole matrix was diagonalised in the
 * place of submatrices; else "". */
const char* quintet_density_warning(const quintet_density* density);

/**
 * Change a setting.
 *
 * "electrons": of all spins that are computed together; needed. "temperature": k_B T of Fermi's function
 * (hartree); 0: the lowest levels are full. "threshold": blocks of S^-1/2 K S^-1/2 of smaller Frobenius norm
 * are dropped (hartree; 1e-5). "spin_degeneracy": electrons of a full orbital, 2 or 1 (2). "rows_per_block":
 * of blocks that are found from the graph of K (40). "dense": 1: diagonalise the whole matrix, -1: never, 0:
 * where that is cheaper, and up to 5000 rows where submatrices are refused or their errors are large by
 * estimate (0). "estimate_error": 1 or 0 (1; a quarter of the time).
 */
int quintet_density_set(quintet_density* density, const char* name, double value);
/** Blocks of functions that follow each other, of atoms or molecules: rows [n_blocks] of each, of the whole
 * matrix. Without, they are parts of the graph of K. n_blocks = 0: without again. */
int quintet_density_set_blocks(quintet_density* density, int n_blocks, const int* rows);
/**
 * The pattern of K, S and D, as elsi_set_csc takes it: compressed columns of both triangles. Each rank has
 * the columns that follow those of the rank before. row_ind: [nnz_l]; col_ptr: [n_lcol + 1], col_ptr[0] being
 * 0 or 1 as indices count from 0 or from 1. All is copied; call it again where the pattern has changed.
 */
int quintet_density_set_csc(quintet_density* density, int n_rows, int nnz_l, int n_lcol, const int* row_ind,
                            const int* col_ptr);
/**
 * The density matrix. ham, ovlp: [nnz_l], not changed; ovlp NULL: S = 1. dm: [nnz_l], D with Tr(D S) =
 * electrons, on the pattern. energy: [1] Tr(D K) (hartree). S^-1/2 is kept: it is made anew where S, its
 * pattern or the threshold has changed. Where it fails nothing is written to.
 */
int quintet_density_dm_real_sparse(quintet_density* density, const double* ham, const double* ovlp,
                                   double* dm, double* energy);
/** The energy-weighted density matrix of the last result, sum_i f_i e_i c_i c_i^T: [nnz_l], on the pattern
 * (hartree). */
int quintet_density_edm_real_sparse(quintet_density* density, double* edm);
/**
 * A number of the last result; not a number where it is not known, or no name.
 *
 * "energy", "free_energy", "mu", "gap" (hartree; gap at temperature 0), "entropy" (k_B), "electrons";
 * estimates of errors: "energy_error", "electrons_error", "mu_error", "density_error" (||D - D_exact||, what
 * D lacks outside the pattern included); "rest" (that part alone); "dense" (1: the whole matrix was
 * diagonalised), "overlap_kept" (1: S^-1/2 was that of the call before), "overlap_condition", "blocks",
 * "submatrix_rows".
 */
double quintet_density_number(const quintet_density* density, const char* name);

#ifdef __cplusplus
}
#endif

#endif
