#include <cstdio>
#include <cstring>

#include "io/device/device_space.hpp"

/// What libquintet_device.so shows of itself, without a GPU behind it.

const char* quintet_device_version() {
#ifdef IMITATE_OTHER_SOURCES
  return "0123456789ab";
#else
  return QUINTET_DEVICE_VERSION;
#endif
}

int quintet_device_count() {
#if defined IMITATE_TWO_GPUS
  return 2;
#elif defined IMITATE_NO_GPU
  return 0;
#else
  return 1;
#endif
}

void quintet_device_start(int number, quintet::DeviceProperties* properties) {
  *properties = {};
  properties->n_devices = quintet_device_count() == 2 ? 2 : 1;
  properties->number = number % properties->n_devices;
  std::snprintf(properties->id, sizeof(properties->id), "id of %d", properties->number);
  properties->total_bytes = 80'000'000'000;
#ifdef IMITATE_NO_GPU
  std::strcpy(properties->error, "no GPU is seen here (no CUDA-capable device is detected)");
#endif
  std::snprintf(properties->name, sizeof(properties->name), "GPU %d", properties->number);
}
std::size_t quintet_device_free_bytes() { return 1'000'000'000; }

namespace {
int stops = 0;
}
void quintet_device_stop() { ++stops; }
QUINTET_DEVICE_FACTORY int quintet_imitated_stops() { return stops; }

/// The factory of an "engine": says which of the two is asked.
QUINTET_DEVICE_FACTORY int quintet_make_imitated_engine() { return 2; }
