# Other functions of matrices by the submatrix method, against dense diagonalisation.
quintet_test(electronic_functions SOURCES matrix_function_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2)
quintet_test(electronic_energy_weighted SOURCES energy_weighted_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2)
