quintet_test(training_reference SOURCES training_reference_test.cpp DEPENDS quintet_potential_training
             LABELS verification RANKS 1 2)
