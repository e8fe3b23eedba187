quintet_test(kinetics_files SOURCES distribution_io_test.cpp
             DEPENDS quintet_kinetics LABELS unit RANKS 1 2 3 4)
