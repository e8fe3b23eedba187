#pragma once

/// A function by which an engine of a device is made: `QUINTET_DEVICE_FACTORY Engine*
/// quintet_make_engine(...)`.
///
/// It has C's name and is the same in the program (the host's space) and in libquintet_device.so (the GPU's),
/// where it is the only thing to be seen from outside: both hold classes of the same names, and two versions
/// of Kokkos.
#define QUINTET_DEVICE_FACTORY extern "C" __attribute__((visibility("default")))
