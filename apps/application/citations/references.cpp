#include "apps/application/citations/references.hpp"

namespace quintet {

namespace {

constexpr Reference rows[] = {
    {"zhang2018deepmd", "dpmd", ""},
    {"zhang2018end", "dpmd", ""},
    {"jia2020", "dpmd run", ""},
    {"lu2022", "dpmd", "potential.compress=auto"},
    {"lu2022", "dpmd", "potential.compress=file"},
    {"zhang2020dpgen", "dpmd learn", ""},
    {"leimkuhler2013", "dpmd run", "integrator.ensemble=langevin"},
    {"leimkuhler2013", "dpmd run", "integrator.ensemble=npt & integrator.barostat.thermostat=langevin"},
    {"bussi2007", "dpmd run", "integrator.ensemble=velocity_rescaling"},
    {"bussi2007", "dpmd run", "integrator.ensemble=npt & integrator.barostat.thermostat=velocity_rescaling"},
    {"martyna1996", "dpmd run", "integrator.ensemble=nose_hoover"},
    {"martyna1996", "dpmd run", "integrator.ensemble=npt & integrator.barostat.thermostat=nose_hoover"},
    {"guenole2020", "dpmd run", "integrator.ensemble=minimise"},
    // What `auto` takes is uses_mtk() of physics/particles/dynamics.
    {"bernetti2020", "dpmd run", "integrator.ensemble=npt & integrator.barostat.method=cell_rescaling"},
    {"bernetti2020", "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & "
     "integrator.barostat.thermostat!=nose_hoover & "
     "integrator.barostat.coupling!=triclinic & !integrator.barostat.pressure_tensor & "
     "integrator.barostat.axes.2"},
    {"martyna1994", "dpmd run", "integrator.ensemble=npt & integrator.barostat.method=mtk"},
    {"martyna1994", "dpmd run", "integrator.ensemble=nph"},
    {"martyna1994", "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & "
     "integrator.barostat.thermostat=nose_hoover"},
    {"martyna1994", "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & integrator.barostat.coupling=triclinic"},
    {"martyna1994", "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & integrator.barostat.pressure_tensor"},
    {"martyna1994", "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & !integrator.barostat.axes.2"},
    {"fan2015", "dpmd run", "observables.heat_current"},
    {"ziegler1985", "dpmd run", "potential.repulsion"},
    {"grimme2010", "dpmd", "potential.dispersion"},
    {"grimme2011", "dpmd", "potential.dispersion"},
    {"hakim2020", "vlasov", ""},
    {"juno2018", "vlasov", ""},
    {"lenard1958", "vlasov", "collisions.operator=lbo"},
    {"bhatnagar1954", "vlasov", "collisions.operator=bgk"},
    {"lass2020", "submatrix", ""},
    {"verstappen2003", "meshfreeflow simulate", ""},
    {"verstappen2003", "meshfreeflow control", ""},
    {"cox2002", "meshfreeflow flow", ""},
    {"beintema2020", "meshfreeflow control", ""},
    {"schulman2017", "meshfreeflow control", "training.algorithm=ppo"},
    {"haarnoja2018", "meshfreeflow control", "training.algorithm=sac"},
    {"jiang2020", "meshfreeflow train", ""},
    {"li2021fourier", "meshfreeflow train", "model.encoder.kind=fourier"},
    {"chakraborty2025", "meshfreeflow train", "loss.spectral!=0"},
    {"jiang2020", "meshfreeflow superresolve", ""},
    {"jiang2020", "meshfreeflow evaluate", ""},
    {"maulik2020", "podlstm", ""},
    {"hochreiter1997", "podlstm train", ""},
    {"hochreiter1997", "podlstm search", ""},
    {"real2019", "podlstm search", "search.method=evolution"},
    {"rajbhandari2020", "", "parallel.strategy=sharded"},
    {"kingma2015", "dpmd train", ""},
    {"kingma2015", "meshfreeflow train", "optimiser.kind=adam"},
    {"paszke2019", "meshfreeflow train", ""},
    {"paszke2019", "meshfreeflow superresolve", ""},
    {"trott2022", "", ""},
};

}  // namespace

std::span<const Reference> references() { return rows; }

}  // namespace quintet
