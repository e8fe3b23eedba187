quintet_test(kinetics_collisions SOURCES collisions.cpp collisions_properties.cpp DEPENDS quintet_kinetics
             LABELS verification RANKS 1 2 3)
quintet_test(kinetics_collisions_evolution SOURCES collisions_evolution.cpp DEPENDS quintet_kinetics
             LABELS verification RANKS 1 2)
