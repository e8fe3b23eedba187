quintet_test(kinetics_formula SOURCES ${CMAKE_CURRENT_LIST_DIR}/formula_test.cpp DEPENDS quintet_formula LABELS unit)
