#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/evaluate/case_data.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/evaluation/calibration.hpp"
#include "surrogates/flow/evaluation/histogram.hpp"
#include "surrogates/flow/evaluation/scores.hpp"

namespace quintet::meshfreeflow {

/// Spectra of a quantity over time at some places: "kinetic energy", or a field.
struct SpectrumSeries {
  std::string quantity;
  double place = 0;                 ///< coordinate along the other axis
  std::vector<double> wavenumbers;  ///< [mode] up to what the truth's points resolve
  double coarse_limit = 0;          ///< wavenumber up to which the coarse grid's points resolve
  std::vector<double> power;        ///< [frame][mode]
};

/// Errors after each frame was moved along the periodic axis to where it fits best.
struct ShiftedErrors {
  std::string axis;
  std::vector<double> rms;  ///< [field]
  double shift_rms = 0, shift_most = 0;
};

/// How a case's fields, as somebody has them, compare with the truth; the same on all ranks.
struct Judgement {
  std::string name;
  std::string seen{};  ///< "trained on 12, chosen by 0 of 24 frames" of this case; empty: on none
  std::vector<flow::FlowSample> samples;         ///< [frame], where the fields' meaning is known
  std::vector<flow::PointErrors> errors;         ///< [field]
  std::vector<double> vrmse;                     ///< [field] mean over frames of flow::vrmse_of_frame
  std::vector<flow::LogHistogram> error_sizes;   ///< [field] of |prediction - truth|
  std::optional<ShiftedErrors> shifted;          ///< where an axis is periodic
  std::optional<flow::LogHistogram> divergence;  ///< of |div u|, where the fields' meaning is known
  std::vector<double> residual_rms;              ///< [equation] by finite differences on the truth's grid
  std::vector<double> exact_residual_rms;        ///< [equation] by the decoder's own derivatives, or empty
  std::vector<flow::LogHistogram> residuals;     ///< [equation] of the exact ones, else of finite differences
  std::vector<SpectrumSeries> spectra;
  std::optional<flow::Calibration> calibration;  ///< of the residuals against the error, block by block
};

/// Data and steps that all judgements of a case share.
class Judge {
 public:
  /// @param equations nullptr: none. Throws InputError for parameters that are missing.
  Judge(const CaseData& data, const CaseFields& truth, const flow::FlowModelHeader& model,
        const std::vector<double>& spectra_at, Interrupt interrupt);

  /// Collective. Throws Interrupted.
  [[nodiscard]] Judgement judge(const Comm& comm, const CaseFields& fields) const;

 private:
  /// Call action(frame) for this rank's frames. Collective. Throws Interrupted.
  template <class Action>
  void for_frames(const Comm& comm, const Action& action) const;
  void add_errors(const Comm& comm, const CaseFields& fields, Judgement& result) const;
  void add_shifted_errors(const Comm& comm, const CaseFields& fields, Judgement& result) const;
  void add_statistics(const Comm& comm, const CaseFields& fields, Judgement& result) const;
  void add_residuals(const Comm& comm, const CaseFields& fields, Judgement& result) const;
  void add_spectra(const Comm& comm, const CaseFields& fields, Judgement& result) const;
  void calibrate(const Comm& comm, const CaseFields& fields,
                 const std::vector<std::vector<double>>& indicators, const std::vector<double>& rms,
                 Judgement& result) const;
  [[nodiscard]] std::vector<std::span<const double>> frames_of(const CaseFields& fields, int frame) const;
  [[nodiscard]] std::span<const double> frame_of(const std::vector<double>& field, int frame) const;

  const CaseData* data_;
  const CaseFields* truth_;
  std::optional<flow::Residuals> residuals_;
  std::vector<double> deviations_;  ///< [field] of the training data: the unit of errors
  std::array<int, 2> block_{};      ///< fine points of a block along the axes of space
  std::vector<double> spectra_at_;
  Interrupt interrupt_;
};

}  // namespace quintet::meshfreeflow
