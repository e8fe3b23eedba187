if(QUINTET_WITH_TORCH)
  quintet_test(exported_potentials SOURCES exported_test.cpp compiled_test.cpp DEPENDS quintet_potential_exported LABELS verification RANKS 1 3 SEVERAL -*knows_the_memory*:*wants_as_many*:*leaves_precision*)
endif()
