quintet_test(deep_potential_training SOURCES training_test.cpp DEPENDS quintet_potential_training
             LABELS verification RANKS 1 3 TIMEOUT 600)
