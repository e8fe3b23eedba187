# The numerical core of the submatrix method, against dense diagonalisation.
quintet_test(electronic_products SOURCES block_products.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_step SOURCES submatrix_step.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_ensembles SOURCES submatrix_ensembles.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_orthogonalise SOURCES orthogonalise.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_patterns SOURCES patterns.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_chebyshev SOURCES chebyshev.cpp DEPENDS quintet_electronic LABELS verification)
quintet_test(electronic_ill_conditioned SOURCES ill_conditioned.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
quintet_test(electronic_interrupt SOURCES interrupt.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3)
