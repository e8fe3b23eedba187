if(QUINTET_WITH_TORCH)
  quintet_test(training_device SOURCES training_device_test.cpp DEPENDS quintet_potential_training quintet_bridge
               DEVICE LABELS verification RANKS 1 3 SEVERAL *ranks*:*no_number* TIMEOUT 600)
endif()
