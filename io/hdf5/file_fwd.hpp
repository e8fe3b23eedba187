#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: file.hpp.
namespace quintet::hdf5 {

class File;
class Group;
class Series;
struct Description;
struct Provenance;

}  // namespace quintet::hdf5
