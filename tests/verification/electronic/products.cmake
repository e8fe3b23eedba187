# Products that leave out what is too small to matter, and the defects of a density matrix.
quintet_test(electronic_pruned SOURCES pruned_products_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 3)
