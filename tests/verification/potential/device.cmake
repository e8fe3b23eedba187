quintet_test(deep_potential_device SOURCES device_test.cpp device_dynamics_test.cpp DEPENDS quintet_potential
             DEVICE LABELS verification RANKS 1 3 SEVERAL -*.refuses_*:*.takes_*:*.conserve_*:*.adds_the_repulsion_* TIMEOUT 900)
