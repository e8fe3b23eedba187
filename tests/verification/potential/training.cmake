quintet_test(deep_potential_training SOURCES ${CMAKE_CURRENT_LIST_DIR}/training.cpp DEPENDS quintet_potential_training
             LABELS verification RANKS 1 2 3 TIMEOUT 600)
