# The numerical core of the submatrix method, against dense diagonalisation.
quintet_test(electronic_products SOURCES block_products_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_step SOURCES submatrix_step_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_ensembles SOURCES submatrix_ensembles_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3
             SEVERAL -*far_from_the_middle*/polynomial)
quintet_test(electronic_orthogonalise SOURCES orthogonalise_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_patterns SOURCES patterns_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_truncation SOURCES truncation_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3
             SEVERAL Filling.*:*/metal_cold:*/uneven:*/whole COST 80)
quintet_test(electronic_chebyshev SOURCES chebyshev_test.cpp DEPENDS quintet_electronic LABELS verification)
quintet_test(electronic_ill_conditioned SOURCES ill_conditioned_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_interrupt SOURCES interrupt_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_kept_root SOURCES kept_root_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
quintet_test(electronic_estimates_table SOURCES estimates_table_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification)
