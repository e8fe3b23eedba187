#include "physics/kinetics/xdmf.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::kinetics {

namespace {

constexpr const char* head = R"(<?xml version="1.0" ?>
<Xdmf Version="3.0">
<Domain>
<Grid Name="frames" GridType="Collection" CollectionType="Temporal">
)";
constexpr const char* tail = "</Grid>\n</Domain>\n</Xdmf>\n";

/// Write `text` and the closing tags from byte `begin` on; an errno, 0 if all went well.
int write_from(const std::string& path, long begin, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), begin == 0 ? "wb" : "r+b");
  if (file == nullptr) return errno;
  int error = std::fseek(file, begin, SEEK_SET) != 0 ? errno : 0;
  if (error == 0 && (std::fputs(text.c_str(), file) < 0 || std::fputs(tail, file) < 0)) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  return error;
}

/// Names come from input files: XML's special characters are written as entities.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

}  // namespace

XdmfSeries::XdmfSeries(const Comm& comm, std::string path, Description description,
                       const std::vector<double>& times)
    : comm_(comm), path_(std::move(path)), description_(std::move(description)) {
  std::string text = head;
  for (const double time : times) text += frame(time, n_frames_++);
  write(text);
}

void XdmfSeries::append(double time) { write(frame(time, n_frames_++)); }

void XdmfSeries::write(const std::string& text) {
  const int error = comm_.broadcast(comm_.is_root() ? write_from(path_, end_, text) : 0);
  if (error != 0) throw ResourceError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error)));
  end_ += static_cast<long>(text.size());
}

std::string XdmfSeries::frame(double time, std::uint64_t number) const {
  // A uniform grid of three directions, of which those that are missing have one point.
  std::vector<std::uint64_t> points(3, 1), shape;
  std::vector<double> origin(3, 0), spacing(3, 1);
  const std::size_t first = 3 - description_.axes.size();
  for (std::size_t i = 0; i < description_.axes.size(); ++i) {
    const auto& axis = description_.axes[i];
    shape.push_back(axis.n);
    points[first + i] = axis.n;
    origin[first + i] = axis.first;
    spacing[first + i] = axis.spacing;
  }
  const auto extents = fmt::format("{}", fmt::join(shape, " "));
  std::string text =
      fmt::format(R"(<Grid Name="frame_{}" GridType="Uniform">
<Time Value="{}"/>
<Topology TopologyType="3DCoRectMesh" Dimensions="{}"/>
<Geometry GeometryType="ORIGIN_DXDYDZ">
<DataItem Format="XML" Dimensions="3">{}</DataItem>
<DataItem Format="XML" Dimensions="3">{}</DataItem>
</Geometry>
)",
                  number, time, fmt::join(points, " "), fmt::join(origin, " "), fmt::join(spacing, " "));
  const std::size_t rank = shape.size() + 1;
  const std::vector<std::uint64_t> zeros(shape.size(), 0), ones(rank, 1);
  for (const auto& name : description_.datasets)
    text += fmt::format(R"(<Attribute Name="{}" AttributeType="Scalar" Center="Node">
<DataItem ItemType="HyperSlab" Dimensions="{}">
<DataItem Format="XML" Dimensions="3 {}">{} {} {} 1 {}</DataItem>
<DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="{} {}">{}:{}/{}</DataItem>
</DataItem>
</Attribute>
)",
                        escaped(name), fmt::join(points, " "), rank, number, fmt::join(zeros, " "),
                        fmt::join(ones, " "), extents, number + 1, extents, escaped(description_.data_file),
                        escaped(description_.group), escaped(name));
  return text + "</Grid>\n";
}

}  // namespace quintet::kinetics
