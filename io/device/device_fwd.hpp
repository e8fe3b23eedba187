#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: device.hpp.
namespace quintet {

class DeviceSession;
enum class Device;

}  // namespace quintet
