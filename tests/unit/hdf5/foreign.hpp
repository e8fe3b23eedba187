#pragma once

#include <string>

/// HDF5 files as others write them, made with the C library alone: what our own writer would never do.
namespace foreign {

/// A Deep Potential model as h5py stores it: JSON in a variable-length root attribute, small datasets with
/// the library's oldest format (no checksums of metadata), among them a scalar and an empty one.
void write_model(const std::string& path, const std::string& json);
/// A plain foreign file: fixed-length and space-padded texts, big-endian numbers, compressed and compound
/// datasets, a group that contains itself, a dangling link.
void write_mixture(const std::string& path);
/// A file of a few kB with the datasets `huge` (8e15 bytes never written), `overflow` (its size does not fit
/// 64 bits), `outside` (external storage) and `huge_attribute` of the root.
void write_liar(const std::string& path);
/// Two DeePMD systems as dpdata stores them: groups `water/a` (texts of fixed length) and `water/b` (of any
/// length) with type.raw 1 0, type_map.raw O H, and two frames of coord, box, energy and force in set.000;
/// values 0.1 0.2 0.3 ... but for the box of 10 angstrom. `b` has no force, and numbers in single precision.
void write_deepmd_systems(const std::string& path);

/// `x`, 30 rows in chunks of 10 of which the second was never written; the others hold 1 2 3 ...
void write_gap(const std::string& path);
/// `zstd` and `unknown`, compressed by filters that the library has while the file is written alone (32015
/// and 300, which here change nothing); `skipped`, of a filter that no chunk has gone through.
void write_filtered(const std::string& path);
/// Numbers [5, 7, 9] in chunks [1, 4, 5]: `packed`, int16, shuffled and deflated; `deflated` and `plain`,
/// float32. Of those that follow, readers past the library must leave their hands: `checked` (Fletcher's
/// checksums), `swapped` (big-endian), `wide` (int32 that no reader of fields unpacks there), `gap` (chunks
/// that were never written).
void write_chunked(const std::string& path);
/// Make the library have filter 32015 from now on, or lack it.
void install_filter(bool there);
/// What one rank of an older version made: `x` [20] and `wide` [2, 6] that grow, of numbers 1 2 3 ..., in
/// chunks of 10 and of one row that come when they are written; and `packed` [20], deflated, whose chunks
/// come as it grows.
void write_late_series(const std::string& path);

}  // namespace foreign
