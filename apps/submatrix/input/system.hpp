#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/input/system_options.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::submatrix {

/// K and S of a system in blocks.
struct System {
  electronic::BlockMatrix k;    ///< (hartree)
  electronic::BlockMatrix s;    ///< (1); unit blocks in an orthogonal basis
  std::int64_t n_atoms = 0;     ///< 0: not known
  std::int64_t n_elements = 0;  ///< of K as read, over all ranks
  bool guessed_unit = false;    ///< nobody named K's unit: it was taken for hartree

  [[nodiscard]] const electronic::Blocking& blocking() const { return *k.blocking; }
};

/// The matrices of spin down, as those of a closed shell.
[[nodiscard]] MatricesOptions spin_down(const MatricesOptions& matrices);

/// Read and fold the matrices, share the blocks out, convert to hartree, check. Throws InputError: what the
/// readers throw, K and S of different sizes, orders or cells or mixed up, blocks that do not fit, asymmetry,
/// rows of S that are empty or twice there. Says what was assumed of the files. `other`: the other spin,
/// whose blocks are taken. Collective.
[[nodiscard]] System read_system(Context& context, const MatricesOptions& matrices,
                                 const BlocksOptions& blocks, const System* other = nullptr);

/// Read another K of the same S, on the blocks and shares of `first`, in hartree. Throws InputError as
/// read_system(). Collective.
[[nodiscard]] electronic::BlockMatrix read_further(Context& context, const MatricesOptions& matrices,
                                                   const std::string& path, const System& first);

/// Share the block columns out anew so that each rank has the same predicted work of submatrices (K's pattern
/// stands for that of S^-1/2 K S^-1/2). Nothing is done on one rank. Collective.
void share_by_cost(System& system, const electronic::SubmatrixOptions& options);

/// True if all orbitals of a spin are empty, or all full: D = 0 or S^-1, without a chemical potential.
[[nodiscard]] bool is_trivial(double electrons_of_spin, int n_rows);

/// Electrons of one spin, `spin` being +1 (up), -1 (down) or 0 (both alike); nothing where mu is fixed.
/// Throws InputError if there are not so many orbitals, or if half an orbital would be full at no
/// temperature.
[[nodiscard]] std::optional<double> electrons_of_spin(const EnsembleOptions& ensemble, int n_rows,
                                                      double temperature, int spin);

/// Electrons of both spins, which they share. Throws InputError as electrons_of_spin().
[[nodiscard]] double electrons_of_both(const EnsembleOptions& ensemble, int n_rows, double temperature);

/// Share the block columns out as those of another system. Throws InputError if it has other blocks.
void share_like(System& system, const System& other);

/// The reference values of these options or, from their file, of the box `repeat`; none, with a warning, if
/// it has no such box. Throws InputError if the file is not a list of boxes. Collective.
[[nodiscard]] ReferenceOptions find_reference(const Comm& comm, const ReferenceOptions& options,
                                              const std::vector<std::int64_t>& repeat);

}  // namespace quintet::submatrix
