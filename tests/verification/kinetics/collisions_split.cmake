quintet_test(kinetics_collisions_split SOURCES collisions_split.cpp DEPENDS quintet_kinetics LABELS verification
             RANKS 1 2)
