quintet_test(kinetics_collisions SOURCES collisions.cpp collisions_evolution.cpp collisions_properties.cpp
             DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3)
