quintet_test(deep_potential_device SOURCES device_test.cpp device_dynamics_test.cpp DEPENDS quintet_potential
             DEVICE LABELS verification RANKS 1 3 SEVERAL -*.refuses_*:*.takes_*:*.conserve_*:*.adds_the_repulsion_* TIMEOUT 900)
quintet_test(deep_potential_device_dpa1 SOURCES device_dpa1_test.cpp DEPENDS quintet_potential
             DEVICE LABELS verification RANKS 1 2 3 SEVERAL *.equals_*:*.is_the_same_*:*.has_the_virials_* TIMEOUT 900)
quintet_test(deep_potential_device_distances SOURCES device_distances_test.cpp DEPENDS quintet_potential
             DEVICE LABELS verification RANKS 1 2 3 SEVERAL *.equals_*:*.is_the_same_*:*.has_the_virials_* TIMEOUT 900)
quintet_test(deep_potential_device_hybrids SOURCES device_hybrids_test.cpp DEPENDS quintet_potential
             DEVICE LABELS verification RANKS 1 2 3 SEVERAL *.equals_*:*.is_the_same_*:*.has_the_virials_* TIMEOUT 900)
