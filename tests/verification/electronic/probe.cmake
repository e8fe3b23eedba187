# Errors and spectra from products with random vectors.
quintet_test(electronic_probe SOURCES probe_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK LABELS verification RANKS 1 2 3 4
             SEVERAL *_the_same_on_any_number_of_ranks:*_in_every_layout:*_do_not_depend_on_the_ranks_*:SparseRowsOfBlocks.*)
