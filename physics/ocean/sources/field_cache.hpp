#pragma once

#include <memory>
#include <string>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean {

/// Keep the fields of a source that takes long to read (means of thousands of files) in a file of ours, and
/// read them from there.
///
/// Each time has a mark of what it is made of (FieldSource::stamp()) and a checksum of its values. Times
/// whose marks agree are taken from the file; others are made, ranks sharing the work, and written, values
/// before marks: a run that is killed loses the times that were under way, and the next one goes on. A record
/// that has become longer makes the file longer. A source with other settings or another grid is refused.
///
/// File: schema quintet.ocean_cache, version 1: time [T], lat, lon, fields [T, lat, lon], made_of and
/// row_checksum [T]; attributes settings, units, calendar.
///
/// @param settings whatever else decides on the values
/// Collective. Throws InputError that names the file: not of this schema, other settings or grid, changed
/// values, a source without stamps; Interrupted on a signal.
[[nodiscard]] std::unique_ptr<FieldSource> kept_in(const Comm& comm, const std::string& path,
                                                   const std::string& settings,
                                                   std::unique_ptr<FieldSource> source);

/// Check that a file of this name may keep fields: there is none, or a whole one that kept_in() made. So what
/// it cannot use is refused before anything is read or written. Collective. Throws InputError that names it.
/// @param section of the input file that names it
void check_cache(const Comm& comm, const std::string& path, const std::string& section);

}  // namespace quintet::ocean
