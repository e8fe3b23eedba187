# The energy-weighted density by the submatrix method, against dense diagonalisation.
quintet_test(electronic_energy_weighted SOURCES energy_weighted_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2)
