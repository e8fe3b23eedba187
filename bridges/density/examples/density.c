/* Density matrix of a chain of pairs of sites: density [K_22], which prints its energy, gap and estimated error.
 * cc density.c $(pkg-config --cflags --libs quintet_density) -o density */
#include <stdio.h>
#include <stdlib.h>

#include <quintet_density.h>

enum { n = 600, nnz = 3 * n };

static int fail(quintet_density* density) {
  printf("%s\n", quintet_density_error(density));
  quintet_density_close(density);
  return 1;
}

int main(int argc, char** argv) {
  static int row_ind[nnz], col_ptr[n + 1];
  static double ham[nnz], ovlp[nnz], dm[nnz], edm[nnz];
  double energy;
  for (int j = 0; j < n; ++j) {
    col_ptr[j] = 3 * j;
    for (int i = 0; i < 3; ++i) {
      const int inside = (j % 2 == 0) == (i == 2); /* the other site of the pair */
      row_ind[3 * j + i] = (j + i - 1 + n) % n;
      ham[3 * j + i] = i == 1 ? 0 : inside ? -0.3 : -0.12;
      ovlp[3 * j + i] = i == 1 ? 1 : inside ? 0.12 : 0.05;
    }
  }
  col_ptr[n] = nnz;
  if (argc > 1) ham[4] = strtod(argv[1], NULL); /* "nan" is a mistake, whose text is printed */
  quintet_density* density = quintet_density_open();
  if (quintet_density_set(density, "electrons", n) != 0) return fail(density);
  if (quintet_density_set_csc(density, n, nnz, n, row_ind, col_ptr) != 0) return fail(density);
  if (quintet_density_dm_real_sparse(density, ham, ovlp, dm, &energy) != 0) return fail(density);
  if (quintet_density_edm_real_sparse(density, edm) != 0) return fail(density);
  printf("energy %.9f hartree, gap %.6f, error %.1e\n", energy, quintet_density_number(density, "gap"),
         quintet_density_number(density, "energy_error"));
  quintet_density_close(density);
  return 0;
}
