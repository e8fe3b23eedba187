quintet_test(deep_potential_compressed SOURCES compressed_test.cpp DEPENDS quintet_potential LABELS unit RANKS 1 2 3
             SEVERAL *.that_are_fine_give_energies_and_forces_of_the_networks)
