"""Every restartable command of all programs, as a run of about a second with many checkpoints."""
import dataclasses
import os

from inputs import CASES, SOURCE


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    words: tuple  # the command but for ranks, threads and output
    command: str  # as the table names it
    needs: tuple = ()  # of inputs.py
    ranks: tuple = (1, 2, 3)
    seldom: str = "checkpoint_interval=1000000000"  # a setting without checkpoints before the end; empty: there is none
    longer: tuple = ()  # settings with which a run would go on far beyond the moment at which it is killed
    round_off: float = 1e-9  # between numbers of ranks, relative to the largest value of a data set; 0: only which files there are
    only: tuple = ()  # what is compared, as patterns; empty: all
    floor: float = 1e-9  # differences below it are none on other ranks
    exact: tuple = (1, 2, 3)  # numbers of ranks on which two runs are the same
    sides: bool = False  # whether it has files of results beside run.h5
    own_store: bool = False  # its state is no folder of checkpoints


def settings(*pairs):
    return tuple(word for pair in pairs for word in ("--set", pair))


def case(path, *pairs):
    return (os.path.join(CASES, path), *settings(*pairs))


def dynamics(name, *pairs, longer=("time.steps=100000000",), **more):
    return Program(name, ("dpmd", "run", *case("dpmd/copper.yaml", "time.steps=600", "domain.skin=1 angstrom", "checkpoint_interval=50",
                                                  "checkpoint_keep=3", *pairs)),
                   "dpmd run", longer=longer, sides=True, **more)


WATER = os.path.join(SOURCE, "inputs/submatrix/water.yaml")
DEVIATION = ("potential.compress=off", "potential.model=[a.dp,b.dp]", "deviation={interval: 4, atomic: true}", "time.steps=160",
             "checkpoint_interval=20", "trajectory={interval: 10}",
             "selection={force_low: 0.00001 eV/angstrom, force_high: 10 eV/angstrom, most: 3, method: time}")

PROGRAMS = [
    dynamics("dpmd_nve", "trajectory={interval: 30, format: both}"),
    dynamics("dpmd_nvt", "integrator={ensemble: nose_hoover, temperature: 300 K}", "trajectory={interval: 40}",
             "observables={rdf: {interval: 20, r_max: 5 angstrom}, vacf: {}}",
             "observe={spectrum: {signal: temperature, window: 64}}"),
    dynamics("dpmd_npt", "integrator={ensemble: npt, temperature: 300 K, barostat: {pressure: 1 bar}}", "trajectory={interval: 40}"),
    dynamics("dpmd_langevin", "integrator={ensemble: langevin, temperature: 300 K}", "trajectory={interval: 30}"),
    dynamics("dpmd_deviation", *DEVIATION, needs=("copper",)),
    Program("dpmd_train", ("dpmd", "train", *case("dpmd/train.yaml", "steps=400", "checkpoint_interval=40")), "dpmd train", round_off=1e-5, sides=True),
    Program("dpmd_learn", ("dpmd", "learn", "loop.yaml"), "dpmd learn", needs=("copper", "loop"), ranks=(1,), seldom="",
            only=("models/*", "iteration_*/label/labelled.xyz", "run.h5"), own_store=True),
    Program("vlasov_wave", ("vlasov", "run", *case("vlasov/wave.yaml", "time.end=60", "grid.cells=[8,24]", "output.frame_interval=5",
                                                   "checkpoint_interval=60", "checkpoint_keep=3")),
            "vlasov run", longer=("time.end=1e5",)),
    Program("vlasov_pair", ("vlasov", "run", *case("vlasov/pair.yaml", "checkpoint_keep=3")), "vlasov run"),
    Program("vlasov_walls", ("vlasov", "run", *case("vlasov/walls.yaml", "time.end=3", "output.frame_interval=0.5", "checkpoint_interval=20",
                                                    "checkpoint_keep=3")), "vlasov run", longer=("time.end=1e5",)),
    Program("mesh_simulate", ("meshfreeflow", "simulate", *case("meshfreeflow/rolls.yaml", "time.end=12", "checkpoint_interval=30",
                                                                "limits.layer_cells=1")),
            "meshfreeflow simulate", longer=("time.end=1e5",), sides=True),
    Program("mesh_train", ("meshfreeflow", "train", *case("meshfreeflow/train.yaml", "data.files=[flow/fields.h5]", "steps=30",
                                                          "checkpoint_interval=5", "checkpoint_keep=3", "validation.interval=10")),
            "meshfreeflow train", needs=("flow",), longer=("steps=1000000",), round_off=0, sides=True),
    Program("mesh_control", ("meshfreeflow", "control", *case("meshfreeflow/control.yaml", "training.updates=60", "checkpoint_interval=5")),
            "meshfreeflow control", ranks=(1,), longer=("training.updates=1000000",)),
    Program("pod_train", ("podlstm", "train", *case("podlstm/train.yaml", "modes=weekly.h5", "forecast.members=3", "forecast.training.epochs=60",
                                                    'forecast.network.nodes=["16"]', "checkpoint_interval=5")),
            "podlstm train", needs=("ocean",)),
    Program("pod_search", ("podlstm", "search", *case("podlstm/search.yaml", "modes=weekly.h5", "search.trials=40", "search.workers.per_rank=1")),
            "podlstm search", needs=("ocean",), seldom="", round_off=0, exact=(1,), own_store=True),
    Program("pod_fit", ("podlstm", "fit", *case("podlstm/pacific.yaml", "fields.files=[pacific.nc]")), "podlstm fit", needs=("ocean",), seldom="",
            own_store=True),
    Program("submatrix", ("submatrix", "evaluate", WATER, *settings("matrices.repeat=[1,1,1]", "method.kernel=eigen", "method.columns_together=1",
                                                                    "method.thresholds=[1e-3,1e-3,1e-4,1e-4,1e-4,1e-5,1e-5,1e-5]")),
            "submatrix evaluate", seldom=""),
    Program("campaign", ("quintet", "campaign", "campaign.yaml"), "quintet campaign", needs=("campaign",), ranks=(1,), seldom="",
            only=("store/*/*.txt",), own_store=True),
]
BY_NAME = {program.name: program for program in PROGRAMS}
