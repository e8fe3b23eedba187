# The device's engine on the host's space, against the SIMD engine.
quintet_test(electronic_device SOURCES device_test.cpp DEPENDS quintet_electronic LAPACK::LAPACK DEVICE LABELS verification RANKS 1 3)
