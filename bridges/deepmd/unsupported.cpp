#include "bridges/deepmd/handles.hpp"

/// DeePMD-kit's functions for what is not here, which its LAMMPS plugin is linked to: asked whether all is
/// well, they name it. Arguments do not matter, and results are 0: a host that has not looked at the error
/// gets no further than the next look.

namespace {
int nothing = 0;  ///< where handles of what is not here point to: not null, which would end a host
}

#define QUINTET_NONE(NAME) \
  long NAME() { return 0; }
#define QUINTET_NEW(NAME) \
  void* NAME() { return &nothing; }
#define QUINTET_REFUSES(NAME, WHAT)                                                         \
  const char* NAME() {                                                                      \
    return quintet::bridges::copy_of(                                                       \
        WHAT                                                                                \
        " is not supported by Quintet's stand-in for DeePMD-kit (pair_style deepmd with a " \
        "model of energies is)");                                                           \
  }

extern "C" {
QUINTET_REFUSES(DP_DeepSpinCheckOK, "a model of spins (pair_style deepspin)")
QUINTET_REFUSES(DP_DeepSpinModelDeviCheckOK, "a model of spins (pair_style deepspin)")
QUINTET_REFUSES(DP_DeepTensorCheckOK, "a model of tensors (compute deeptensor/atom, fix dplr)")
QUINTET_REFUSES(DP_DipoleChargeModifierCheckOK, "long-range electrostatics (fix dplr)")
QUINTET_NEW(DP_NewDeepSpin)
QUINTET_NEW(DP_NewDeepSpinWithParam2)
QUINTET_NEW(DP_NewDeepSpinModelDevi)
QUINTET_NEW(DP_NewDeepSpinModelDeviWithParam)
QUINTET_NEW(DP_NewDeepTensor)
QUINTET_NEW(DP_NewDeepTensorWithParam)
QUINTET_NEW(DP_NewDipoleChargeModifier)
QUINTET_NEW(DP_NewDipoleChargeModifierWithParam)
QUINTET_NONE(DP_DeepSpinComputeNList2)
QUINTET_NONE(DP_DeepSpinComputeNList3)
QUINTET_NONE(DP_DeepSpinGetDimAParam)
QUINTET_NONE(DP_DeepSpinGetDimChgSpin)
QUINTET_NONE(DP_DeepSpinGetDimFParam)
QUINTET_NONE(DP_DeepSpinHasDefaultFParam)
QUINTET_NONE(DP_DeepSpinIsAParamNAll)
QUINTET_NONE(DP_DeepSpinModelDeviComputeNList2)
QUINTET_NONE(DP_DeepSpinModelDeviComputeNList3)
QUINTET_NONE(DP_DeepSpinModelDeviGetDimAParam)
QUINTET_NONE(DP_DeepSpinModelDeviGetDimChgSpin)
QUINTET_NONE(DP_DeepSpinModelDeviGetDimFParam)
QUINTET_NONE(DP_DeepSpinModelDeviHasDefaultFParam)
QUINTET_NONE(DP_DeepSpinModelDeviIsAParamNAll)
QUINTET_NONE(DP_DeepSpinModelDeviSetChargeSpin)
QUINTET_NONE(DP_DeepSpinSetChargeSpin)
QUINTET_NONE(DP_DeepSpinUsesNativeSpinScheme)
QUINTET_NONE(DP_DeepTensorComputeNList)
QUINTET_NONE(DP_DeepTensorComputeTensorNList)
QUINTET_NONE(DP_DeepTensorGetNumbSelTypes)
QUINTET_NONE(DP_DeepTensorGetOutputDim)
QUINTET_NONE(DP_DeepTensorGetSelTypes)
QUINTET_NONE(DP_DeepTensorGetTypeMap)
QUINTET_NONE(DP_DeleteDeepSpin)
QUINTET_NONE(DP_DeleteDeepSpinModelDevi)
QUINTET_NONE(DP_DeleteDeepTensor)
QUINTET_NONE(DP_DeleteDipoleChargeModifier)
QUINTET_NONE(DP_DipoleChargeModifierComputeNList)
QUINTET_NONE(DP_DipoleChargeModifierGetNumbSelTypes)
QUINTET_NONE(DP_SelectByType)
QUINTET_NONE(DP_SelectMapInt)
}
