quintet_test(repulsion_properties SOURCES repulsion_test.cpp DEPENDS quintet_potential LABELS verification RANKS 1 2 3
             SEVERAL *.is_the_same_on_any_number_of_ranks)
