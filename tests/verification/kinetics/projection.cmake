quintet_test(kinetics_projection_order SOURCES ${CMAKE_CURRENT_LIST_DIR}/projection_order_test.cpp
             DEPENDS quintet_kinetics LABELS verification)
quintet_test(kinetics_maxwellian SOURCES ${CMAKE_CURRENT_LIST_DIR}/maxwellian_test.cpp
             DEPENDS quintet_kinetics LABELS verification RANKS 1 2 3)
