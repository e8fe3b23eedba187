/// Writes a small ocean as modes.h5: three modes on a grid with land, a seasonal cycle and noisy linear
/// anomalies.
///
/// Usage: podlstm_case KIND PATH; KIND: weekly (700 weeks), longer (720 weeks of the same), other_grid,
/// other_mask, other_mean (of another base period), other_weeks, monthly, gaps (13 weeks are missing, one
/// step has 3 days), trend, fitted_late (modes from all times), still (the third mode never varies),
/// coefficients (without a grid).
///
/// Or fields of a monthly record of fifty years, a Pacific with an oscillation and a trend, as netCDF:
/// pacific (netCDF-4, longitudes from -180), pacific_east (the same, classic, longitudes from 0),
/// pacific_gaps (two months are missing), pacific_clouds (the first, without a fifth of its values).
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <random>

#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"

using namespace quintet;

namespace {

class Deviates {
 public:
  explicit Deviates(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double u = ((random_() >> 11) + 0.5) * 0x1p-53, v = (random_() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::mt19937_64 random_;
};

constexpr int n_modes = 3;

void add_fields(ocean::OceanModes& modes, double shift) {
  for (int i = 0; i < 18; ++i) modes.latitude.push_back(-85.0 + 10 * i);
  for (int j = 0; j < 18; ++j) modes.longitude.push_back(10 + shift + 20 * j);
  std::size_t points = 0;
  for (int i = 0; i < 18; ++i)
    for (int j = 0; j < 18; ++j) {
      const bool sea = !(i == 0 || (j < 3 && i > 5 && i < 13));
      modes.mask.push_back(sea ? 1 : 0);
      if (sea) ++points, modes.mean.push_back(28 * std::cos(modes.latitude[i] * std::numbers::pi / 180));
    }
  modes.weights.assign(points, 1.0);
  Deviates deviate(5);
  for (int m = 0; m < n_modes; ++m) {
    std::vector<double> mode(points);
    for (auto& value : mode) value = deviate();
    for (int pass = 0; pass < 2; ++pass)
      for (int k = 0; k < m; ++k) {
        double along = 0;
        for (std::size_t x = 0; x < points; ++x) along += mode[x] * modes.modes[k * points + x];
        for (std::size_t x = 0; x < points; ++x) mode[x] -= along * modes.modes[k * points + x];
      }
    double norm = 0;
    for (const double value : mode) norm += value * value;
    for (const double value : mode) modes.modes.push_back(value / std::sqrt(norm));
  }
}

ocean::OceanModes make(const std::string& kind) {
  ocean::OceanModes modes;
  auto& series = modes.series;
  series.n_modes = n_modes;
  Deviates deviate(kind == "other_weeks" ? 12 : 11);
  const int n = kind == "longer" ? 720 : 700;
  double x[n_modes] = {0, 0, 0}, day = ocean::day_of({1990, 1, 7});
  for (int t = 0; t < n; ++t) {
    const double old[n_modes] = {x[0], x[1], x[2]};
    x[0] = 0.9 * old[0] + 4 * deviate();
    x[1] = 0.95 * old[1] - 0.1 * old[2] + 2 * deviate();
    x[2] = 0.1 * old[1] + 0.95 * old[2] + 2 * deviate();
    if (kind == "monthly") day = ocean::day_of({1950 + t / 12, t % 12 + 1, 1});
    const double phase = 2 * std::numbers::pi * day / 365.2425;
    const bool missing = kind == "gaps" && t >= 300 && t < 313;
    if (!missing) {
      series.time.push_back(day);
      const double drift = kind == "trend" ? 0.2 * t : 0;
      series.values.insert(series.values.end(), {100 * std::cos(phase) + x[0] + drift,
                                                 20 * std::sin(phase) + x[1], kind == "still" ? 1 : x[2]});
    }
    day += kind == "gaps" && t == 150 ? 3 : 7;
  }
  modes.n_fit = kind == "fitted_late" ? n : 300;
  modes.singular_values = {300, 200, 100};
  modes.captured_variance = 0.9;
  modes.source = "made up";
  if (kind != "coefficients") add_fields(modes, kind == "other_grid" ? 5 : 0);
  if (kind == "other_mean") modes.mean[7] += 0.01;
  if (kind == "other_mask")  // a point of sea for one of land beside it
    for (std::size_t i = 1; i < modes.mask.size(); ++i)
      if (modes.mask[i] != modes.mask[i - 1]) {
        std::swap(modes.mask[i], modes.mask[i - 1]);
        break;
      }
  return modes;
}

/// Degrees Celsius at a point; x: the oscillation's two coefficients.
double pacific_sst(double day, double lat, double lon, const double* x, double noise) {
  const double pi = std::numbers::pi, phi = lat * pi / 180, east = std::fmod(lon + 360, 360);
  const double season = std::cos(2 * pi * day / 365.2425 - 0.6);
  const auto bump = [&](double y, double z, double height, double width) {
    return std::exp(-std::pow((lat - y) / height, 2) - std::pow((east - z) / width, 2));
  };
  return 27 * std::cos(phi) * std::cos(phi) - 1 - 4 * std::sin(phi) * season + 5.5e-5 * (day - 54786) +
         x[0] * bump(0, 230, 9, 40) + x[1] * bump(10, 185, 15, 30) + noise;
}

void write_pacific(const std::string& kind, const std::string& path) {
  std::vector<double> latitude, longitude, days, packed;
  for (int i = 0; i < 17; ++i) latitude.push_back(40 - 5 * i);
  for (int j = 0; j < 72; ++j) longitude.push_back((kind == "pacific_east" ? 0 : -180) + 5 * j);
  Deviates deviate(21);
  double x[2] = {0, 0};
  for (int t = 0; t < 600; ++t) {
    const double old[2] = {x[0], x[1]};
    x[0] = 0.92 * old[0] - 0.15 * old[1] + 0.35 * deviate();
    x[1] = 0.15 * old[0] + 0.92 * old[1] + 0.35 * deviate();
    const double day = ocean::day_of({1950 + t / 12, t % 12 + 1, 1});
    const bool missing = kind == "pacific_gaps" && (t == 200 || t == 201);
    if (!missing) days.push_back(day);
    for (const double lat : latitude)
      for (int k = 0; k < 72; ++k) {  // noise goes by the place, however longitudes are counted
        const double east = 5 * ((kind == "pacific_east" ? k : k + 36) % 72);
        const double noise = 0.1 * std::sin(1e4 * std::sin(day + 3 * lat + 7 * east));
        const bool land = east < 110 || east > 285 || (east < 145 && lat < -10) || (east > 250 && lat > 20);
        const bool cloud = kind == "pacific_clouds" && std::fmod(std::abs(1e6 * noise), 1) < 0.2;
        if (!missing)
          packed.push_back(land || cloud ? -32768
                                         : std::round(1000 * pacific_sst(day, lat, east, x, noise)) - 10000);
      }
  }
  auto file = netcdf::Writer::create(
      path, kind == "pacific_east" ? netcdf::Format::classic : netcdf::Format::netcdf4);
  file.dimension("time", days.size());
  file.dimension("lat", latitude.size());
  file.dimension("lon", longitude.size());
  file.variable("time", netcdf::Type::float64, {"time"});
  file.attribute("time", "units", "days since 1800-01-01 00:00:00");
  file.variable("lat", netcdf::Type::float32, {"lat"});
  file.attribute("lat", "units", "degrees_north");
  file.variable("lon", netcdf::Type::float32, {"lon"});
  file.attribute("lon", "units", "degrees_east");
  file.variable("sst", netcdf::Type::int16, {"time", "lat", "lon"});
  file.attribute("sst", "units", "degree_Celsius");
  file.attribute("sst", "scale_factor", 0.001, true);
  file.attribute("sst", "add_offset", 10, true);
  file.attribute("sst", "_FillValue", -32768);
  file.write("time", days);
  file.write("lat", latitude);
  file.write("lon", longitude);
  file.write("sst", packed);
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  Runtime runtime(argc, argv, 1, {});
  if (std::strncmp(argv[1], "pacific", 7) == 0)
    write_pacific(argv[1], argv[2]);
  else
    ocean::write_modes(Comm::world(), argv[2], make(argv[1]), hdf5::current_provenance());
  return 0;
}
