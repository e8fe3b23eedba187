#pragma once

/// Name of the library of this interface, whose number is its SOVERSION: one with other functions has
/// another.
#define QUINTET_DP_READER "libquintet_dp_reader.so.1"

/// What libquintet_c asks of libquintet_dp_reader.so, which has HDF5 and MPI in it and is loaded into a name
/// space of its own.
///
/// No memory and no exception goes from one to the other: texts and arrays are handed to functions of the
/// caller's.
struct quintet_dp_reader {
  /// Open a .dp file and hand its description (JSON) to `take`. Returns NULL after handing an error to
  /// `fail`.
  void* (*open)(const char* path, void* context, void (*take)(void* context, const char* json),
                void (*fail)(void* context, const char* error));
  /// Hand on shape [rank] and values of an array. False after an error.
  bool (*read)(void* file, const char* name, void* context,
               void (*take)(void* context, int rank, const unsigned long long* shape, const double* values),
               void (*fail)(void* context, const char* error));
  void (*close)(void* file);
};
