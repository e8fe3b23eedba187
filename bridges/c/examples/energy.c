/* Energy and forces of a molecule of water in a cell: energy MODEL.dp, a model with the types O and H.
 * cc energy.c $(pkg-config --cflags --libs quintet_c) -o energy */
#include <stdio.h>

#include <quintet.h>

int main(int argc, char** argv) {
  const int types[3] = {0, 1, 1};
  const double positions[9] = {0, 0, 0, 0.76, 0.59, 0, -0.76, 0.58, 0.1};
  const double cell[9] = {9, 0, 0, 0, 9, 0, 0, 0, 9};
  double energy, forces[9];
  const char* file = argc > 1 ? argv[1] : "water.dp";
  quintet_potential* potential = quintet_potential_open(1, &file, "double");
  if (quintet_potential_compute(potential, 0, 3, types, positions, cell, &energy, forces, NULL, NULL, NULL) != QUINTET_OK) {
    printf("%s\n", quintet_potential_error(potential));
    quintet_potential_close(potential);
    return 1;
  }
  printf("energy %.12f eV, force on O %.12f %.12f %.12f eV/angstrom\n", energy, forces[0], forces[1], forces[2]);
  quintet_potential_close(potential);
  return 0;
}
