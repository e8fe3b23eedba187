#include "io/fields/xdmf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/ranges.h>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet {

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

using Numbers = std::vector<std::uint64_t>;

/// One frame of a field within its dataset.
struct Slab {
  Numbers start, count, whole;
  void add(std::uint64_t first, std::uint64_t n, std::uint64_t extent) {
    start.push_back(first);
    count.push_back(n);
    whole.push_back(extent);
  }
};

Slab slab_of(const XdmfSeries::Dataset& dataset, const Numbers& shape, std::uint64_t frame) {
  Slab slab;
  if (dataset.n_samples > 0) slab.add(dataset.sample, 1, dataset.n_samples);
  slab.add(frame, 1, std::max(dataset.n_times, frame + 1));
  for (const auto n : shape) slab.add(0, n, n);
  if (dataset.n_components > 0) slab.add(dataset.component, 1, dataset.n_components);
  return slab;
}

}  // namespace

XdmfSeries::XdmfSeries(const Comm& comm, std::string path, Description description,
                       const std::vector<double>& times)
    : comm_(std::make_shared<const Comm>(comm)),
      path_(std::move(path)),
      description_(std::move(description)) {
  std::string text = head;
  for (const double time : times) text += frame(time, n_frames_++);
  write(text);
}

void XdmfSeries::append(double time) { write(frame(time, n_frames_++)); }

void XdmfSeries::write(const std::string& text) {
  on_root(*comm_, [&] {
    if (const int error = write_from(path_, end_, text); error != 0)
      throw ResourceError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error)));
  });
  end_ += text.size();
}

/// The grid: three directions, of which those that are missing have one point.
std::string XdmfSeries::geometry() const {
  std::vector<XdmfAxis> axes(3 - description_.axes.size());
  axes.insert(axes.end(), description_.axes.begin(), description_.axes.end());
  const auto list = [&](const auto& item) {
    std::vector<std::string> items;
    for (const auto& axis : axes) items.push_back(fmt::format("{}", item(axis)));
    return fmt::format("{}", fmt::join(items, " "));
  };
  const auto points = list([](const XdmfAxis& axis) { return axis.n; });
  if (std::all_of(axes.begin(), axes.end(), [](const XdmfAxis& axis) { return axis.points.empty(); }))
    return fmt::format(R"(<Topology TopologyType="3DCoRectMesh" Dimensions="{}"/>
<Geometry GeometryType="ORIGIN_DXDYDZ">
<DataItem Format="XML" Dimensions="3">{}</DataItem>
<DataItem Format="XML" Dimensions="3">{}</DataItem>
</Geometry>
)",
                       points, list([](const XdmfAxis& axis) { return axis.first; }),
                       list([](const XdmfAxis& axis) { return axis.spacing; }));
  auto text = fmt::format("<Topology TopologyType=\"3DRectMesh\" Dimensions=\"{}\"/>\n", points);
  text += "<Geometry GeometryType=\"VXVYVZ\">\n";
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {  // the fastest is called X
    auto places = axis->points;
    for (std::uint64_t i = places.size(); i < axis->n; ++i) places.push_back(axis->first + i * axis->spacing);
    text += fmt::format("<DataItem Format=\"XML\" Dimensions=\"{}\">{}</DataItem>\n", axis->n,
                        fmt::join(places, " "));
  }
  return text + "</Geometry>\n";
}

std::string XdmfSeries::frame(double time, std::uint64_t number) const {
  std::vector<std::uint64_t> points(3 - description_.axes.size(), 1), shape;
  for (const auto& axis : description_.axes) shape.push_back(axis.n);
  points.insert(points.end(), shape.begin(), shape.end());
  std::string text = fmt::format("<Grid Name=\"frame_{}\" GridType=\"Uniform\">\n<Time Value=\"{}\"/>\n{}",
                                 number, time, geometry());
  for (const auto& one : description_.datasets) {
    const Slab slab = slab_of(one, shape, number);
    text +=
        fmt::format(R"(<Attribute Name="{}" AttributeType="Scalar" Center="Node">
<DataItem ItemType="HyperSlab" Dimensions="{}">
<DataItem Format="XML" Dimensions="3 {}">{} {} {}</DataItem>
<DataItem Format="HDF" NumberType="Float" Precision="{}" Dimensions="{}">{}:{}</DataItem>
</DataItem>
</Attribute>
)",
                    escaped(one.name), fmt::join(points, " "), slab.start.size(), fmt::join(slab.start, " "),
                    fmt::join(Numbers(slab.start.size(), 1), " "), fmt::join(slab.count, " "), one.precision,
                    fmt::join(slab.whole, " "), escaped(description_.data_file), escaped(one.path));
  }
  return text + "</Grid>\n";
}

}  // namespace quintet
