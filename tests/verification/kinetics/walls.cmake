quintet_test(kinetics_wall_emission SOURCES wall_emission.cpp DEPENDS quintet_kinetics LABELS verification
             RANKS 1 2 3)
