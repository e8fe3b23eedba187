#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "physics/convection/spectra.hpp"
#include "physics/convection/statistics.hpp"

namespace quintet::convection::testing {

/// Samples and spectra of both are the same, relative to what there is of each. Collective.
inline void expect_same_numbers(const Boussinesq& a, const Boussinesq& b, double tolerance) {
  for (int m = 0; m < a.n_members(); ++m) {
    const Sample one = sample(Exec(), a, m), other = sample(Exec(), b, m);
    for (double Sample::*number :
         {&Sample::nusselt_volume, &Sample::nusselt_warm, &Sample::nusselt_cold, &Sample::profile_heat,
          &Sample::kinetic_energy, &Sample::dissipation, &Sample::thermal_dissipation, &Sample::buoyancy_work,
          &Sample::buoyancy_variance, &Sample::u_max, &Sample::w_max, &Sample::b_min, &Sample::b_max})
      EXPECT_NEAR(one.*number, other.*number, tolerance * std::max(1.0, std::abs(one.*number)));
    EXPECT_NEAR(one.divergence, other.divergence, 1e-11);
    const Spectra waves = spectra(Exec(), a, m), others = spectra(Exec(), b, m);
    ASSERT_EQ(waves.wavenumber, others.wavenumber);
    for (std::vector<double> Spectra::*kind : {&Spectra::kinetic_middle, &Spectra::buoyancy_middle,
                                               &Spectra::kinetic_volume, &Spectra::buoyancy_volume}) {
      ASSERT_EQ((waves.*kind).size(), (others.*kind).size());
      for (std::size_t k = 0; k < (waves.*kind).size(); ++k)
        EXPECT_NEAR((waves.*kind)[k], (others.*kind)[k], tolerance) << "wave " << k;
    }
  }
}

}  // namespace quintet::convection::testing
