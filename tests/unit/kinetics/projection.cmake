quintet_test(kinetics_formula SOURCES ${CMAKE_CURRENT_LIST_DIR}/formula_test.cpp DEPENDS quintet_formula LABELS unit)
quintet_test(kinetics_projection SOURCES ${CMAKE_CURRENT_LIST_DIR}/projection_test.cpp ${CMAKE_CURRENT_LIST_DIR}/weak_test.cpp
             DEPENDS quintet_kinetics LABELS unit)
