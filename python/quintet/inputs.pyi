# Made by python/generate_stubs.py from the schemas of the programs; a test compares it with them.
from pathlib import Path
from typing import Any, Literal, Optional, Sequence, TypedDict, Union

from typing_extensions import Required

COMMANDS: dict[str, tuple[str, ...]]

class Input:
    app: str
    command: str
    values: dict[str, Any]
    def __init__(self, app: str, command: str, values: dict[str, Any]) -> None: ...
    def write(self, file: Union[str, Path], check: Union[bool, Literal['build']] = ...) -> Path: ...
    def yaml(self) -> str: ...

class Maker: ...

def schemas(app: str) -> dict[str, Any]: ...
def owner_of(file: Path, app: Optional[str] = ..., command: Optional[str] = ...) -> tuple[str, str]: ...
def said_by(file: Path) -> tuple[Optional[str], Optional[str]]: ...

class DpmdRunSystem(TypedDict, total=False):
    file: Required[str]  # Atoms: extended XYZ, LAMMPS data or dump, a DeePMD folder, an H5MD trajectory, POSCAR, OUTCAR, XDATCAR, vasprun.xml, CIF or a checkpoint
    frame: Union[int, None]  # Frame to take, from 0; negative ones count from the end
    types: Sequence[str]  # Names of the types of files that number them and do not name them: [O, H]. They must agree with labels and maps of the file; comments of LAMMPS data give way
    periodic: Sequence[str]  # Which of x, y, z are periodic, where the file does not say (LAMMPS data, POSCAR, a Lattice without pbc); absent: all; 0 to 3 values
    selective_dynamics: bool  # Atoms that the file holds (F F F of VASP's selective dynamics) do not move; false: they do
    masses: dict[str, str]  # Masses of types by name, such as isotopes, in place of the file's and of the standard ones of elements; unit: g/mol, amu, g, kg; above 0 amu
    replicate: Sequence[int]  # Copies along the cell's rows; 3 values, each at least 1 and at most 1000000
class DpmdRunPotentialAtomParameters(TypedDict, total=False):
    types: Required[Sequence[str]]  # Types whose atoms have them; at least 1 value
    values: Required[Sequence[float]]  # As many as the model was trained with; at least 1 value
class DpmdRunPotentialRepulsion(TypedDict, total=False):
    kind: Literal['zbl']  # Universal screened repulsion of the nuclei (Ziegler, Biersack, Littmark), added to the model
    inner: str  # Whole up to this distance; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    outer: str  # Switched off smoothly up to this distance; below the closest pairs of the training data, as it is added to the model; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
class DpmdRunPotentialAlso(TypedDict, total=False):
    model: Required[str]  # Model of either kind, evaluated as the first one
    types: Sequence[str]  # Types it acts on: it sees no other atoms; absent: all that it knows
class DpmdRunPotentialPairs(TypedDict, total=False):
    formula: Literal['lennard_jones', 'morse']  # lennard_jones: 4 depth ((length/r)^12 - (length/r)^6); morse: depth (x^2 - 2 x), x = exp(-stiffness (r - length))
    types: Required[Sequence[str]]  # The two types; 2 values
    depth: Union[str, None]  # Of the well; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    length: Union[str, None]  # sigma of lennard_jones, distance of the minimum of morse; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    stiffness: Union[str, None]  # Of morse; unit: 1/cm, 1/angstrom, 1/nm; above 0 1/angstrom
    cutoff: str  # Nothing beyond; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Fades to nothing over this before the cutoff; 0: cut; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdRunPotentialDispersion(TypedDict, total=False):
    functional: Union[str, None]  # Density functional that the model was trained with, for s6, s8, a1 and a2: pbe, revpbe, blyp, bp86, b97d, tpss, tpss0, pbe0, b3lyp, hf, pbesol, revpbe0, olyp, tpssh, pw6b95, camb3lyp, b2plyp, hse06, scan, r2scan
    s6: Union[float, None]  # Weight of -C6/r^6, where no functional is named; absent: 1; at least 0
    s8: Union[float, None]  # Weight of -C8/r^8, where no functional is named
    a1: Union[float, None]  # Damping length a1 sqrt(C8/C6) + a2, where no functional is named
    a2: Union[str, None]  # Its constant part; unit: angstrom, nm, bohr, um, mm, m, km
    s9: float  # Weight of triples (Axilrod, Teller, Muto); their cost is the square of the pairs': 0 or 1; at least 0
    table: str  # Reference C6 and radii: dftd3_params.npz of the Python package torch-dftd (docs/dispersion.md says how to get it)
    types: Sequence[str]  # Types it acts on, named after elements; absent: all
    cutoff: str  # Of pairs (60 bohr, as in the authors' program); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    triple_cutoff: str  # Of each side of a triple (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    coordination_cutoff: str  # Of neighbours that C6 depends on (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Pairs and triples fade to nothing over this before their cutoff; 0: they are cut, which long cutoffs forgive; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdRunPotential(TypedDict, total=False):
    model: Required[Union[Sequence[str], Any]]  # Deep Potential model in DeePMD-kit's native format (.dp), or a model exported for LibTorch (.pth, .pt, .pt2: docs/exported.md), or several: the first drives, the others tell where it can be trusted (section deviation); at least 1 value
    precision: Literal['model', 'double', 'mixed', 'bf16']  # Arithmetic of the networks: as the model says, float64, or float32 (sums and forces stay float64); bf16: mixed, but the fitting networks' products are of numbers rounded to bfloat16, about the first frame's mean descriptors. Only for 'dpmd run' on cores; refused where forces differ from float64's by more than 1 % of their rms
    compress: Literal['auto', 'off', 'file']  # Embedding: piecewise polynomials made at the start (their error is printed), the networks themselves, or the table of a compressed model
    sel_overflow: Literal['lammps', 'deepmd']  # Which neighbours stay when there are more than sel holds: the nearest of each type (LAMMPS, TensorFlow) or first the nearest of all (PyTorch)
    frame_parameters: Sequence[float]  # Frame parameters (fparam) of a model that reads them, such as an electronic temperature, as it was trained with; absent: the model's default, if it has one
    atom_parameters: Sequence[DpmdRunPotentialAtomParameters]  # Parameters of atoms (aparam: a spin, a temperature) of a model that reads them, by type, of all types it knows; absent: each atom's own, the column aparam of system.file
    repulsion: Union[DpmdRunPotentialRepulsion, None]  # Short-range repulsion; absent: none
    types: Sequence[str]  # Types that the model acts on, where others are for `also`, `pairs` and `dispersion`: it sees no other atoms; absent: all that it knows
    also: Sequence[DpmdRunPotentialAlso]  # Further models, whose energies are added
    pairs: Sequence[DpmdRunPotentialPairs]  # Pair potentials, whose energies are added
    dispersion: Union[DpmdRunPotentialDispersion, None]  # Dispersion after Grimme (D3 with the damping of Becke and Johnson), added; absent: none
class DpmdRunTime(TypedDict, total=False):
    dt: str  # Time step; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 ps
    steps: Required[int]  # Number of steps (of a minimisation: at most); at least 0
class DpmdRunIntegratorBarostat(TypedDict, total=False):
    pressure: str  # Target pressure; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3
    pressure_end: Union[str, None]  # Target at the last step; linear in between; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3
    relaxation_time: str  # Time in which the volume relaxes if the compressibility is right; mtk: tau in the cell's mass, (N_f + 3) kT tau^2 / 3: in a stiff solid the cell swings faster, by sqrt(N kT / (bulk modulus * volume)); unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 ps
    compressibility: str  # Isothermal compressibility, roughly (default: water); a wrong one only changes the relaxation time; unit: 1/bar; above 0 1/bar
    coupling: Literal['isotropic', 'anisotropic', 'triclinic']  # Scale all directions alike, x, y and z each by its own pressure, or the angles too (mtk)
    thermostat: Literal['langevin', 'velocity_rescaling', 'nose_hoover']  # What keeps the temperature of npt, of the atoms and (mtk) of the cell: what integrator.ensemble names for constant volume, with the same friction, relaxation_time and chain_length; of the cell: a chain of its own with nose_hoover, else friction and noise
    method: Literal['auto', 'cell_rescaling', 'mtk']  # Stochastic cell rescaling, or a cell with inertia (Martyna, Tobias and Klein; Parrinello and Rahman); auto: cell_rescaling for npt where it can do what is asked for, else mtk, and mtk with nose_hoover, so that all is deterministic
    pressure_tensor: Union[Sequence[str], str]  # Target of each component in place of pressure: xx, yy, zz and, triclinic, xy, xz, yz (mtk); unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3; 0 to 6 values
    axes: Sequence[str]  # Directions that move, the others stay (mtk); a direction that is open must stay; 1 to 3 values
class DpmdRunIntegratorMinimiserCell(TypedDict, total=False):
    pressure: str  # Pressure that the cell relaxes to; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3
    pressure_tensor: Union[Sequence[str], str]  # Target of each component in place of pressure: xx, yy, zz and, triclinic, xy, xz, yz; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3; 0 to 6 values
    coupling: Literal['isotropic', 'anisotropic', 'triclinic']  # What relaxes: all directions alike, x, y and z each by its own pressure, or the angles too
    axes: Sequence[str]  # Directions that relax, the others stay; a direction that is open must stay; 1 to 3 values
    stress_tolerance: str  # Stop when no component of the pressure tensor that may relax is farther from its target; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3; above 0 bar
class DpmdRunIntegratorMinimiser(TypedDict, total=False):
    force_tolerance: str  # Stop when no atom's force is longer than this; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    max_displacement: str  # Farthest an atom moves in a step; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    dt_max_factor: float  # Longest step, in units of time.dt; at least 1
    cell: Union[DpmdRunIntegratorMinimiserCell, None]  # The cell relaxes with the atoms to a pressure: the enthalpy is minimised; absent: it stays
class DpmdRunIntegrator(TypedDict, total=False):
    ensemble: Literal['nve', 'langevin', 'velocity_rescaling', 'nose_hoover', 'npt', 'nph', 'minimise']  # nve: velocity Verlet; at constant temperature (NVT) by the thermostat that is named (langevin: Langevin dynamics (BAOAB), velocity_rescaling: stochastic velocity rescaling, nose_hoover: a Nose-Hoover chain); npt: at constant pressure too, see barostat.thermostat; nph: at constant pressure and enthalpy; minimise: FIRE 2.0
    temperature: Union[str, None]  # Target temperature (all but nve, nph and minimise; nph: of the cell's mass alone, 300 K unless given); unit: K; at least 0 K
    temperature_end: Union[str, None]  # Target at the last step; linear in between; unit: K; at least 0 K
    friction: str  # Langevin friction; unit: 1/ps, 1/fs, THz, Hz, 1/s; above 0 1/ps
    relaxation_time: str  # Relaxation time of velocity_rescaling and nose_hoover; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 ps
    chain_length: int  # Thermostats in the Nose-Hoover chain; at least 1 and at most 20
    barostat: Union[DpmdRunIntegratorBarostat, None]  # Constant pressure, for ensembles npt and nph
    minimiser: Union[DpmdRunIntegratorMinimiser, None]  # For ensemble minimise
class DpmdRunVelocities(TypedDict, total=False):
    temperature: Union[str, None]  # Draw velocities at this temperature (default: keep the input's; if it has none, integrator.temperature); unit: K; at least 0 K
    remove_momentum: bool  # Start with the centre of mass at rest
class DpmdRunFrozen(TypedDict, total=False):
    types: Sequence[str]  # Atoms of these types
    ids: Sequence[int]  # Atoms with these ids (from 1, in the order of the file; behind replicate); each at least 1
    x: Union[Sequence[str], str]  # Atoms whose x at the start lies between; with y and z: all of them; unit: angstrom, nm, bohr, um, mm, m, km; 0 to 2 values
    y: Union[Sequence[str], str]  # Likewise y; unit: angstrom, nm, bohr, um, mm, m, km; 0 to 2 values
    z: Union[Sequence[str], str]  # Likewise z; unit: angstrom, nm, bohr, um, mm, m, km; 0 to 2 values
class DpmdRunDomain(TypedDict, total=False):
    skin: str  # Neighbour lists reach this much beyond the cutoff; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    ranks: Sequence[int]  # Grid of ranks along the cell's rows; 0: chosen; 3 values, each at least 0 and at most 1000000
class DpmdRunTrajectory(TypedDict, total=False):
    format: Literal['h5md', 'xyz', 'both']  # trajectory.h5 (H5MD, all ranks write; forces in eV/angstrom), trajectory.xyz (extended XYZ, 17 digits, one rank writes; angstrom, angstrom/ps, eV, eV/angstrom), or both
    interval: int  # Steps between frames; at least 1
    velocities: bool  # Write velocities
    forces: bool  # Write forces
    single_precision: bool  # trajectory.h5 in float32: half the size
    unwrapped: bool  # Positions of trajectory.xyz without periodic jumps; false: in the cell. trajectory.h5 has the cell's and, beside them, the crossings
class DpmdRunObservablesRdf(TypedDict, total=False):
    interval: int  # Steps between two samples; at least 1
    r_max: str  # Largest distance; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom and at most 100 angstrom
    bin_width: str  # Width of a bin; unit: angstrom, nm, bohr, um, mm, m, km; at least 0.0001 angstrom
class DpmdRunObservablesBonds(TypedDict, total=False):
    interval: int  # Steps between two samples; at least 1
    cutoff: Required[str]  # Atoms are bonded while they are nearer than this; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom and at most 10 angstrom
    pairs: dict[str, str]  # Other cutoffs, by pairs of types; 0: such atoms are never bonded; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom and at most 10 angstrom
    bin_width: str  # Width of a bin of lengths; unit: angstrom, nm, bohr, um, mm, m, km; at least 0.0001 angstrom and at most 10 angstrom
    angle_bins: int  # Widths of a bin of angles from 0 to 180 degrees. Bins have their middle at multiples of it; at least 2 and at most 18000
class DpmdRunObservablesMsd(TypedDict, total=False):
    interval: int  # Steps between two samples; at least 1
    length: int  # Longest time difference, in samples; at least 2 and at most 1000000
    origin_interval: int  # A new time origin every so many samples; length / origin_interval origins are held, 24 bytes an atom each; at least 1
    fit_start: float  # The line for the diffusion coefficient is fitted from this fraction of the longest time to its end; at least 0 and at most 0.9
class DpmdRunObservablesVacf(TypedDict, total=False):
    interval: int  # Steps between two samples; at least 1
    length: int  # Longest time difference, in samples; at least 2 and at most 1000000
    origin_interval: int  # A new time origin every so many samples; length / origin_interval origins are held, 24 bytes an atom each; at least 1
class DpmdRunObservablesHeatCurrent(TypedDict, total=False):
    interval: int  # Steps between two samples; a sample costs one more evaluation of the forces; at least 1
    length: int  # Longest time difference, in samples: the correlation should have decayed by then; at least 2 and at most 100000
    plateau_start: float  # The conductivity is the mean of the integral from this fraction of the longest time difference to its end; at least 0 and at most 1
class DpmdRunObservables(TypedDict, total=False):
    rdf: Union[DpmdRunObservablesRdf, None]  # Radial distribution functions g(r) and coordination numbers
    bonds: Union[DpmdRunObservablesBonds, None]  # Distributions of bond lengths and bond angles, by types
    msd: Union[DpmdRunObservablesMsd, None]  # Mean-square displacements and diffusion coefficients
    vacf: Union[DpmdRunObservablesVacf, None]  # Velocity autocorrelation and vibrational spectrum
    heat_current: Union[DpmdRunObservablesHeatCurrent, None]  # Autocorrelation of the heat current and the thermal conductivity by Green and Kubo, at constant volume. It is the conductivity where types do not diffuse past one another
class DpmdRunDeviation(TypedDict, total=False):
    interval: int  # Steps between rows of model_devi.out; at least 1
    relative_force: Union[str, None]  # Divide an atom's force deviation by its mean force plus this level; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    relative_virial: Union[str, None]  # Divide a component's virial deviation by its mean (per atom) plus this level; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    atomic: bool  # Write the force deviation of every atom behind the row
    precision: Literal['run', 'double', 'mixed']  # Arithmetic of the models after the first: as potential.precision says (of bf16: mixed), or another. Models differ far more than float32 and float64 do, and mixed takes about half the time; the first model, which moves the atoms, is untouched
class DpmdRunSelection(TypedDict, total=False):
    force_low: Required[str]  # Least max_devi_f of a candidate; below, the models agree; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; at least 0 eV/angstrom
    force_high: Required[str]  # max_devi_f from which a frame is no physics any more; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    virial_low: Union[str, None]  # The same for max_devi_v, per atom; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; at least 0 eV
    virial_high: Union[str, None]  # The same for max_devi_v, per atom; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    most: int  # Frames to take at most; at least 1
    method: Literal['random', 'time', 'deviation', 'farthest']  # Which candidates, if there are more: at random, evenly in time, of the largest deviation, or each farthest from those before in its neighbour distances
class DpmdRunObserveSpectrogram(TypedDict, total=False):
    signal: Literal['temperature', 'pressure', 'pressure_xx', 'pressure_yy', 'pressure_zz', 'pressure_xy', 'pressure_xz', 'pressure_yz', 'volume', 'potential', 'velocity', 'current']  # A number of the thermo table; a component of the velocity of an atom or of several atoms of a type; or of the current, the sum of charge times velocity, whose spectrum is the infrared absorption of fixed charges
    type: Union[str, None]  # velocity: the mean of the spectra of atoms of this type. (The mean of their velocities moves with the centre of mass only)
    atoms: int  # velocity: how many atoms of the type, spread evenly over them; at least 1 and at most 4096
    atom: Union[int, None]  # velocity: the atom by its number, from 1, in place of a type; at least 1
    charges: dict[str, str]  # current: charges of types; others have none; unit: e, C
    component: Literal['x', 'y', 'z']  # Of velocity and current
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[str, None]  # constant_q: frequency of the first bin; unit: 1/ps, 1/fs, THz, Hz, 1/s; above 0 THz
    corner: Union[str, None]  # mel: frequency below which bands are about evenly wide, above which they widen with frequency; unit: 1/ps, 1/fs, THz, Hz, 1/s; above 0 THz
class DpmdRunObserveSpectrum(TypedDict, total=False):
    signal: Literal['temperature', 'pressure', 'pressure_xx', 'pressure_yy', 'pressure_zz', 'pressure_xy', 'pressure_xz', 'pressure_yz', 'volume', 'potential', 'velocity', 'current']  # A number of the thermo table; a component of the velocity of an atom or of several atoms of a type; or of the current, the sum of charge times velocity, whose spectrum is the infrared absorption of fixed charges
    type: Union[str, None]  # velocity: the mean of the spectra of atoms of this type. (The mean of their velocities moves with the centre of mass only)
    atoms: int  # velocity: how many atoms of the type, spread evenly over them; at least 1 and at most 4096
    atom: Union[int, None]  # velocity: the atom by its number, from 1, in place of a type; at least 1
    charges: dict[str, str]  # current: charges of types; others have none; unit: e, C
    component: Literal['x', 'y', 'z']  # Of velocity and current
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[str, None]  # constant_q: frequency of the first bin; unit: 1/ps, 1/fs, THz, Hz, 1/s; above 0 THz
    corner: Union[str, None]  # mel: frequency below which bands are about evenly wide, above which they widen with frequency; unit: 1/ps, 1/fs, THz, Hz, 1/s; above 0 THz
class DpmdRunObserve(TypedDict, total=False):
    spectrogram: Union[DpmdRunObserveSpectrogram, None]  # Frequencies of a number of the run over time, in group spectrogram of run.h5, with their mean, the spectrum
    spectrum: Union[DpmdRunObserveSpectrum, None]  # The mean spectrum of a number of the run by itself, in group spectrum of run.h5
class DpmdRunLimits(TypedDict, total=False):
    energy_drift: str  # Stop (exit 3) when the conserved energy has drifted by more per atom (not in a minimisation); unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    temperature: str  # Stop (exit 3) above this temperature (not in a minimisation); unit: K; above 0 K
class DpmdRunReference(TypedDict, total=False):
    rdf: Union[str, None]  # CSV file of r (angstrom) and g(r) to draw beside this run's, of all atoms or, where the second column's name is a pair as O_O, of that pair; needs observables.rdf
    label: str  # What the reference is, for legends
class DpmdTrainDataTraining(TypedDict, total=False):
    systems: Required[Union[Sequence[str], Any]]  # DeePMD folders (also folders or patterns that hold some), HDF5 files ('data.h5' or 'data.h5#/path'), extended XYZ, or VASP's OUTCAR and vasprun.xml; at least 1 value
    batch_size: Union[float, str]  # Frames a step: a number, 'auto' (the least with frames * atoms >= 32) or 'auto:ATOMS'
    probabilities: Sequence[float]  # Weight of each system in the draw; empty: its number of batches; each at least 0
    blocks: Sequence[str]  # Instead: systems FIRST to END - 1, from 0, share the weight, each by its number of batches; systems in no block are not drawn
class DpmdTrainDataValidation(TypedDict, total=False):
    systems: Required[Union[Sequence[str], Any]]  # As for training; at least 1 value
    batch_size: Union[float, str]  # As for training
    batches: int  # Batches for each row of the learning curve (numb_btch); at least 1
class DpmdTrainDataLabels(TypedDict, total=False):
    prefix: Union[str, None]  # What stands before energy, forces, virial and stress in extended XYZ: 'REF_', or '' for the plain names. Absent: the one source that a frame has; two that differ are refused
    stress_unit: Literal['eV/angstrom^3', 'GPa', 'kbar', 'bar']  # Unit of the stress in extended XYZ; a virial is in eV
    stress_sign: Literal['tension', 'pressure']  # What is counted positive in a stress: ASE and OVITO tension, VASP and CP2K pressure
    stress_limit: str  # Data with a larger stress (virial / volume) are refused, as of another unit; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3; above 0 GPa
class DpmdTrainData(TypedDict, total=False):
    training: Required[DpmdTrainDataTraining]  # What the model learns from
    validation: Union[DpmdTrainDataValidation, None]  # Frames held out; absent: none
    labels: Union[DpmdTrainDataLabels, None]  # Which labels of extended XYZ count, and what their stress means
    min_pair_distance: str  # Frames with two atoms nearer than this are left out, of training and validation; 0: none; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
    frame_memory: str  # Neighbours of frames are kept up to this size on each rank, made anew beyond it; on its device as much again; unit: MB, GB, MiB, GiB; at least 0 GB
class DpmdTrainModelDescriptorTypes(TypedDict, total=False):
    width: int  # Numbers that stand for a type (tebd_dim); at least 1 and at most 10000
    mode: Literal['concat', 'strip']  # How they reach the embedding network: concat: as inputs beside the distance; strip: by a network of their own that scales its outputs (tebd_input_mode)
    smooth: bool  # With strip the scale goes smoothly to 1 at the cutoff (smooth_type_embedding)
    in_fitting: bool  # The fitting network reads the numbers of the centre's type (concat_output_tebd)
class DpmdTrainModelDescriptor(TypedDict, total=False):
    type: Literal['se_e2_a', 'se_e2_r', 'se_e3', 'dpa1']  # se_e2_a: distances and angles, networks for each type; se_e2_r: distances alone; se_e3: angles between pairs of neighbours, networks for each pair of types; dpa1: as se_e2_a with networks that all types share (se_atten without attention layers)
    rcut: str  # Cutoff; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom and at most 100 angstrom
    rcut_smooth: str  # Where 1/r begins to go smoothly to 0; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
    sel: Union[Sequence[Union[float, str]], Any]  # Most neighbours of each type: [46, 92], of dpa1 of all types: [138], 'auto' (1.1 times the most in the training data, rounded up to a multiple of 4) or 'auto:FACTOR'; at least 1 value
    neurons: Sequence[int]  # Widths of the layers of the embedding networks; 1 to 20 values, each at least 1 and at most 100000
    timestep: bool  # Trained step sizes idt of layers with a skip connection (resnet_dt)
    activation: Literal['tanh', 'gelu', 'silu', 'relu', 'relu6', 'softplus', 'sigmoid', 'linear']  # Activation function
    axis_neurons: int  # Columns M2 of the second factor, of se_e2_a and dpa1; at least 1
    type_one_side: bool  # Embedding networks depend on the neighbour's type alone, not on the centre's too; those of se_e2_r always do, those of se_e3 never
    exclude_types: Sequence[str]  # Pairs of types that do not see one another, such as O-H; their rows are 0 (not of se_e2_r)
    protection: str  # p in 1/(r + p) (env_protection); unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
    set_davg_zero: bool  # Subtract no mean from the environment matrix; from that of dpa1 one is subtracted with smooth strip alone
    types: Union[DpmdTrainModelDescriptorTypes, None]  # How the networks of dpa1 tell types
class DpmdTrainModelFitting(TypedDict, total=False):
    neurons: Sequence[int]  # Widths of the layers of the fitting networks; 1 to 20 values, each at least 1 and at most 100000
    timestep: bool  # Trained step sizes idt of layers with a skip connection (resnet_dt)
    activation: Literal['tanh', 'gelu', 'silu', 'relu', 'relu6', 'softplus', 'sigmoid', 'linear']  # Activation function
    atom_parameters: int  # Numbers of each atom that the networks read beside the descriptor (aparam: a spin, a temperature); all data must have them: aparam.npy, or a column aparam of extended XYZ; at least 0 and at most 100
class DpmdTrainModel(TypedDict, total=False):
    type_map: Sequence[str]  # Names of the atom types in their order; empty: those of the data, in order of appearance
    start: Union[str, None]  # Go on from this model (.dp): its sizes, statistics, energy biases and weights; descriptor and fitting below are not used
    initial_model: Union[str, None]  # Fine-tune this model (.dp): as start, but with other types too: those of type_map, or its own and then what the data add. Types are matched by name; new ones begin with random networks; energy biases change by least squares of the new energies less the model's
    precision: Literal['double', 'single']  # Arithmetic of descriptor, networks and training
    descriptor: Union[DpmdTrainModelDescriptor, None]  # Environments to numbers
    fitting: Union[DpmdTrainModelFitting, None]  # Numbers to energies
    pair_exclude_types: Sequence[str]  # Pairs of types that are no neighbours at all
    atom_exclude_types: Sequence[str]  # Types whose atoms have no energy
    sel_overflow: Literal['lammps', 'deepmd']  # Which neighbours stay when there are more than sel holds: as in 'dpmd run'
    statistics_batches: int  # Batches of each system for mean and deviation of the environment matrix (data_stat_nbatch); at least 1
class DpmdTrainLossEnergy(TypedDict, total=False):
    start: float  # At the first step; falls or rises with the learning rate; at least 0
    limit: float  # When the learning rate is 0; 0 here or there: no such term; at least 0
    huber: float  # Deviation (energy and virial: an atom's share; eV, eV/angstrom) from which the term grows as |d|, below it as d^2/2; 0: d^2 everywhere; at least 0
class DpmdTrainLossForce(TypedDict, total=False):
    start: float  # At the first step; falls or rises with the learning rate; at least 0
    limit: float  # When the learning rate is 0; 0 here or there: no such term; at least 0
    huber: float  # Deviation (energy and virial: an atom's share; eV, eV/angstrom) from which the term grows as |d|, below it as d^2/2; 0: d^2 everywhere; at least 0
class DpmdTrainLossVirial(TypedDict, total=False):
    start: float  # At the first step; falls or rises with the learning rate; at least 0
    limit: float  # When the learning rate is 0; 0 here or there: no such term; at least 0
    huber: float  # Deviation (energy and virial: an atom's share; eV, eV/angstrom) from which the term grows as |d|, below it as d^2/2; 0: d^2 everywhere; at least 0
class DpmdTrainLoss(TypedDict, total=False):
    energy: Union[DpmdTrainLossEnergy, None]  # Prefactor of (dE)^2 / atoms
    force: Union[DpmdTrainLossForce, None]  # Prefactor of the mean of (dF)^2
    virial: Union[DpmdTrainLossVirial, None]  # Prefactor of the mean of (dV)^2 / atoms
    intensive: bool  # Energy and virial terms divided by atoms^2 (intensive_ener_virial)
class DpmdTrainLearningRate(TypedDict, total=False):
    start: float  # At the first step; above 0
    stop: float  # At the last step; above 0
    decay_steps: int  # Steps between two reductions; where not fewer than all steps: 100, or a hundredth of them; at least 1
    smooth: bool  # Reduce at every step instead (exponential)
    schedule: Literal['exponential', 'step', 'cosine']  # How it falls from start to stop. exponential: the same factor in equal times; step: times factor now and then; cosine: half a wave from start to stop
    factor: float  # What a reduction multiplies the rate by, down to stop (step); above 0 and at most 1
    warmup_steps: int  # First steps, in which the rate rises linearly to start; at least 0
    warmup_factor: float  # Share of start with which they begin; at least 0 and at most 1
class DpmdTrainOptimiser(TypedDict, total=False):
    beta1: float  # Decay of the mean of gradients; at least 0 and below 1
    beta2: float  # Decay of the mean of their squares; at least 0 and below 1
    epsilon: float  # Added to the root of that; above 0
    clip_norm: float  # Largest norm of the gradient of all parameters together: a longer one is shortened; 0: any. Of a training on a GPU the arrays are then the host's; at least 0
class DpmdTrainParallel(TypedDict, total=False):
    strategy: Literal['data', 'sharded', 'auto']  # data: each holder has everything; sharded: holders divide the optimiser's states, and what stage says (ZeRO); auto: the least of data and sharded that fits a rank's share of the node's free memory; losses are the same to the last bit
    stage: int  # sharded: 1 divides states, 2 gradients too; 3, weights too, is not to be had here; at least 1 and at most 3
    holder: Literal['node', 'rank']  # node: its ranks share one copy in memory, and only nodes send; rank: each has its own
    memory: Union[str, None]  # auto: what a rank may take of the memory where its arrays are, if less than its share; unit: MB, GB, MiB, GiB; above 0 GB
class DpmdTrainOffloadBudget(TypedDict, total=False):
    host: Union[str, None]  # States that a rank may keep in memory; absent: all (host), none (file); unit: MB, GB, MiB, GiB; at least 0 MB
    file: Union[str, None]  # Disk that a rank may take; absent: what is free; unit: MB, GB, MiB, GiB; at least 0 MB
class DpmdTrainOffloadDelayedUpdate(TypedDict, total=False):
    after: int  # Steps before the first delayed one; at least 0
class DpmdTrainOffload(TypedDict, total=False):
    optimiser: Literal['none', 'host', 'file']  # Where the optimiser's states are. none: beside the weights; host: in memory, of a training on a GPU the host's, within the budget; file: on a disk, but for the budget. Losses are the same to the last bit (on a GPU to round-off)
    path: Union[str, None]  # file: a folder on a disk of the node, for this run alone
    budget: Union[DpmdTrainOffloadBudget, None]  # What each rank may take
    delayed_update: Union[DpmdTrainOffloadDelayedUpdate, None]  # Weights are updated while the next step's gradient is computed, one step late; absent: not so
class DpmdTrainEarlyStopping(TypedDict, total=False):
    interval: int  # Steps between two looks at all frames held out; at least 1
    patience: int  # Looks without a lower loss after which the training ends; at least 1
    min_improvement: float  # A loss counts as lower if it is lower by this share of the least one; at least 0 and below 1
class DpmdEquationOfStateSystem(TypedDict, total=False):
    file: Required[str]  # Atoms: extended XYZ, LAMMPS data or dump, a DeePMD folder, an H5MD trajectory, POSCAR, OUTCAR, XDATCAR, vasprun.xml, CIF or a checkpoint
    frame: Union[int, None]  # Frame to take, from 0; negative ones count from the end
    types: Sequence[str]  # Names of the types of files that number them and do not name them: [O, H]. They must agree with labels and maps of the file; comments of LAMMPS data give way
    periodic: Sequence[str]  # Which of x, y, z are periodic, where the file does not say (LAMMPS data, POSCAR, a Lattice without pbc); absent: all; 0 to 3 values
    selective_dynamics: bool  # Atoms that the file holds (F F F of VASP's selective dynamics) do not move; false: they do
    masses: dict[str, str]  # Masses of types by name, such as isotopes, in place of the file's and of the standard ones of elements; unit: g/mol, amu, g, kg; above 0 amu
    replicate: Sequence[int]  # Copies along the cell's rows; 3 values, each at least 1 and at most 1000000
class DpmdEquationOfStatePotentialAtomParameters(TypedDict, total=False):
    types: Required[Sequence[str]]  # Types whose atoms have them; at least 1 value
    values: Required[Sequence[float]]  # As many as the model was trained with; at least 1 value
class DpmdEquationOfStatePotentialRepulsion(TypedDict, total=False):
    kind: Literal['zbl']  # Universal screened repulsion of the nuclei (Ziegler, Biersack, Littmark), added to the model
    inner: str  # Whole up to this distance; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    outer: str  # Switched off smoothly up to this distance; below the closest pairs of the training data, as it is added to the model; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
class DpmdEquationOfStatePotentialAlso(TypedDict, total=False):
    model: Required[str]  # Model of either kind, evaluated as the first one
    types: Sequence[str]  # Types it acts on: it sees no other atoms; absent: all that it knows
class DpmdEquationOfStatePotentialPairs(TypedDict, total=False):
    formula: Literal['lennard_jones', 'morse']  # lennard_jones: 4 depth ((length/r)^12 - (length/r)^6); morse: depth (x^2 - 2 x), x = exp(-stiffness (r - length))
    types: Required[Sequence[str]]  # The two types; 2 values
    depth: Union[str, None]  # Of the well; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    length: Union[str, None]  # sigma of lennard_jones, distance of the minimum of morse; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    stiffness: Union[str, None]  # Of morse; unit: 1/cm, 1/angstrom, 1/nm; above 0 1/angstrom
    cutoff: str  # Nothing beyond; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Fades to nothing over this before the cutoff; 0: cut; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdEquationOfStatePotentialDispersion(TypedDict, total=False):
    functional: Union[str, None]  # Density functional that the model was trained with, for s6, s8, a1 and a2: pbe, revpbe, blyp, bp86, b97d, tpss, tpss0, pbe0, b3lyp, hf, pbesol, revpbe0, olyp, tpssh, pw6b95, camb3lyp, b2plyp, hse06, scan, r2scan
    s6: Union[float, None]  # Weight of -C6/r^6, where no functional is named; absent: 1; at least 0
    s8: Union[float, None]  # Weight of -C8/r^8, where no functional is named
    a1: Union[float, None]  # Damping length a1 sqrt(C8/C6) + a2, where no functional is named
    a2: Union[str, None]  # Its constant part; unit: angstrom, nm, bohr, um, mm, m, km
    s9: float  # Weight of triples (Axilrod, Teller, Muto); their cost is the square of the pairs': 0 or 1; at least 0
    table: str  # Reference C6 and radii: dftd3_params.npz of the Python package torch-dftd (docs/dispersion.md says how to get it)
    types: Sequence[str]  # Types it acts on, named after elements; absent: all
    cutoff: str  # Of pairs (60 bohr, as in the authors' program); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    triple_cutoff: str  # Of each side of a triple (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    coordination_cutoff: str  # Of neighbours that C6 depends on (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Pairs and triples fade to nothing over this before their cutoff; 0: they are cut, which long cutoffs forgive; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdEquationOfStatePotential(TypedDict, total=False):
    model: Required[Union[Sequence[str], Any]]  # Deep Potential model in DeePMD-kit's native format (.dp), or a model exported for LibTorch (.pth, .pt, .pt2: docs/exported.md), or several: the first drives, the others tell where it can be trusted (section deviation); at least 1 value
    precision: Literal['model', 'double', 'mixed', 'bf16']  # Arithmetic of the networks: as the model says, float64, or float32 (sums and forces stay float64); bf16: mixed, but the fitting networks' products are of numbers rounded to bfloat16, about the first frame's mean descriptors. Only for 'dpmd run' on cores; refused where forces differ from float64's by more than 1 % of their rms
    compress: Literal['auto', 'off', 'file']  # Embedding: piecewise polynomials made at the start (their error is printed), the networks themselves, or the table of a compressed model
    sel_overflow: Literal['lammps', 'deepmd']  # Which neighbours stay when there are more than sel holds: the nearest of each type (LAMMPS, TensorFlow) or first the nearest of all (PyTorch)
    frame_parameters: Sequence[float]  # Frame parameters (fparam) of a model that reads them, such as an electronic temperature, as it was trained with; absent: the model's default, if it has one
    atom_parameters: Sequence[DpmdEquationOfStatePotentialAtomParameters]  # Parameters of atoms (aparam: a spin, a temperature) of a model that reads them, by type, of all types it knows; absent: each atom's own, the column aparam of system.file
    repulsion: Union[DpmdEquationOfStatePotentialRepulsion, None]  # Short-range repulsion; absent: none
    types: Sequence[str]  # Types that the model acts on, where others are for `also`, `pairs` and `dispersion`: it sees no other atoms; absent: all that it knows
    also: Sequence[DpmdEquationOfStatePotentialAlso]  # Further models, whose energies are added
    pairs: Sequence[DpmdEquationOfStatePotentialPairs]  # Pair potentials, whose energies are added
    dispersion: Union[DpmdEquationOfStatePotentialDispersion, None]  # Dispersion after Grimme (D3 with the damping of Becke and Johnson), added; absent: none
class DpmdEquationOfStateDomain(TypedDict, total=False):
    skin: str  # Neighbour lists reach this much beyond the cutoff; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    ranks: Sequence[int]  # Grid of ranks along the cell's rows; 0: chosen; 3 values, each at least 0 and at most 1000000
class DpmdEquationOfStateReference(TypedDict, total=False):
    label: str  # What the reference is
    lattice_constant: Union[str, None]  # Its lattice constant: cube root of the input cell's volume at the minimum, divided by the repeats; unit: angstrom, nm, bohr, um, mm, m, km
    bulk_modulus: Union[str, None]  # Its bulk modulus; unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3
    energy: Union[str, None]  # Its energy per atom at the minimum; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
class DpmdElasticConstantsSystem(TypedDict, total=False):
    file: Required[str]  # Atoms: extended XYZ, LAMMPS data or dump, a DeePMD folder, an H5MD trajectory, POSCAR, OUTCAR, XDATCAR, vasprun.xml, CIF or a checkpoint
    frame: Union[int, None]  # Frame to take, from 0; negative ones count from the end
    types: Sequence[str]  # Names of the types of files that number them and do not name them: [O, H]. They must agree with labels and maps of the file; comments of LAMMPS data give way
    periodic: Sequence[str]  # Which of x, y, z are periodic, where the file does not say (LAMMPS data, POSCAR, a Lattice without pbc); absent: all; 0 to 3 values
    selective_dynamics: bool  # Atoms that the file holds (F F F of VASP's selective dynamics) do not move; false: they do
    masses: dict[str, str]  # Masses of types by name, such as isotopes, in place of the file's and of the standard ones of elements; unit: g/mol, amu, g, kg; above 0 amu
    replicate: Sequence[int]  # Copies along the cell's rows; 3 values, each at least 1 and at most 1000000
class DpmdElasticConstantsPotentialAtomParameters(TypedDict, total=False):
    types: Required[Sequence[str]]  # Types whose atoms have them; at least 1 value
    values: Required[Sequence[float]]  # As many as the model was trained with; at least 1 value
class DpmdElasticConstantsPotentialRepulsion(TypedDict, total=False):
    kind: Literal['zbl']  # Universal screened repulsion of the nuclei (Ziegler, Biersack, Littmark), added to the model
    inner: str  # Whole up to this distance; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    outer: str  # Switched off smoothly up to this distance; below the closest pairs of the training data, as it is added to the model; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
class DpmdElasticConstantsPotentialAlso(TypedDict, total=False):
    model: Required[str]  # Model of either kind, evaluated as the first one
    types: Sequence[str]  # Types it acts on: it sees no other atoms; absent: all that it knows
class DpmdElasticConstantsPotentialPairs(TypedDict, total=False):
    formula: Literal['lennard_jones', 'morse']  # lennard_jones: 4 depth ((length/r)^12 - (length/r)^6); morse: depth (x^2 - 2 x), x = exp(-stiffness (r - length))
    types: Required[Sequence[str]]  # The two types; 2 values
    depth: Union[str, None]  # Of the well; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    length: Union[str, None]  # sigma of lennard_jones, distance of the minimum of morse; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    stiffness: Union[str, None]  # Of morse; unit: 1/cm, 1/angstrom, 1/nm; above 0 1/angstrom
    cutoff: str  # Nothing beyond; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Fades to nothing over this before the cutoff; 0: cut; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdElasticConstantsPotentialDispersion(TypedDict, total=False):
    functional: Union[str, None]  # Density functional that the model was trained with, for s6, s8, a1 and a2: pbe, revpbe, blyp, bp86, b97d, tpss, tpss0, pbe0, b3lyp, hf, pbesol, revpbe0, olyp, tpssh, pw6b95, camb3lyp, b2plyp, hse06, scan, r2scan
    s6: Union[float, None]  # Weight of -C6/r^6, where no functional is named; absent: 1; at least 0
    s8: Union[float, None]  # Weight of -C8/r^8, where no functional is named
    a1: Union[float, None]  # Damping length a1 sqrt(C8/C6) + a2, where no functional is named
    a2: Union[str, None]  # Its constant part; unit: angstrom, nm, bohr, um, mm, m, km
    s9: float  # Weight of triples (Axilrod, Teller, Muto); their cost is the square of the pairs': 0 or 1; at least 0
    table: str  # Reference C6 and radii: dftd3_params.npz of the Python package torch-dftd (docs/dispersion.md says how to get it)
    types: Sequence[str]  # Types it acts on, named after elements; absent: all
    cutoff: str  # Of pairs (60 bohr, as in the authors' program); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    triple_cutoff: str  # Of each side of a triple (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    coordination_cutoff: str  # Of neighbours that C6 depends on (40 bohr); unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    switch: str  # Pairs and triples fade to nothing over this before their cutoff; 0: they are cut, which long cutoffs forgive; unit: angstrom, nm, bohr, um, mm, m, km; at least 0 angstrom
class DpmdElasticConstantsPotential(TypedDict, total=False):
    model: Required[Union[Sequence[str], Any]]  # Deep Potential model in DeePMD-kit's native format (.dp), or a model exported for LibTorch (.pth, .pt, .pt2: docs/exported.md), or several: the first drives, the others tell where it can be trusted (section deviation); at least 1 value
    precision: Literal['model', 'double', 'mixed', 'bf16']  # Arithmetic of the networks: as the model says, float64, or float32 (sums and forces stay float64); bf16: mixed, but the fitting networks' products are of numbers rounded to bfloat16, about the first frame's mean descriptors. Only for 'dpmd run' on cores; refused where forces differ from float64's by more than 1 % of their rms
    compress: Literal['auto', 'off', 'file']  # Embedding: piecewise polynomials made at the start (their error is printed), the networks themselves, or the table of a compressed model
    sel_overflow: Literal['lammps', 'deepmd']  # Which neighbours stay when there are more than sel holds: the nearest of each type (LAMMPS, TensorFlow) or first the nearest of all (PyTorch)
    frame_parameters: Sequence[float]  # Frame parameters (fparam) of a model that reads them, such as an electronic temperature, as it was trained with; absent: the model's default, if it has one
    atom_parameters: Sequence[DpmdElasticConstantsPotentialAtomParameters]  # Parameters of atoms (aparam: a spin, a temperature) of a model that reads them, by type, of all types it knows; absent: each atom's own, the column aparam of system.file
    repulsion: Union[DpmdElasticConstantsPotentialRepulsion, None]  # Short-range repulsion; absent: none
    types: Sequence[str]  # Types that the model acts on, where others are for `also`, `pairs` and `dispersion`: it sees no other atoms; absent: all that it knows
    also: Sequence[DpmdElasticConstantsPotentialAlso]  # Further models, whose energies are added
    pairs: Sequence[DpmdElasticConstantsPotentialPairs]  # Pair potentials, whose energies are added
    dispersion: Union[DpmdElasticConstantsPotentialDispersion, None]  # Dispersion after Grimme (D3 with the damping of Becke and Johnson), added; absent: none
class DpmdElasticConstantsDomain(TypedDict, total=False):
    skin: str  # Neighbour lists reach this much beyond the cutoff; unit: angstrom, nm, bohr, um, mm, m, km; above 0 angstrom
    ranks: Sequence[int]  # Grid of ranks along the cell's rows; 0: chosen; 3 values, each at least 0 and at most 1000000
class DpmdLearnTrain(TypedDict, total=False):
    input: Required[str]  # YAML file of 'dpmd train'; its data.training.systems and seed are set here
    set: Sequence[str]  # Settings put over it, key.path=value
    reuse: bool  # Start from the weights of the iteration before, not anew
class DpmdLearnExplore(TypedDict, total=False):
    input: Required[str]  # YAML file of 'dpmd run'; its system.file, potential.model, selection and seed are set here
    starts: Union[Sequence[str], Any]  # Configurations to start from, a run each; absent: the input's own
    set: Sequence[str]  # Settings put over the input, key.path=value
    first_iteration: int  # First iteration that runs it, from 0; at least 0
    last_iteration: Union[int, None]  # Last iteration that runs it; absent: all; at least 0
class DpmdLearnSelection(TypedDict, total=False):
    force_low: Required[str]  # Least max_devi_f of a candidate; below, the models agree; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; at least 0 eV/angstrom
    force_high: Required[str]  # max_devi_f from which a frame is no physics any more; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    virial_low: Union[str, None]  # The same for max_devi_v, per atom; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; at least 0 eV
    virial_high: Union[str, None]  # The same for max_devi_v, per atom; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 eV
    most: int  # Frames to take at most; at least 1
    method: Literal['random', 'time', 'deviation', 'farthest']  # Which candidates, if there are more: at random, evenly in time, of the largest deviation, or each farthest from those before in its neighbour distances
DpmdLearnLabel = TypedDict('DpmdLearnLabel', {
    'with': Literal['cp2k', 'lammps', 'ipi'],  # Program that makes the labels
    'template': Required[str],  # Its input with {{cell}} and {{coordinates}} (CP2K), {{data_file}} and {{label}} and, if wanted, {{types}} and {{boundary}} (LAMMPS) where a frame's come, {{port}} (ipi). With {{driver}} CP2K and LAMMPS (in the place of {{label}}) stay and take frames by i-PI's protocol
    'command': Union[str, None],  # Shell command, run in a frame's folder; absent: 'cp2k.psmp -i cp2k.inp', 'lmp -in in.lammps -log none'; ipi needs one
    'jobs': int,  # Programs that run at once; at least 1 and at most 1000
    'time_limit': Union[str, None],  # Time that one frame may take; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 s
}, total=False)
class MeshfreeflowSimulateGridX(TypedDict, total=False):
    spacing: Literal['uniform', 'tanh', 'cosine']  # Equal cells; faces at tanh(s (2 q - 1))/tanh(s), q = 0 ... 1 in equal steps; or at -cos(pi q)
    strength: float  # s of tanh: the cells at both ends are s/(sinh(s) cosh(s)) of the mean width; above 0 and at most 10
class MeshfreeflowSimulateGridZ(TypedDict, total=False):
    spacing: Literal['uniform', 'tanh', 'cosine']  # Equal cells; faces at tanh(s (2 q - 1))/tanh(s), q = 0 ... 1 in equal steps; or at -cos(pi q)
    strength: float  # s of tanh: the cells at both ends are s/(sinh(s) cosh(s)) of the mean width; above 0 and at most 10
class MeshfreeflowSimulateGrid(TypedDict, total=False):
    cells: Required[Sequence[int]]  # Cells along x and z; 2 values, each at least 4 and at most 100000
    x: Union[MeshfreeflowSimulateGridX, None]  # Along x; unequal cells need walls at the sides
    z: Union[MeshfreeflowSimulateGridZ, None]  # Along z, from plate to plate
class MeshfreeflowSimulateTime(TypedDict, total=False):
    end: Required[float]  # Time at which the run ends; above 0 and at most 1000000000
    cfl: float  # dt = cfl/max(|u|/dx + |w|/dz), stable up to about 1; above 0 and at most 100
    most_dt: float  # The longest step; above 0 and at most 1
    dt: Union[float, None]  # A fixed step; absent: as long as cfl and most_dt admit; above 0 and at most 1
    steps: Union[int, None]  # At most so many steps; absent: any number; at least 0
MeshfreeflowSimulateWallsSegments = TypedDict('MeshfreeflowSimulateWallsSegments', {
    'wall': Required[Literal['bottom', 'top', 'left', 'right']],  # The wall; left and right where x is not periodic
    'from': Union[float, None],  # Where it begins: x of plates, z of sides; absent: at the corner
    'to': Union[float, None],  # Where it ends, above from; absent: at the corner
    'buoyancy': Union[float, None],  # Of a heated wall: b there, besides its 1/2 or -1/2; at least -1000 and at most 1000
    'heat': Union[float, None],  # Of a wall that insulates: slope of b towards the wall, which is the heat that it lets in over P = (Ra Pr)^-1/2; below 0 it takes heat out. 1: as much as is conducted over one height; at least -1000 and at most 1000
}, total=False)
class MeshfreeflowSimulateWalls(TypedDict, total=False):
    bottom: Literal['no_slip', 'free_slip']  # What the flow does at the lower plate, z = -1/2
    top: Literal['no_slip', 'free_slip']  # The same at the upper plate, z = 1/2
    sides: Literal['periodic', 'no_slip', 'free_slip']  # The ends of x: periodic, or walls
    heated: Literal['plates', 'sides']  # Which walls hold b = 1/2 (bottom, left) and -1/2 (top, right); the other two insulate
    segments: Sequence[MeshfreeflowSimulateWallsSegments]  # Parts of walls that are held at another buoyancy, or let heat in where they insulate; where they overlap they add
MeshfreeflowSimulateStart = TypedDict('MeshfreeflowSimulateStart', {
    'profile': Literal['conducting', 'none'],  # b of heat conduction; or 0: walls are heated at time 0, their layers grow from nothing
    'roll': float,  # Amplitude of cos(2 pi n x/length) cos(pi z) in b (between sides cos(pi n x/length))
    'roll_pairs': int,  # n of it; at least 1
    'noise': float,  # Amplitude of the noise in b, different for each seed; at least 0
    'noise_modes': int,  # 0: N(0, 1) (1/2 - z)(z + 1/2) of each cell; n: the lowest n by n waves, the same field on every grid; at least 0 and at most 1000
    'fields': Union[str, None],  # Begin with frames of this file, such as fields.h5 of another run, in place of profile, roll and noise: a flow for each sample and frame, on any grid
    'from': float,  # fields: time of the first frame to begin with
    'every': Union[float, None],  # fields: time between these frames; absent: all frames; above 0
}, total=False)
class MeshfreeflowSimulateSolver(TypedDict, total=False):
    kind: Literal['automatic', 'transform', 'modes', 'multigrid']  # transform: Fourier, cosine or sine transforms along x (equal cells); modes: products with the eigenvectors of the differences along x, as direct, for any cells; multigrid: conjugate gradients with PETSc's algebraic multigrid, for any cells, on a device with a geometric one of ours; automatic: transform where it can, else modes, but multigrid beyond 1024 cells along x
    tolerance: float  # multigrid: of the residual, relative to the right-hand side; above 0 and at most 0.001
MeshfreeflowSimulateOutput = TypedDict('MeshfreeflowSimulateOutput', {
    'frame_interval': Union[float, None],  # Time between frames; steps are cut so that one ends at each multiple; absent: start and end; above 0
    'from': float,  # Time of the first frame, where there is an interval; at least 0
}, total=False)
MeshfreeflowSimulateStatistics = TypedDict('MeshfreeflowSimulateStatistics', {
    'from': float,  # Time from which means and spectra are taken; at least 0
}, total=False)
class MeshfreeflowSimulateObserveSpectrogram(TypedDict, total=False):
    signal: Literal['u', 'w', 'b']  # Velocity along x or z, or buoyancy, of the flow of the first seed
    at: Required[Sequence[float]]  # Point, x and z; between the places of the field linear in each; 2 values
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[float, None]  # constant_q: angular frequency of the first bin; above 0
    corner: Union[float, None]  # mel: angular frequency below which bands are about evenly wide, above which they widen with frequency; above 0
class MeshfreeflowSimulateObserveSpectrum(TypedDict, total=False):
    signal: Literal['u', 'w', 'b']  # Velocity along x or z, or buoyancy, of the flow of the first seed
    at: Required[Sequence[float]]  # Point, x and z; between the places of the field linear in each; 2 values
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[float, None]  # constant_q: angular frequency of the first bin; above 0
    corner: Union[float, None]  # mel: angular frequency below which bands are about evenly wide, above which they widen with frequency; above 0
class MeshfreeflowSimulateObserve(TypedDict, total=False):
    spectrogram: Union[MeshfreeflowSimulateObserveSpectrogram, None]  # Frequencies of a field at a point over time, in group spectrogram of run.h5, with their mean, the spectrum
    spectrum: Union[MeshfreeflowSimulateObserveSpectrum, None]  # The mean spectrum of a field at a point by itself, in group spectrum of run.h5
class MeshfreeflowSimulateLimits(TypedDict, total=False):
    judged_from: float  # Time from which resolution is judged: layers that a start makes are thinner than any grid; at least 0
    shrunk_dt: float  # Stop (exit 3) when the step falls below this part of time.most_dt; at least 0 and below 1
    layer_cells: float  # Stop when the thermal boundary layer 1/(2 Nu) holds fewer cells, Nu the mean of the last 10 units of time; twice as many warn; at least 0
    kolmogorov_lengths: float  # Stop when the widest cell is so many times (R^3/eps)^(1/4) (of Batchelor where Pr > 1), eps likewise the mean; half of it warns; above 0
    spectrum_tail: float  # Stop when the upper third of wavenumbers holds this part of the variance of b about its mean over x; a tenth of it warns; above 0
    overshoot: float  # Stop when b leaves the range of the walls by more; a tenth of it warns; above 0
    budget: float  # Stop when kinetic energy leaves its budget (what buoyancy works, less dissipation) by this part of the work over the last 10 units of time; a tenth of it warns; above 0
    divergence: float  # Stop when a cell's divergence times time.most_dt is greater; above 0
class MeshfreeflowSimulateControlActuators(TypedDict, total=False):
    wall: Required[Literal['bottom', 'top', 'left', 'right']]  # A wall; of the pair that walls.heated names its buoyancy is set, of the other pair, which insulates, the heat that it lets in
    segments: int  # Equal parts of the wall with an action each; where x is periodic they divide grid.cells.0; at least 2 and at most 4096
    amplitude: float  # Greatest deviation of b at a heated wall from 1/2 or -1/2, at most 1: beyond, the warm wall could be colder than the cold one; of a wall that insulates the greatest slope of b towards it; above 0 and at most 1000
    blend: float  # Part of a segment over which one goes over into the next; at least 0 and at most 1
class MeshfreeflowSimulateControlSensorsWalls(TypedDict, total=False):
    wall: Required[Literal['bottom', 'top', 'left', 'right']]  # A wall, where x is not periodic
    points: int  # Points along it, in the middles of equal parts; at least 1 and at most 4096
class MeshfreeflowSimulateControlSensors(TypedDict, total=False):
    fields: Sequence[str]  # What probes read: u, w, and b less that of heat conduction (b + z, or b - 1/2 + x/length); 1 to 3 values
    probes: Sequence[int]  # Points along x and z, in the middles of equal parts; where x is periodic those along x are a multiple of the segments; 2 values, each at least 1 and at most 4096
    walls: Sequence[MeshfreeflowSimulateControlSensorsWalls]  # What is seen at walls besides, each once: heat through a heated one (the Nusselt number there less 1), b of one that insulates less that of heat conduction; 0 to 4 sections
MeshfreeflowSimulateControl = TypedDict('MeshfreeflowSimulateControl', {
    'actuators': Required[Sequence[MeshfreeflowSimulateControlActuators]],  # Walls that actions set, each once; 1 to 4 sections
    'sensors': Union[MeshfreeflowSimulateControlSensors, None],  # What is seen of the flow
    'reward': str,  # Formula of what an action earns, of means over its interval: nusselt, energy, heating, change, dissipation, thermal_dissipation, buoyancy_variance, nusselt_warm, nusselt_cold, u_max, w_max; heating and change are root mean squares along the walls that are set, of their deviation from +-1/2 and of its change
    'policy': Union[str, None],  # A policy of `meshfreeflow control` that `simulate` plays on one flow; absent: it runs the flow without an agent
    'from': float,  # policy: time of its first action; at least 0 and at most 1000000000
}, total=False)
class MeshfreeflowFlowBox(TypedDict, total=False):
    lengths: Union[Sequence[Union[float, str]], Any]  # Periods along x and y, which begin at 0; 2 values
    cells: Required[Sequence[int]]  # Cells along x and y, numbers with a fast transform; 2 values, each at least 4 and at most 32768
    dealias: Literal['two_thirds', 'three_halves', 'none']  # How products are kept free of waves that the grid takes for others. two_thirds: products on the cells, waves below a third of the cells are kept; three_halves: all waves that the cells hold are kept (below half of them), products are made on 3/2 as many points; none: all waves are kept and products are made on the cells: for what is well resolved.
class MeshfreeflowFlowTime(TypedDict, total=False):
    end: Required[float]  # Time at which the run ends; above 0 and at most 1000000000
    speeds: Union[Sequence[Union[float, str]], Any]  # Speeds along x and y of what travels fastest, such as [abs(u) + sqrt(g*h), abs(v) + sqrt(g*h)]; 0 to 2 values
    cfl: float  # dt = cfl/max(|speed_x| K_x + |speed_y| K_y), K the highest wavenumber kept: radians that the shortest wave travels in a step; steps of ETDRK4 are stable up to 2 sqrt(2); above 0 and at most 2.8
    most_dt: float  # The longest step, where there are speeds; above 0 and at most 1000000
    dt: Union[float, None]  # A fixed step; with speeds the longest that is taken; above 0 and at most 1000000
    steps: Union[int, None]  # At most so many steps; absent: any number; at least 0
class MeshfreeflowFlowNoise(TypedDict, total=False):
    variable: Required[str]  # To which it is added
    rms: Required[float]  # Its root mean square, on average over seeds; above 0
    least_wave: float  # Waves of the box with at least this number, sqrt(j^2 + l^2); at least 1
    most_wave: float  # And at most this one; at least 1
MeshfreeflowFlowOutput = TypedDict('MeshfreeflowFlowOutput', {
    'frame_interval': Union[float, None],  # Time between frames; steps are cut so that one ends at each multiple; absent: start and end; above 0
    'from': float,  # Time of the first frame, where there is an interval; at least 0
    'fields': Sequence[str],  # Variables and diagnosed fields in the frames; none given: all of them
    'double_precision': bool,  # Frames of float64 instead of float32
}, total=False)
class MeshfreeflowFlowSpectra(TypedDict, total=False):
    name: Required[str]  # Of the spectrum in run.h5
    of: Required[Union[Sequence[Union[float, str]], Any]]  # Formulas f whose shares of the sum of <f^2>/2 it has, wavenumber by wavenumber; at least 1 value
class MeshfreeflowFlowLimits(TypedDict, total=False):
    shrunk_dt: float  # Stop (exit 3) when the step that time.cfl admits falls below this part of time.most_dt; at least 0 and below 1
    spectrum_tail: float  # Stop when waves beyond two thirds of those kept, along x or y, hold more than this part of a variable's variance; a tenth of it warns. 1: never; above 0 and at most 1
class MeshfreeflowControlFlow(TypedDict, total=False):
    rayleigh: Required[float]  # Ra = (buoyancy difference) height^3/(viscosity diffusivity); above 0 and at most 1000000000000
    prandtl: float  # Pr = viscosity/diffusivity; above 0 and at most 1000000
    aspect_ratio: float  # Length of x, which is periodic, in heights; above 0 and at most 1000
    cells: Sequence[int]  # Cells along x and z; those along x a multiple of floor.segments; 2 values, each at least 4 and at most 4096
    strength: float  # s of the grid along z, faces at tanh(s (2 q - 1))/tanh(s); above 0 and at most 10
    cfl: float  # dt = cfl/max(|u|/dx + |w|/dz), stable up to about 1; above 0 and at most 1
    most_dt: float  # The longest step; above 0 and at most 1
    layer_cells: int  # Stop (exit 3) where the thermal boundary layer 1/(2 Nu) of the flows without control has fewer cells; at least 0
class MeshfreeflowControlFloor(TypedDict, total=False):
    segments: int  # Parts of the floor with an action each; at least 2 and at most 4096
    amplitude: float  # Greatest deviation of b at the floor from 1/2; beyond 1 it would be colder than the top; above 0 and at most 1
    blend: float  # Part of a segment over which one goes over into the next; at least 0 and at most 1
class MeshfreeflowControlEpisode(TypedDict, total=False):
    interval: float  # Time that an action stands; above 0 and at most 1000
    actions: int  # Actions of an episode; at least 1 and at most 1000000
    probes: Sequence[int]  # Points along x and z at which u, w and b are observed; those along x a multiple of floor.segments; empty: 8 and 4; 0 to 2 values, each at least 1 and at most 4096
    reward: Union[str, None]  # Formula of what an action earns, as control.reward of an environment; absent: -nusselt
class MeshfreeflowControlStarts(TypedDict, total=False):
    seeds: Sequence[int]  # Of the noise of the flows that episodes begin with; 1 to 10000 values, each at least 0
    time: float  # For which they develop without control; at least 0 and at most 1000000
class MeshfreeflowControlTrainingSac(TypedDict, total=False):
    replay: int  # Steps of environments that are remembered; checkpoints have them; at least 1 and at most 10000000
    warmup: int  # Steps of environments with random actions, before learning begins; at least 0 and at most 10000000
    gradient_steps: int  # Steps of Adam for each step of all environments; at least 1 and at most 10000
    rate: float  # Part by which copies of the critics approach them, a step of Adam; above 0 and at most 1
    entropy: float  # Entropy of the policy for each number of an action, in nats, which the temperature keeps; at most ln 2 = 0.69, that of any number from -1 to 1 alike; at least -20 and at most 0.69
    temperature: float  # Weight of the entropy at first; above 0 and at most 1000000
class MeshfreeflowControlTraining(TypedDict, total=False):
    algorithm: Literal['ppo', 'sac']  # Proximal policy optimisation, which learns from each step once it is taken; or soft actor-critic, which remembers steps and learns from them again
    updates: int  # Of the policy; each sees an episode of every environment; at least 0 and at most 1000000
    environments: int  # Flows that are under control at a time; at least 1 and at most 100000
    widths: Sequence[int]  # Units of the hidden layers of policy and value; 0 to 16 values, each at least 1 and at most 4096
    deviation: float  # Of actions about the policy's mean at first, in amplitudes; above 0 and at most 100
    discount: float  # gamma: what a reward one decision later counts; at least 0 and below 1
    trace: float  # lambda of the generalised advantages; at least 0 and at most 1
    epochs: int  # Sweeps over what was seen, an update; at least 1 and at most 1000
    minibatch: int  # Decisions of a step of Adam; at least 1 and at most 10000000
    learning_rate: float  # Of Adam; above 0 and at most 1
    most_gradient: float  # The norm of a gradient is cut to it; above 0
    most_divergence: float  # An update ends where the policy has gone so far from that which acted (Kullback and Leibler, in nats); above 0
    clip: float  # How far the ratio of probabilities may go from 1; above 0 and below 1
    value: float  # Weight of the squared error of the expected rewards; at least 0
    entropy: float  # Weight of the entropy; at least 0
    sac: Union[MeshfreeflowControlTrainingSac, None]  # Of soft actor-critic; absent: as these defaults say
MeshfreeflowControlEvaluation = TypedDict('MeshfreeflowControlEvaluation', {
    'seeds': Sequence[int],  # Flows that the policy has not met; 1 to 10000 values, each at least 0
    'actions': int,  # Actions of an episode that is judged; at least 1 and at most 1000000
    'from': int,  # Actions at its beginning that means leave out; at least 0
    'gains': Sequence[float],  # Proportional control to compare with, the best of these gains: the action of a segment is -gain times the mean of w at the probes above it; none: it is left out; each at least 0
}, total=False)
class MeshfreeflowTrainDataLowResolution(TypedDict, total=False):
    factor: Sequence[int]  # How many times fewer points along each axis: time, then two of space; or three of space; 3 values, each at least 1 and at most 1024
    time_filter: Literal['box', 'point']  # Along time: mean over `factor` frames (box), or one of them (point)
    space_filter: Literal['box', 'point']  # Along space: mean over `factor` points, weighted by their cells' widths (box), or one of them (point)
    files: Union[Sequence[str], Any]  # Independent coarse runs in place of a filter: one file for each of `data.files`, with as many samples
class MeshfreeflowTrainDataSplit(TypedDict, total=False):
    by: Literal['sample', 'time']  # sample: the last samples are for the test, those before for validation; time: the last frames of each sample in the same way
    validation: float  # Share for validation; at least 0 and below 1
    test: float  # Share for the test; at least 0 and below 1
class MeshfreeflowTrainDataDescribeFilesAxes(TypedDict, total=False):
    name: Required[str]  # Name of the axis
    lower: Union[float, None]  # Lower end of the domain
    upper: Union[float, None]  # Upper end of the domain
    points: Literal['stored', 'uniform', 'chebyshev']  # Where the points lie: as the file says, equally spaced (cell centres; from `lower` on where periodic), or at Chebyshev roots
    periodic: Literal['stored', 'yes', 'no']  # Whether the axis is periodic
class MeshfreeflowTrainDataDescribeFiles(TypedDict, total=False):
    part: str  # Which series of a file that holds several, such as pictures/elc_x_vx of vlasov's
    parameters: dict[str, Union[float, str]]  # Named numbers that hold for all files, such as Ra; unit: 1, %
    axes: Sequence[MeshfreeflowTrainDataDescribeFilesAxes]  # Axes of space: ends, points
    time_spacing: Union[float, None]  # Time between frames, for files without times; above 0
class MeshfreeflowTrainData(TypedDict, total=False):
    files: Required[Union[Sequence[str], Any]]  # Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz; at least 1 value
    fields: Sequence[str]  # Fields that are the channels, in this order; at least 1 value
    axes: Sequence[str]  # Axes of space, slowest first. Three: volumes, of which each frame is refined by itself; 2 to 3 values
    crop: Sequence[int]  # Points of a crop at high resolution: time, then two of space; or three of space; 3 values, each at least 2 and at most 65536
    points: int  # Points drawn in each crop; at least 1 and at most 4194304
    low_resolution: Union[MeshfreeflowTrainDataLowResolution, None]  # How the low resolution is made
    split: Union[MeshfreeflowTrainDataSplit, None]  # What is kept for validation and test
    describe_files: Union[MeshfreeflowTrainDataDescribeFiles, None]  # What the files do not say of themselves
    check: Literal['refuse', 'warn', 'off']  # Where residuals of the equations on the data, by finite differences, are more than a tenth of their largest term: refuse, or warn and go on; off: not looked at
    memory: float  # Memory that the fields may take on a node (GB); above 0
    reference_compatible: bool  # The conventions of the released reference, right or wrong, for comparison only: low resolution at linspace(0, n - 1, n/factor), coordinates by index in [0, 1], statistics over all frames
class MeshfreeflowTrainModelEncoderMasks(TypedDict, total=False):
    level: float  # Largest value of a mask; what it is added to is of order 1; above 0 and at most 1000
    period: Sequence[str]  # Coarse nodes after which masks repeat themselves, or crop (they are a crop's, from its corner on); one for all axes, or one each, time first; where levels pool, a multiple of what they pool; 1 to 3 values
    seed: int  # Of the masks: a model keeps it in place of them; at least 0
class MeshfreeflowTrainModelEncoder(TypedDict, total=False):
    kind: Literal['unet', 'fourier']  # unet: residual blocks on levels that pool (the reference's); fourier: Fourier layers, which mix the lowest wavenumbers of a block (the Fourier neural operator of Li et al. 2021)
    layers: int  # fourier: number of layers; at least 1 and at most 1000
    modes: Sequence[int]  # fourier: wavenumbers that a layer mixes along each axis, time first; at most half the nodes that it sees, those of `padding` included; 3 values, each at least 1 and at most 65536
    width: int  # Features of the first level; each further level doubles them; at least 1 and at most 65536
    widest: int  # Most features of a level; at least 1 and at most 65536
    widths: Sequence[int]  # Features of each level, in place of `width` and `widest`; each at least 1 and at most 65536
    levels: int  # How often to pool; 0: until one node of a block is left; at least 0 and at most 30
    padding: Sequence[str]  # What convolutions find beyond the ends of a block: zeros, circular (the other end: for an axis that is periodic and whole in every block) or replicate; one for all axes, or one each, time first; 1 to 3 values
    block: Literal['convolution', 'perturb', 'pointwise']  # What stands between the pointwise convolutions of a residual block: convolution (3 x 3 x 3 nodes, the reference's) or pointwise (five times fewer parameters, and nodes are mixed by pooling alone)
    masks: Union[MeshfreeflowTrainModelEncoderMasks, None]  # perturb: the masks; absent: defaults
    differences: bool  # Whether the encoder also sees differences between neighbouring nodes, of each field along each axis: second ones along space, first ones along time. Interpolation is corrected by them, and they are small beside the fields: training needs fewer steps
class MeshfreeflowTrainModelDecoder(TypedDict, total=False):
    kind: Literal['continuous', 'convolutional']  # continuous: a dense network of place and latents, which gives fields and their derivatives at any point; convolutional: more stages of the U-Net up to the fine grid, and linear interpolation (the usual baseline; it has no equations)
    widths: Sequence[int]  # Neurons of the continuous decoder's hidden layers; 1 to 64 values, each at least 1 and at most 65536
    activation: Literal['tanh', 'gelu', 'silu', 'relu', 'relu6', 'softplus', 'sigmoid', 'linear']  # Of the hidden layers; second derivatives of relu's are 0
    repeat_input: bool  # Whether hidden layers after the first read place and latents as well
    blend: Literal['linear', 'cubic', 'quintic']  # Weights of the nodes around a point: linear (the reference; fields have kinks at nodes), cubic (first derivatives are continuous), quintic (second ones, too)
    base: Literal['none', 'interpolation']  # What the network corrects: none (it gives the fields themselves, as the reference's does), or interpolation (linear, of the coarse fields: training starts from its error, and needs far fewer steps)
class MeshfreeflowTrainModel(TypedDict, total=False):
    latents: int  # Latent features of a node; at least 1 and at most 65536
    encoder: Union[MeshfreeflowTrainModelEncoder, None]  # The U-Net
    decoder: Union[MeshfreeflowTrainModelDecoder, None]  # From latents to fields
    conditioning: Sequence[str]  # Parameters of the flow that the encoder sees beside the fields, by their logarithm: [Ra, Pr]
class MeshfreeflowTrainEquationsBoundaries(TypedDict, total=False):
    at: Required[str]  # The wall: an axis of space and its end
    equation: Required[Union[float, str]]  # What is 0 there
    weight: float  # Of this condition among the others; at least 0
class MeshfreeflowTrainEquations(TypedDict, total=False):
    interior: dict[str, Union[float, str]]  # Equations that hold inside, by names of your choice; d<axis>(...) and d<axis><axis>(...) are derivatives, left = right may be written
    constants: dict[str, Union[float, str]]  # Numbers in the equations: formulas of the data's parameters and of each other
    boundaries: Sequence[MeshfreeflowTrainEquationsBoundaries]  # Conditions at walls
class MeshfreeflowTrainLoss(TypedDict, total=False):
    norm: Literal['l1', 'l2']  # Mean |difference| (l1) or mean difference^2 (l2)
    gamma: float  # Weight of the equations' residuals beside the normalised fields; 0: derivatives are not formed; at least 0
    boundary: float  # Weight of the boundary conditions; at least 0
    boundary_points: int  # Random points on each wall of a crop; at least 1 and at most 1000000
    spectral: float  # Weight of the spectra of rows along an equally spaced axis: mean |log(E + floor) - log(E of the data + floor)| over wavenumbers and fields (l2: its square); 0: no rows are drawn; at least 0
    spectral_rows: int  # Rows of a crop whose mean spectrum is compared; at least 1 and at most 100000
    spectral_floor: float  # Added to the power of a wavenumber, in variances of the field: what has much less does not count; above 0
class MeshfreeflowTrainOptimiser(TypedDict, total=False):
    kind: Literal['adam', 'adamw', 'sgd']  # adam; adamw: and weights decay; sgd: the gradient, or its sum that decays by momentum
    beta1: float  # Of the mean gradient (adam, adamw); at least 0 and below 1
    beta2: float  # Of the mean squared gradient (adam, adamw); at least 0 and below 1
    epsilon: float  # Beside the root of the mean square (adam, adamw); above 0
    clip: float  # Largest component of the gradient; 0: any; at least 0
    clip_norm: float  # Largest norm of the gradient of all parameters together: a longer one is shortened; 0: any. Of a training on a GPU the arrays are then the host's; at least 0
    weight_decay: float  # Of parameters, a step and learning rate (adamw); at least 0
    momentum: float  # Of the sum of gradients (sgd); at least 0 and below 1
class MeshfreeflowTrainLearningRate(TypedDict, total=False):
    schedule: Literal['constant', 'exponential', 'plateau']  # constant: the same in all steps; exponential: the same factor in equal times; plateau: times factor after `patience` validations without a lower loss
    start: float  # Rate of the first step; above 0
    factor: float  # What the rate is multiplied by; above 0 and at most 1
    least: float  # The rate never falls below; at least 0
    interval: int  # Steps in which the rate of the exponential falls by factor; at least 1
    patience: int  # Validations of the plateau; at least 1
    threshold: float  # A loss lower by this share counts as lower; at least 0 and below 1
class MeshfreeflowTrainValidation(TypedDict, total=False):
    interval: int  # Steps between validations; at least 1
    batches: int  # Batches of crops held out; the same ones each time; at least 1 and at most 100000
class MeshfreeflowTrainParallel(TypedDict, total=False):
    strategy: Literal['data', 'sharded', 'auto']  # data: each holder has everything; sharded: holders divide the optimiser's states, and what stage says (ZeRO); auto: the least of data and sharded that fits a rank's share of the node's free memory; losses are the same to the last bit
    stage: int  # sharded: 1 divides states, 2 gradients too, 3 weights too (with holder: rank); at least 1 and at most 3
    bucket: str  # Blocks of a network are reduced together until they hold this much; 0: each for itself; unit: MB, GB, MiB, GiB; at least 0 MB and at most 1000000 MB
    holder: Literal['node', 'rank']  # node: its ranks share one copy in memory, and only nodes send; rank: each has its own
    memory: Union[str, None]  # auto: what a rank may take of the memory where its arrays are, if less than its share; unit: MB, GB, MiB, GiB; above 0 GB
    progress: Literal['blocks', 'none']  # When stages 2 and 3 send: blocks, while the network's blocks compute; none: between them, and they wait. Losses are the same to the last bit
class MeshfreeflowTrainOffloadBudget(TypedDict, total=False):
    host: Union[str, None]  # States that a rank may keep in memory; absent: all (host), none (file); unit: MB, GB, MiB, GiB; at least 0 MB
    file: Union[str, None]  # Disk that a rank may take; absent: what is free; unit: MB, GB, MiB, GiB; at least 0 MB
class MeshfreeflowTrainOffloadDelayedUpdate(TypedDict, total=False):
    after: int  # Steps before the first delayed one; at least 0
class MeshfreeflowTrainOffload(TypedDict, total=False):
    optimiser: Literal['none', 'host', 'file']  # Where the optimiser's states are. none: beside the weights; host: in memory, of a training on a GPU the host's, within the budget; file: on a disk, but for the budget. Losses are the same to the last bit (on a GPU to round-off)
    path: Union[str, None]  # file: a folder on a disk of the node, for this run alone
    budget: Union[MeshfreeflowTrainOffloadBudget, None]  # What each rank may take
    delayed_update: Union[MeshfreeflowTrainOffloadDelayedUpdate, None]  # Weights are updated while the next step's gradient is computed, one step late; absent: not so
class MeshfreeflowTrainMemory(TypedDict, total=False):
    activations: Union[str, None]  # What tensors of a step may take on each rank; a run that cannot keep to it is refused. Absent: anything; unit: MB, GB, MiB, GiB; above 0 MB and at most 1000000000 MB
    policy: Literal['keep', 'recompute', 'swap', 'planned']  # What the forward pass leaves for the backward pass. keep: all; recompute: each segment of blocks keeps its input and runs forward once more; swap: each leaves over `link` or to `path` and comes back as soon as `activations` allows; planned: the fastest mixture that fits `activations`. Losses are the same to the last bit
    link: Union[str, None]  # Bandwidth over which activations are swapped. On a CPU it is emulated: what is swapped goes to other memory, in the time of such a link; unit: GB/s, MB/s, B/s; above 0 GB/s and at most 10000 GB/s
    path: Union[str, None]  # In place of a link: a folder on a disk of the node, where activations are swapped to a file without a name, which goes with the process
class MeshfreeflowTrainPrecision(TypedDict, total=False):
    parameters: Literal['float', 'split_bf16']  # float; split_bf16: the networks compute with weights rounded to bf16 (8 bits), the optimiser keeps the rest and updates whole floats. Another training, not the same to round-off
class MeshfreeflowSuperresolveInputDescribeFileAxes(TypedDict, total=False):
    name: Required[str]  # Name of the axis
    lower: Union[float, None]  # Lower end of the domain
    upper: Union[float, None]  # Upper end of the domain
    points: Literal['stored', 'uniform', 'chebyshev']  # Where the points lie: as the file says, equally spaced (cell centres; from `lower` on where periodic), or at Chebyshev roots
    periodic: Literal['stored', 'yes', 'no']  # Whether the axis is periodic
class MeshfreeflowSuperresolveInputDescribeFile(TypedDict, total=False):
    part: str  # Which series of a file that holds several, such as pictures/elc_x_vx of vlasov's
    parameters: dict[str, Union[float, str]]  # Named numbers that hold for all files, such as Ra; unit: 1, %
    axes: Sequence[MeshfreeflowSuperresolveInputDescribeFileAxes]  # Axes of space: ends, points
    time_spacing: Union[float, None]  # Time between frames, for files without times; above 0
class MeshfreeflowSuperresolveInput(TypedDict, total=False):
    file: Required[str]  # Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz
    sample: int  # Number of the sample in the file; at least 0
    first_frame: int  # The frame to begin with; at least 0 and at most 1073741824
    frames: Union[int, None]  # How many from there on; absent: all; at least 1 and at most 1073741824
    describe_file: Union[MeshfreeflowSuperresolveInputDescribeFile, None]  # What the file does not say of itself
class MeshfreeflowSuperresolveExpertsRouter(TypedDict, total=False):
    kind: Literal['rule', 'nearest', 'network']  # Who answers a request that several experts' ranges hold: rule: the first of `order`; without an order one alone may hold it; nearest: the one whose range has its middle nearest; network: the one that the registry's network, by the keys it was trained on, finds most likely
    by: Sequence[str]  # Keys of the experts' ranges that count
    order: Sequence[str]  # IDs, the one to be asked first in front (kind: rule)
    outside: Literal['refuse', 'nearest', 'fallback']  # A request that no expert's range holds: refuse: refuse it; nearest: take the one whose range is nearest; fallback: take the one that `fallback` names
    fallback: str  # ID of the expert that answers such a request
class MeshfreeflowSuperresolveExperts(TypedDict, total=False):
    registry: Required[str]  # A file of many models, which `quintet registry` makes
    router: Union[MeshfreeflowSuperresolveExpertsRouter, None]  # Which of them answers
class MeshfreeflowSuperresolveLowResolution(TypedDict, total=False):
    factor: Sequence[int]  # How many times fewer points along each axis: time, then two of space; or three of space; 3 values, each at least 1 and at most 1024
    time_filter: Literal['box', 'point']  # Along time: mean over `factor` frames (box), or one of them (point)
    space_filter: Literal['box', 'point']  # Along space: mean over `factor` points, weighted by their cells' widths (box), or one of them (point)
    files: Union[Sequence[str], Any]  # Independent coarse runs in place of a filter: one file for each of `data.files`, with as many samples
class MeshfreeflowSuperresolveOutput(TypedDict, total=False):
    factor: Sequence[int]  # So many points for each coarse node along time and two axes of space; of volumes along three of space; 3 values, each at least 1 and at most 4096
    grid: Sequence[int]  # So many equally spaced points along the same axes: from end to end, walls among them; on a periodic axis from its lower end; 3 values, each at least 2 and at most 16777216
    like: Union[str, None]  # The grid and, within the input's time, the frames of another file of fields; of volumes the grid alone
    points: Union[str, None]  # A list of points: a table of text with a line of names (those of the axes, time t first), or, in the model's order of axes, without; .npy [n, 3]; HDF5 with a dataset `points` [n, 3]. Not of volumes
class MeshfreeflowSuperresolveErrorBars(TypedDict, total=False):
    members: Required[Union[Sequence[str], Any]]  # Models that were trained as the model was, from other seeds; their mean square distance from it is the error bar; at least 1 value
    scale: Sequence[float]  # What error bars are multiplied by, a number for each field of the model; `evaluate` on flows with a known truth finds them; absent: 1; each above 0
class MeshfreeflowEvaluateCasesTruthDescribeFileAxes(TypedDict, total=False):
    name: Required[str]  # Name of the axis
    lower: Union[float, None]  # Lower end of the domain
    upper: Union[float, None]  # Upper end of the domain
    points: Literal['stored', 'uniform', 'chebyshev']  # Where the points lie: as the file says, equally spaced (cell centres; from `lower` on where periodic), or at Chebyshev roots
    periodic: Literal['stored', 'yes', 'no']  # Whether the axis is periodic
class MeshfreeflowEvaluateCasesTruthDescribeFile(TypedDict, total=False):
    part: str  # Which series of a file that holds several, such as pictures/elc_x_vx of vlasov's
    parameters: dict[str, Union[float, str]]  # Named numbers that hold for all files, such as Ra; unit: 1, %
    axes: Sequence[MeshfreeflowEvaluateCasesTruthDescribeFileAxes]  # Axes of space: ends, points
    time_spacing: Union[float, None]  # Time between frames, for files without times; above 0
class MeshfreeflowEvaluateCasesTruth(TypedDict, total=False):
    file: Required[str]  # Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz
    sample: int  # Number of the sample in the file; at least 0
    first_frame: int  # The frame to begin with; at least 0 and at most 1073741824
    frames: Union[int, None]  # How many from there on; absent: all; at least 1 and at most 1073741824
    describe_file: Union[MeshfreeflowEvaluateCasesTruthDescribeFile, None]  # What the file does not say of itself
class MeshfreeflowEvaluateCasesCoarseDescribeFileAxes(TypedDict, total=False):
    name: Required[str]  # Name of the axis
    lower: Union[float, None]  # Lower end of the domain
    upper: Union[float, None]  # Upper end of the domain
    points: Literal['stored', 'uniform', 'chebyshev']  # Where the points lie: as the file says, equally spaced (cell centres; from `lower` on where periodic), or at Chebyshev roots
    periodic: Literal['stored', 'yes', 'no']  # Whether the axis is periodic
class MeshfreeflowEvaluateCasesCoarseDescribeFile(TypedDict, total=False):
    part: str  # Which series of a file that holds several, such as pictures/elc_x_vx of vlasov's
    parameters: dict[str, Union[float, str]]  # Named numbers that hold for all files, such as Ra; unit: 1, %
    axes: Sequence[MeshfreeflowEvaluateCasesCoarseDescribeFileAxes]  # Axes of space: ends, points
    time_spacing: Union[float, None]  # Time between frames, for files without times; above 0
class MeshfreeflowEvaluateCasesCoarse(TypedDict, total=False):
    file: Required[str]  # Fields over time: ours, The Well's, Dedalus', netCDF, zarr, vlasov's run.h5, the reference's npz
    sample: int  # Number of the sample in the file; at least 0
    first_frame: int  # The frame to begin with; at least 0 and at most 1073741824
    frames: Union[int, None]  # How many from there on; absent: all; at least 1 and at most 1073741824
    describe_file: Union[MeshfreeflowEvaluateCasesCoarseDescribeFile, None]  # What the file does not say of itself
class MeshfreeflowEvaluateCases(TypedDict, total=False):
    name: Required[str]  # Its name in tables and keys
    truth: Required[MeshfreeflowEvaluateCasesTruth]  # Fields at high resolution
    coarse: Union[MeshfreeflowEvaluateCasesCoarse, None]  # An independent coarse run of the same flow; absent: the truth is made coarser by `low_resolution`
class MeshfreeflowEvaluateModels(TypedDict, total=False):
    name: Required[str]  # Its name in tables and keys: ours, gamma_0, unet
    file: Required[str]  # What `meshfreeflow train` wrote
    encoder: Literal['blocks', 'whole']  # blocks: the encoder sees blocks as large as in training, each half over the next, whose latents are averaged; whole: all nodes at once
class MeshfreeflowEvaluateLowResolution(TypedDict, total=False):
    factor: Sequence[int]  # How many times fewer points along each axis: time, then two of space; or three of space; 3 values, each at least 1 and at most 1024
    time_filter: Literal['box', 'point']  # Along time: mean over `factor` frames (box), or one of them (point)
    space_filter: Literal['box', 'point']  # Along space: mean over `factor` points, weighted by their cells' widths (box), or one of them (point)
    files: Union[Sequence[str], Any]  # Independent coarse runs in place of a filter: one file for each of `data.files`, with as many samples
class MeshfreeflowEvaluateFlowWalls(TypedDict, total=False):
    field: Required[str]  # Name of the field
    at: Required[str]  # An end of an axis
    value: float  # What the field is there
class MeshfreeflowEvaluateFlow(TypedDict, total=False):
    velocity: Sequence[str]  # Fields that are the velocity along each axis of space, slowest first; 2 values
    scalar: str  # The field that is carried and heats; empty: none
    viscosity: Union[float, str]  # Of the parameters of the data
    diffusivity: Union[float, str]  # Of the scalar, of the parameters of the data
    walls: Sequence[MeshfreeflowEvaluateFlowWalls]  # What fields are known to be at walls; absent: what the file says, else what the data are there. A value that the data contradict is refused
class MeshfreeflowEvaluateQuantise(TypedDict, total=False):
    bits: int  # Models of 1 to so many bits a weight; at least 1 and at most 8
    group: int  # Inputs of an output that share a scale, a multiple of 4; 0: all of them; at least 0 and at most 1048576
    rounds: int  # Alternating rounds after the greedy start; at least 0 and at most 1000
class MeshfreeflowEvaluateErrorBars(TypedDict, total=False):
    members: Required[Union[Sequence[str], Any]]  # Models that were trained as the model was, from other seeds; their mean square distance from it is the error bar; at least 1 value
    scale: Sequence[float]  # What error bars are multiplied by, a number for each field of the model; `evaluate` on flows with a known truth finds them; absent: 1; each above 0
class PodlstmFitFieldsMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmFitFieldsStochastic(TypedDict, total=False):
    climatology: str  # A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic climatology with rough continents
    variable: str  # Name of the variable in the file
    spacing: float  # Degrees between points of the analytic climatology; at least 0.25 and at most 30
    years: float  # Length of the weekly record (years); at least 0.05 and at most 2000
    start: str  # First day
    seed: int  # Another number, another ocean; at least 0
    noise: float  # Standard deviation of independent noise at each point and week (degC); at least 0 and at most 10
    trend: float  # degC a year; at least -1 and at most 1
class PodlstmFitFieldsRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmFitFieldsAlsoMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmFitFieldsAlsoRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmFitFieldsAlso(TypedDict, total=False):
    name: Required[str]  # Its name in modes.h5, modes.nc, forecast.nc and reports: small letters, digits and _
    weight: float  # How much its total variance counts in the modes, where that of the first variable counts 1; at least 1e-06 and at most 1000000
    files: Required[Union[Sequence[str], Any]]  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc; at least 1 value
    variable: str  # Name of the field
    units: Literal['from_file', 'degree_Celsius', 'kelvin']  # Units of the variable; kelvin are converted to degrees Celsius
    quantity: Literal['from_file', 'temperature', 'anomaly']  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    valid_range: Literal['from_file', 'stored', 'unpacked', 'ignored']  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    missing: Sequence[float]  # Numbers, in the units of the file, that mark missing values, too: those of land
    mask: Union[PodlstmFitFieldsAlsoMask, None]  # What is sea; absent: points that have a value at every time
    region: Union[PodlstmFitFieldsAlsoRegion, None]  # Part of its grid; absent: fields.region
    incomplete_points: Literal['refuse', 'drop', 'dineof']  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    mean: Literal['none', 'week', 'month']  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    week_begins: Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']  # Day on which weeks begin, where mean is week
    coarsen: int  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    cache: str  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    constant_points: Literal['refuse', 'land', 'sea']  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
PodlstmFitFields = TypedDict('PodlstmFitFields', {
    'files': Union[Sequence[str], Any],  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc
    'variable': str,  # Name of the field
    'units': Literal['from_file', 'degree_Celsius', 'kelvin'],  # Units of the variable; kelvin are converted to degrees Celsius
    'quantity': Literal['from_file', 'temperature', 'anomaly'],  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    'valid_range': Literal['from_file', 'stored', 'unpacked', 'ignored'],  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    'missing': Sequence[float],  # Numbers, in the units of the file, that mark missing values, too: those of land
    'mask': Union[PodlstmFitFieldsMask, None],  # What is sea; absent: points that have a value at every time
    'stochastic': Union[PodlstmFitFieldsStochastic, None],  # Instead of files: a made-up ocean with observed seasons, for trials
    'from': str,  # First day that is used, such as 1981-10-29; empty: the first of the record
    'to': str,  # Last day that is used
    'region': Union[PodlstmFitFieldsRegion, None],  # Part of the grid
    'incomplete_points': Literal['refuse', 'drop', 'dineof'],  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    'least_values': float,  # Share of the times that such a point has values at, else it is left out, where incomplete_points is dineof; at least 0.01 and at most 1
    'mean': Literal['none', 'week', 'month'],  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    'week_begins': Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],  # Day on which weeks begin, where mean is week
    'coarsen': int,  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    'cache': str,  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    'constant_points': Literal['refuse', 'land', 'sea'],  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
    'gaps': Literal['refuse', 'keep'],  # Times that are missing: steps of more than one and a half times the usual one; keep: they are told of
    'also': Sequence[PodlstmFitFieldsAlso],  # Further variables at the same times, such as sea level or heat content, on grids of their own: modes are joint (combined EOFs), each variable scaled by its total standard deviation. from, to and gaps are those of the section
}, total=False)
class PodlstmFitCoefficients(TypedDict, total=False):
    file: Required[str]  # A netCDF file with coefficients over time and the coordinate of their times
    variable: str  # The coefficients: a variable of (time, mode)
class PodlstmFitPodDineof(TypedDict, total=False):
    most_modes: int  # Largest number of modes that is tried; at least 1 and at most 200
    held_out: float  # Share of the known values that are held out to choose how many modes fill the gaps; above 0 and at most 0.5
    tolerance: float  # The filling ends where an iteration changes the filled values by less than this, root mean square, in units of that of all anomalies; at least 1e-10 and at most 0.1
    most_iterations: int  # For one number of modes; at least 1 and at most 100000
class PodlstmFitPod(TypedDict, total=False):
    modes: int  # Modes to keep; at least 1 and at most 10000
    weights: Literal['points', 'area']  # Weights of the inner product: 1 for each point, as in the paper, or cos(latitude)
    background: Literal['mean', 'climatology']  # What is taken away first: the mean of the fit's times, as in the paper, or their mean and seasonal cycle, so that modes are of anomalies
    harmonics: int  # Harmonics of the seasonal cycle; at least 1 and at most 12
    background_years: str  # Years whose times are behind the background, first and last, within the fit's times: the named climatology period that anomalies are of; empty: all of the fit's times
    method: Literal['automatic', 'snapshots', 'randomised', 'lanczos']  # How singular triplets are found, all to round-off: eigenvectors of products of times (snapshots), block Lanczos from random vectors (faster where modes are few and times many), or SLEPc's thick-restart Lanczos method; automatic: randomised from 64 times a mode on, else snapshots
    seed: int  # Seed of the random vectors; at least 0
    dineof: Union[PodlstmFitPodDineof, None]  # How values that are missing are filled, where fields.incomplete_points is dineof
class PodlstmAppendFieldsMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmAppendFieldsStochastic(TypedDict, total=False):
    climatology: str  # A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic climatology with rough continents
    variable: str  # Name of the variable in the file
    spacing: float  # Degrees between points of the analytic climatology; at least 0.25 and at most 30
    years: float  # Length of the weekly record (years); at least 0.05 and at most 2000
    start: str  # First day
    seed: int  # Another number, another ocean; at least 0
    noise: float  # Standard deviation of independent noise at each point and week (degC); at least 0 and at most 10
    trend: float  # degC a year; at least -1 and at most 1
class PodlstmAppendFieldsRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmAppendFieldsAlsoMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmAppendFieldsAlsoRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmAppendFieldsAlso(TypedDict, total=False):
    name: Required[str]  # Its name in modes.h5, modes.nc, forecast.nc and reports: small letters, digits and _
    weight: float  # How much its total variance counts in the modes, where that of the first variable counts 1; at least 1e-06 and at most 1000000
    files: Required[Union[Sequence[str], Any]]  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc; at least 1 value
    variable: str  # Name of the field
    units: Literal['from_file', 'degree_Celsius', 'kelvin']  # Units of the variable; kelvin are converted to degrees Celsius
    quantity: Literal['from_file', 'temperature', 'anomaly']  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    valid_range: Literal['from_file', 'stored', 'unpacked', 'ignored']  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    missing: Sequence[float]  # Numbers, in the units of the file, that mark missing values, too: those of land
    mask: Union[PodlstmAppendFieldsAlsoMask, None]  # What is sea; absent: points that have a value at every time
    region: Union[PodlstmAppendFieldsAlsoRegion, None]  # Part of its grid; absent: fields.region
    incomplete_points: Literal['refuse', 'drop', 'dineof']  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    mean: Literal['none', 'week', 'month']  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    week_begins: Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']  # Day on which weeks begin, where mean is week
    coarsen: int  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    cache: str  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    constant_points: Literal['refuse', 'land', 'sea']  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
PodlstmAppendFields = TypedDict('PodlstmAppendFields', {
    'files': Union[Sequence[str], Any],  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc
    'variable': str,  # Name of the field
    'units': Literal['from_file', 'degree_Celsius', 'kelvin'],  # Units of the variable; kelvin are converted to degrees Celsius
    'quantity': Literal['from_file', 'temperature', 'anomaly'],  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    'valid_range': Literal['from_file', 'stored', 'unpacked', 'ignored'],  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    'missing': Sequence[float],  # Numbers, in the units of the file, that mark missing values, too: those of land
    'mask': Union[PodlstmAppendFieldsMask, None],  # What is sea; absent: points that have a value at every time
    'stochastic': Union[PodlstmAppendFieldsStochastic, None],  # Instead of files: a made-up ocean with observed seasons, for trials
    'from': str,  # First day that is used, such as 1981-10-29; empty: the first of the record
    'to': str,  # Last day that is used
    'region': Union[PodlstmAppendFieldsRegion, None],  # Part of the grid
    'incomplete_points': Literal['refuse', 'drop', 'dineof'],  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    'least_values': float,  # Share of the times that such a point has values at, else it is left out, where incomplete_points is dineof; at least 0.01 and at most 1
    'mean': Literal['none', 'week', 'month'],  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    'week_begins': Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],  # Day on which weeks begin, where mean is week
    'coarsen': int,  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    'cache': str,  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    'constant_points': Literal['refuse', 'land', 'sea'],  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
    'gaps': Literal['refuse', 'keep'],  # Times that are missing: steps of more than one and a half times the usual one; keep: they are told of
    'also': Sequence[PodlstmAppendFieldsAlso],  # Further variables at the same times, such as sea level or heat content, on grids of their own: modes are joint (combined EOFs), each variable scaled by its total standard deviation. from, to and gaps are those of the section
}, total=False)
PodlstmTrainWindow = TypedDict('PodlstmTrainWindow', {
    'in': int,  # Past steps that a forecast sees; at least 1 and at most 100000
    'out': int,  # Steps that it forecasts; at least 1 and at most 100000
}, total=False)
class PodlstmTrainSplit(TypedDict, total=False):
    kind: Literal['chronological', 'random']  # chronological: training, validation and test periods follow each other and no window lies in two of them; random: training and validation windows are drawn from one period and overlap (as in the SC20 paper), which every table says
    train_from: str  # First day of training; empty: the record's first
    train_until: str  # Last day of training; empty: three quarters of the record. All constants come from training alone
    validation_until: str  # Last day of the validation period that follows; empty: half of what remains. Unused by kind random
    test_until: str  # Last day of the test period that follows; empty: the record's last
    validation_share: float  # Share of the windows that validate, of kind random; above 0 and below 1
    seed: int  # Seed of kind random; at least 0
    irregular_steps: Literal['avoid', 'cross']  # A step of time unlike the others (a gap; the 3 days between the two parts of NOAA's weekly record): avoid breaks the series there, cross takes rows as steps whatever their dates
class PodlstmTrainForecastNetworkGraph(TypedDict, total=False):
    coarsen: int  # A node is a box of so many points of the grid each way; 1: each point of sea; at least 1 and at most 1000
    neighbours: int  # Sectors about a node, the first about north: the nearest node in each is a neighbour, no farther than two spacings of the nodes; at least 3 and at most 32
    mesh: int  # Hubs, spread over the sea, joined to each other and each to the nodes about it, for what is far; 0: none; at least 0 and at most 100000
    features: int  # Numbers that the network has at a node; at least 1 and at most 4096
    layers: int  # Graph convolutions, one after the other; at least 1 and at most 64
    precision: Literal['float64', 'float32']  # Numbers at nodes and in products; weights, losses and sums over nodes are float64. float32: half the memory of nodes, and faster
    spmm: Literal['auto', '1d', 'sparse_1d', '1.5d', '2d', '3d']  # How nodes, and in tiles their features, are shared out over ranks; auto: the one that takes least time by count of its messages and words, 1d: rows over ranks, all rows of the panel travel, sparse_1d: rows over ranks, only the rows that nonzeros need travel, 1.5d: several ranks hold the same rows of the panel, 2d: tiles of the matrix and of the panel, 3d: tiles in layers, on 8, 27, 64 ... ranks
class PodlstmTrainForecastNetwork(TypedDict, total=False):
    kind: Literal['recurrent', 'graph']  # recurrent: LSTMs of the coefficients, as nodes, skips and head say; graph: of the field, on a graph over the sea, which the modes file must have (hybrid models, loss: degrees)
    nodes: Sequence[str]  # Nodes in their order: units of an LSTM (80), 'dense 80' (relu, each step by itself) or 'identity'; 0 to 64 values
    skips: Sequence[str]  # Skips, such as '0->2': what node 2 gives plus the input (0), projected to its width, relu of it
    head: Literal['lstm', 'dense', 'last_state']  # How states become outputs. lstm: a last LSTM with one unit per mode; step k of the output from steps 1 to k of the input; dense: a linear layer at each step: step k of the output from step k of the last node; last_state: a linear layer from the last state to all steps of the output
    graph: Union[PodlstmTrainForecastNetworkGraph, None]  # The graph and its network, where kind is graph; absent: as below
class PodlstmTrainForecastTraining(TypedDict, total=False):
    epochs: int  # Passes through all windows; at least 0 and at most 1000000000
    batch: int  # Windows in a batch, one step of the optimiser; at least 1 and at most 1000000000
    learning_rate: float  # Step size of Adam; above 0
    beta1: float  # Of the mean gradient; at least 0 and below 1
    beta2: float  # Decay rate of the mean squared gradient; at least 0 and below 1
    epsilon: float  # Added to the root of the mean squared gradient (Keras 1e-7, PyTorch 1e-8); above 0
    weight_decay: float  # Weights shrink by learning_rate times this in each step (AdamW); 0: they do not; at least 0
    clip: float  # Limit of each component of the gradient; 0: no limit; at least 0
    patience: int  # Stop after so many epochs without a lower loss (of validation, or of training where there is none); 0: run all; at least 0 and at most 1000000000
    min_improvement: float  # Smallest decrease of the loss that counts as an improvement; at least 0
    keep_best: bool  # Keep the parameters of the best epoch; else of the last
    zero_head: bool  # Start the weights of the head at 0, so that the corrected forecast begins as the base
    twin_biases: bool  # Gates have two biases, as in PyTorch; their sum is kept, which learns twice as fast as one
    start: Literal['keras', 'pytorch']  # How weights begin. keras: Glorot, orthogonal, forget bias 1; pytorch: uniform, by the width
    precision: Literal['float32', 'float64', 'bf16']  # Numbers of recurrent networks (graph networks: network.graph.precision); bf16: float32, its products of numbers rounded to bfloat16 (sums float32): fast where the processor has AMX or AVX512_BF16
    engine: Literal['kernels', 'torch']  # Code that trains the networks: our kernels, or LibTorch with automatic differentiation
class PodlstmTrainForecast(TypedDict, total=False):
    kind: Literal['hybrid', 'raw']  # hybrid: a linear base, corrected by networks of anomalies and season; raw: networks of the coefficients scaled to [0, 1], as in the SC20 paper (network.head: lstm, training.zero_head: false)
    base: Literal['climatology', 'persistence', 'anomaly_persistence', 'damped_persistence', 'lim', 'ridge', 'seasonal_ridge', 'ridge_ensemble', 'raw_linear', 'dmd', 'hankel_dmd']  # What hybrid networks correct; see references
    seasons: int  # Harmonics of the year whose phase hybrid networks are told at each step; at least 0 and at most 12
    loss: Literal['degrees', 'deviations']  # Errors of hybrid networks in training: degrees counts them as on the map (RMSE), deviations each mode in units of the base's error (R2, where all outputs count alike)
    members: int  # Networks of the ensemble, a seed each, where they are kept; 0: the base alone; at least 0 and at most 1000
    seed: int  # Seed of the first network; the others follow; at least 0
    keep_networks: Literal['earned', 'always']  # hybrid: whether the model has networks: earned, where trainings from rolling origins within training and validation beat the base on the times after them by two standard errors; else none are trained and the model is the base alone
    origins: int  # Rolling origins that decide so: the second half of training and validation in so many blocks, at most two networks trained anew before each; at least 3 and at most 100
    network: Union[PodlstmTrainForecastNetwork, None]  # The networks' architecture
    training: Union[PodlstmTrainForecastTraining, None]  # How they are trained
class PodlstmTrainReferencesClimatology(TypedDict, total=False):
    harmonics: int  # Harmonics of the year of 365.2425 days; at least 0 and at most 24
    trend: float  # Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none; at least 0 and at most 1
    valid_years: Union[float, None]  # Years after training for which the climatology is taken to hold; absent: 10, in an evaluation those of the model. A forecast of later dates is refused, an evaluation leaves them out; at least 0
class PodlstmTrainReferencesSeasonalRidge(TypedDict, total=False):
    lags: str  # Past that the regression sees, at most that of the window: a number of steps, or a duration
    means: Sequence[str]  # Longer memories: means over so long a time up to the last step, as far as the series reaches; each a number of steps or a duration
    seasons: int  # Harmonics of the year by which the weights of the last state vary; 0: constant over the year; at least 0 and at most 12
    alpha: float  # Ridge penalty on the weights of standardised features, per training window; at least 0
class PodlstmTrainReferencesRidgeEnsemble(TypedDict, total=False):
    lags: Sequence[str]  # Pasts that its members see, at most that of the window: each a number of steps or a duration; at least 1 value
    more_means: Sequence[str]  # Longer memories that half of its members have beside those of seasonal_ridge
    alphas: Sequence[float]  # Ridge penalties of its members on the weights of standardised features, per training window; at least 1 value, each above 0
class PodlstmTrainReferences(TypedDict, total=False):
    climatology: Union[PodlstmTrainReferencesClimatology, None]  # Normal values, from which anomalies are departures
    lim_lag: str  # Lag of the linear inverse model's covariance, a number of steps or a duration; one step, with a warning, where a mode decorrelates sooner
    ridge_alpha: float  # Penalty of ridge, in squared coefficients; at least 0
    seasonal_ridge: Union[PodlstmTrainReferencesSeasonalRidge, None]  # The regression seasonal_ridge, with longer memory and season
    seasonal_trend: float  # Share of the linear trend in the climatology of seasonal_ridge, whose longer means already follow slow changes; at least 0 and at most 1
    ridge_ensemble: Union[PodlstmTrainReferencesRidgeEnsemble, None]  # The regressions whose mean ridge_ensemble is: all combinations of these, the harmonics and means of seasonal_ridge
    hankel_rank: int  # Rank of hankel_dmd; at least 1
    left_out: Sequence[str]  # Names of references that stand in no table, such as raw_linear; the base stays what it is
class PodlstmTrainParallel(TypedDict, total=False):
    strategy: Literal['members', 'data', 'sharded', 'auto']  # members: ranks share out the networks and train each alone, the same networks to the last bit on any number; data: each holder has everything; sharded: holders divide the optimiser's states, and what stage says (ZeRO); auto: the least of data and sharded that fits a rank's share of the node's free memory; all but members share each batch out. Losses of those are the same to the last bit
    stage: int  # sharded: 1 divides states, 2 gradients too; 3, weights too, is not to be had here; at least 1 and at most 3
    holder: Literal['node', 'rank']  # node: its ranks share one copy in memory, and only nodes send; rank: each has its own
    memory: Union[str, None]  # auto: what a rank may take of the memory where its arrays are, if less than its share; unit: MB, GB, MiB, GiB; above 0 GB
class PodlstmTrainOffloadBudget(TypedDict, total=False):
    host: Union[str, None]  # States that a rank may keep in memory; absent: all (host), none (file); unit: MB, GB, MiB, GiB; at least 0 MB
    file: Union[str, None]  # Disk that a rank may take; absent: what is free; unit: MB, GB, MiB, GiB; at least 0 MB
class PodlstmTrainOffloadDelayedUpdate(TypedDict, total=False):
    after: int  # Steps before the first delayed one; at least 0
class PodlstmTrainOffload(TypedDict, total=False):
    optimiser: Literal['none', 'host', 'file']  # Where the optimiser's states are. none: beside the weights; host: in memory, of a training on a GPU the host's, within the budget; file: on a disk, but for the budget. Losses are the same to the last bit (on a GPU to round-off)
    path: Union[str, None]  # file: a folder on a disk of the node, for this run alone
    budget: Union[PodlstmTrainOffloadBudget, None]  # What each rank may take
    delayed_update: Union[PodlstmTrainOffloadDelayedUpdate, None]  # Weights are updated while the next step's gradient is computed, one step late; absent: not so
class PodlstmSearchSearchEvolution(TypedDict, total=False):
    population: int  # Members; until there are so many, candidates are random; at least 2 and at most 1000000
    sample: int  # Members drawn, of which the best is the parent; at least 1
class PodlstmSearchSearchReinforcement(TypedDict, total=False):
    agents: int  # Agents that share one policy; at least 1 and at most 100000
    batch: int  # Trials of an agent between updates; at least 1 and at most 100000
    update: Literal['synchronous', 'asynchronous']  # All agents together, for which workers wait, or each when its own trials have ended
    hidden: int  # Hidden units of the policy; at least 1 and at most 10000
    epochs: int  # Steps of Adam an update; at least 1 and at most 10000
    learning_rate: float  # Of Adam; above 0 and at most 10
    clip: float  # How far the ratio of probabilities may go from 1; above 0 and below 1
    value: float  # Weight of the squared error of the expected reward; at least 0
    entropy: float  # Weight of the entropy; at least 0
class PodlstmSearchSearchStopping(TypedDict, total=False):
    rule: Literal['none', 'median', 'halving']  # When an evaluation is left as hopeless
    epochs: Sequence[int]  # Rungs: epochs at which it is asked; empty: a quarter and a half of all; each at least 1
    after: int  # Trials that must have reached a rung before it stops any; at least 1
    factor: float  # Halving: one trial in so many goes on; above 1
class PodlstmSearchSearchWorkers(TypedDict, total=False):
    kind: Literal['processes', 'in_place']  # What a worker is
    per_rank: int  # Processes on each rank; 0: as many as a rank has threads; at least 0 and at most 4096
    time_limit: str  # An evaluation that takes longer ends; 0 s: none; unit: fs, ps, ns, us, ms, s, min, h, day, year; at least 0 s
    tries: int  # Times that an evaluation is begun whose worker is killed; at least 1 and at most 1000
class PodlstmSearchSearch(TypedDict, total=False):
    method: Literal['random', 'evolution', 'reinforcement']  # How candidates are proposed
    trials: Required[int]  # Evaluations; candidates that had been evaluated before do not count; at least 1 and at most 10000000
    time_limit: str  # The search ends after this time, its runs taken together; 0 s: after its trials; unit: fs, ps, ns, us, ms, s, min, h, day, year; at least 0 s
    seed: int  # Of candidates and evaluations; at least 0
    evolution: Union[PodlstmSearchSearchEvolution, None]  # Ageing evolution
    reinforcement: Union[PodlstmSearchSearchReinforcement, None]  # Reinforcement learning (PPO)
    stopping: Union[PodlstmSearchSearchStopping, None]  # Hopeless candidates
    workers: Union[PodlstmSearchSearchWorkers, None]  # Who evaluates
    replay: Union[str, None]  # A trial store whose order of proposals and ends is followed, with its seed
PodlstmSearchWindow = TypedDict('PodlstmSearchWindow', {
    'in': int,  # Past steps that a forecast sees; at least 1 and at most 100000
    'out': int,  # Steps that it forecasts; at least 1 and at most 100000
}, total=False)
class PodlstmSearchSplit(TypedDict, total=False):
    kind: Literal['chronological', 'random']  # chronological: training, validation and test periods follow each other and no window lies in two of them; random: training and validation windows are drawn from one period and overlap (as in the SC20 paper), which every table says
    train_from: str  # First day of training; empty: the record's first
    train_until: str  # Last day of training; empty: three quarters of the record. All constants come from training alone
    validation_until: str  # Last day of the validation period that follows; empty: half of what remains. Unused by kind random
    test_until: str  # Last day of the test period that follows; empty: the record's last
    validation_share: float  # Share of the windows that validate, of kind random; above 0 and below 1
    seed: int  # Seed of kind random; at least 0
    irregular_steps: Literal['avoid', 'cross']  # A step of time unlike the others (a gap; the 3 days between the two parts of NOAA's weekly record): avoid breaks the series there, cross takes rows as steps whatever their dates
class PodlstmSearchForecastTraining(TypedDict, total=False):
    epochs: int  # Passes through all windows; at least 0 and at most 1000000000
    batch: int  # Windows in a batch, one step of the optimiser; at least 1 and at most 1000000000
    learning_rate: float  # Step size of Adam; above 0
    beta1: float  # Of the mean gradient; at least 0 and below 1
    beta2: float  # Decay rate of the mean squared gradient; at least 0 and below 1
    epsilon: float  # Added to the root of the mean squared gradient (Keras 1e-7, PyTorch 1e-8); above 0
    weight_decay: float  # Weights shrink by learning_rate times this in each step (AdamW); 0: they do not; at least 0
    clip: float  # Limit of each component of the gradient; 0: no limit; at least 0
    patience: int  # Stop after so many epochs without a lower loss (of validation, or of training where there is none); 0: run all; at least 0 and at most 1000000000
    min_improvement: float  # Smallest decrease of the loss that counts as an improvement; at least 0
    keep_best: bool  # Keep the parameters of the best epoch; else of the last
    zero_head: bool  # Start the weights of the head at 0, so that the corrected forecast begins as the base
    twin_biases: bool  # Gates have two biases, as in PyTorch; their sum is kept, which learns twice as fast as one
    start: Literal['keras', 'pytorch']  # How weights begin. keras: Glorot, orthogonal, forget bias 1; pytorch: uniform, by the width
    precision: Literal['float32', 'float64', 'bf16']  # Numbers of recurrent networks (graph networks: network.graph.precision); bf16: float32, its products of numbers rounded to bfloat16 (sums float32): fast where the processor has AMX or AVX512_BF16
    engine: Literal['kernels', 'torch']  # Code that trains the networks: our kernels, or LibTorch with automatic differentiation
class PodlstmSearchForecast(TypedDict, total=False):
    kind: Literal['hybrid', 'raw']  # hybrid: a linear base, corrected by networks of anomalies and season; raw: networks of the coefficients scaled to [0, 1], as in the SC20 paper (network.head: lstm, training.zero_head: false)
    base: Literal['climatology', 'persistence', 'anomaly_persistence', 'damped_persistence', 'lim', 'ridge', 'seasonal_ridge', 'ridge_ensemble', 'raw_linear', 'dmd', 'hankel_dmd']  # What hybrid networks correct; see references
    seasons: int  # Harmonics of the year whose phase hybrid networks are told at each step; at least 0 and at most 12
    loss: Literal['degrees', 'deviations']  # Errors of hybrid networks in training: degrees counts them as on the map (RMSE), deviations each mode in units of the base's error (R2, where all outputs count alike)
    keep_networks: Literal['earned', 'always']  # hybrid: whether the model has networks: earned, where trainings from rolling origins within training and validation beat the base on the times after them by two standard errors; else none are trained and the model is the base alone
    origins: int  # Rolling origins that decide so: the second half of training and validation in so many blocks, at most two networks trained anew before each; at least 3 and at most 100
    training: Union[PodlstmSearchForecastTraining, None]  # How they are trained
class PodlstmSearchSpace(TypedDict, total=False):
    nodes: int  # Nodes of the chain; at least 1 and at most 64
    units: Sequence[int]  # Units that a node may have; 0: identity; at least 1 value, each at least 0 and at most 4096
    reach: int  # A node may add what was there so many nodes before; 0: no skips; at least 0 and at most 64
    head: Literal['lstm', 'dense', 'last_state']  # How states become outputs. lstm: a last LSTM with one unit per mode; step k of the output from steps 1 to k of the input; dense: a linear layer at each step: step k of the output from step k of the last node; last_state: a linear layer from the last state to all steps of the output
    learning_rates: Sequence[float]  # Step sizes of Adam to choose from; none: that of forecast.training; each above 0
    batches: Sequence[int]  # Windows in a batch, one step of the optimiser to choose from; none: as forecast.training; each at least 1 and at most 1000000000
class PodlstmSearchRetrain(TypedDict, total=False):
    members: int  # Networks of the best candidate's ensemble, a seed each; 0: none are trained; at least 0 and at most 1000
    epochs: int  # Passes through all windows; 0: as many as in the search; at least 0 and at most 1000000000
    seed: int  # Seed of the first network; the others follow; at least 0
class PodlstmSearchReferencesClimatology(TypedDict, total=False):
    harmonics: int  # Harmonics of the year of 365.2425 days; at least 0 and at most 24
    trend: float  # Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none; at least 0 and at most 1
    valid_years: Union[float, None]  # Years after training for which the climatology is taken to hold; absent: 10, in an evaluation those of the model. A forecast of later dates is refused, an evaluation leaves them out; at least 0
class PodlstmSearchReferencesSeasonalRidge(TypedDict, total=False):
    lags: str  # Past that the regression sees, at most that of the window: a number of steps, or a duration
    means: Sequence[str]  # Longer memories: means over so long a time up to the last step, as far as the series reaches; each a number of steps or a duration
    seasons: int  # Harmonics of the year by which the weights of the last state vary; 0: constant over the year; at least 0 and at most 12
    alpha: float  # Ridge penalty on the weights of standardised features, per training window; at least 0
class PodlstmSearchReferencesRidgeEnsemble(TypedDict, total=False):
    lags: Sequence[str]  # Pasts that its members see, at most that of the window: each a number of steps or a duration; at least 1 value
    more_means: Sequence[str]  # Longer memories that half of its members have beside those of seasonal_ridge
    alphas: Sequence[float]  # Ridge penalties of its members on the weights of standardised features, per training window; at least 1 value, each above 0
class PodlstmSearchReferences(TypedDict, total=False):
    climatology: Union[PodlstmSearchReferencesClimatology, None]  # Normal values, from which anomalies are departures
    lim_lag: str  # Lag of the linear inverse model's covariance, a number of steps or a duration; one step, with a warning, where a mode decorrelates sooner
    ridge_alpha: float  # Penalty of ridge, in squared coefficients; at least 0
    seasonal_ridge: Union[PodlstmSearchReferencesSeasonalRidge, None]  # The regression seasonal_ridge, with longer memory and season
    seasonal_trend: float  # Share of the linear trend in the climatology of seasonal_ridge, whose longer means already follow slow changes; at least 0 and at most 1
    ridge_ensemble: Union[PodlstmSearchReferencesRidgeEnsemble, None]  # The regressions whose mean ridge_ensemble is: all combinations of these, the harmonics and means of seasonal_ridge
    hankel_rank: int  # Rank of hankel_dmd; at least 1
    left_out: Sequence[str]  # Names of references that stand in no table, such as raw_linear; the base stays what it is
class PodlstmForecastExpertsRouter(TypedDict, total=False):
    kind: Literal['rule', 'nearest', 'network']  # Who answers a request that several experts' ranges hold: rule: the first of `order`; without an order one alone may hold it; nearest: the one whose range has its middle nearest; network: the one that the registry's network, by the keys it was trained on, finds most likely
    by: Sequence[str]  # Keys of the experts' ranges that count
    order: Sequence[str]  # IDs, the one to be asked first in front (kind: rule)
    outside: Literal['refuse', 'nearest', 'fallback']  # A request that no expert's range holds: refuse: refuse it; nearest: take the one whose range is nearest; fallback: take the one that `fallback` names
    fallback: str  # ID of the expert that answers such a request
class PodlstmForecastExperts(TypedDict, total=False):
    registry: Required[str]  # A file of many models, which `quintet registry` makes
    router: Union[PodlstmForecastExpertsRouter, None]  # Which of them answers
class PodlstmForecastQuantise(TypedDict, total=False):
    bits: int  # Planes of signs a weight; at least 1 and at most 8
    group: int  # Inputs of an output that share a scale, a multiple of 4; 0: all of them; at least 0 and at most 1048576
    rounds: int  # Alternating rounds after the greedy start; at least 0 and at most 1000
    kernel: Literal['auto', 'fp32', 'bf16', 'tables']  # Who multiplies by the coded weights
class PodlstmEvaluateReferencesClimatology(TypedDict, total=False):
    harmonics: int  # Harmonics of the year of 365.2425 days; at least 0 and at most 24
    trend: float  # Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none; at least 0 and at most 1
    valid_years: Union[float, None]  # Years after training for which the climatology is taken to hold; absent: 10, in an evaluation those of the model. A forecast of later dates is refused, an evaluation leaves them out; at least 0
class PodlstmEvaluateReferencesSeasonalRidge(TypedDict, total=False):
    lags: str  # Past that the regression sees, at most that of the window: a number of steps, or a duration
    means: Sequence[str]  # Longer memories: means over so long a time up to the last step, as far as the series reaches; each a number of steps or a duration
    seasons: int  # Harmonics of the year by which the weights of the last state vary; 0: constant over the year; at least 0 and at most 12
    alpha: float  # Ridge penalty on the weights of standardised features, per training window; at least 0
class PodlstmEvaluateReferencesRidgeEnsemble(TypedDict, total=False):
    lags: Sequence[str]  # Pasts that its members see, at most that of the window: each a number of steps or a duration; at least 1 value
    more_means: Sequence[str]  # Longer memories that half of its members have beside those of seasonal_ridge
    alphas: Sequence[float]  # Ridge penalties of its members on the weights of standardised features, per training window; at least 1 value, each above 0
class PodlstmEvaluateReferences(TypedDict, total=False):
    climatology: Union[PodlstmEvaluateReferencesClimatology, None]  # Normal values, from which anomalies are departures
    lim_lag: str  # Lag of the linear inverse model's covariance, a number of steps or a duration; one step, with a warning, where a mode decorrelates sooner
    ridge_alpha: float  # Penalty of ridge, in squared coefficients; at least 0
    seasonal_ridge: Union[PodlstmEvaluateReferencesSeasonalRidge, None]  # The regression seasonal_ridge, with longer memory and season
    seasonal_trend: float  # Share of the linear trend in the climatology of seasonal_ridge, whose longer means already follow slow changes; at least 0 and at most 1
    ridge_ensemble: Union[PodlstmEvaluateReferencesRidgeEnsemble, None]  # The regressions whose mean ridge_ensemble is: all combinations of these, the harmonics and means of seasonal_ridge
    hankel_rank: int  # Rank of hankel_dmd; at least 1
    left_out: Sequence[str]  # Names of references that stand in no table, such as raw_linear; the base stays what it is
class PodlstmEvaluateRegions(TypedDict, total=False):
    name: Required[str]  # Its name in tables
    latitudes: Required[Sequence[float]]  # South and north edge (degrees); 2 values, each at least -90 and at most 90
    longitudes: Required[Sequence[float]]  # West and east edge (degrees east of Greenwich); a box may cross it; 2 values, each at least -360 and at most 720
class PodlstmEvaluateFieldsMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmEvaluateFieldsStochastic(TypedDict, total=False):
    climatology: str  # A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic climatology with rough continents
    variable: str  # Name of the variable in the file
    spacing: float  # Degrees between points of the analytic climatology; at least 0.25 and at most 30
    years: float  # Length of the weekly record (years); at least 0.05 and at most 2000
    start: str  # First day
    seed: int  # Another number, another ocean; at least 0
    noise: float  # Standard deviation of independent noise at each point and week (degC); at least 0 and at most 10
    trend: float  # degC a year; at least -1 and at most 1
class PodlstmEvaluateFieldsRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmEvaluateFieldsAlsoMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmEvaluateFieldsAlsoRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmEvaluateFieldsAlso(TypedDict, total=False):
    name: Required[str]  # Its name in modes.h5, modes.nc, forecast.nc and reports: small letters, digits and _
    weight: float  # How much its total variance counts in the modes, where that of the first variable counts 1; at least 1e-06 and at most 1000000
    files: Required[Union[Sequence[str], Any]]  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc; at least 1 value
    variable: str  # Name of the field
    units: Literal['from_file', 'degree_Celsius', 'kelvin']  # Units of the variable; kelvin are converted to degrees Celsius
    quantity: Literal['from_file', 'temperature', 'anomaly']  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    valid_range: Literal['from_file', 'stored', 'unpacked', 'ignored']  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    missing: Sequence[float]  # Numbers, in the units of the file, that mark missing values, too: those of land
    mask: Union[PodlstmEvaluateFieldsAlsoMask, None]  # What is sea; absent: points that have a value at every time
    region: Union[PodlstmEvaluateFieldsAlsoRegion, None]  # Part of its grid; absent: fields.region
    incomplete_points: Literal['refuse', 'drop', 'dineof']  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    mean: Literal['none', 'week', 'month']  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    week_begins: Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']  # Day on which weeks begin, where mean is week
    coarsen: int  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    cache: str  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    constant_points: Literal['refuse', 'land', 'sea']  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
PodlstmEvaluateFields = TypedDict('PodlstmEvaluateFields', {
    'files': Union[Sequence[str], Any],  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc
    'variable': str,  # Name of the field
    'units': Literal['from_file', 'degree_Celsius', 'kelvin'],  # Units of the variable; kelvin are converted to degrees Celsius
    'quantity': Literal['from_file', 'temperature', 'anomaly'],  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    'valid_range': Literal['from_file', 'stored', 'unpacked', 'ignored'],  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    'missing': Sequence[float],  # Numbers, in the units of the file, that mark missing values, too: those of land
    'mask': Union[PodlstmEvaluateFieldsMask, None],  # What is sea; absent: points that have a value at every time
    'stochastic': Union[PodlstmEvaluateFieldsStochastic, None],  # Instead of files: a made-up ocean with observed seasons, for trials
    'from': str,  # First day that is used, such as 1981-10-29; empty: the first of the record
    'to': str,  # Last day that is used
    'region': Union[PodlstmEvaluateFieldsRegion, None],  # Part of the grid
    'incomplete_points': Literal['refuse', 'drop', 'dineof'],  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    'least_values': float,  # Share of the times that such a point has values at, else it is left out, where incomplete_points is dineof; at least 0.01 and at most 1
    'mean': Literal['none', 'week', 'month'],  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    'week_begins': Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],  # Day on which weeks begin, where mean is week
    'coarsen': int,  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    'cache': str,  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    'constant_points': Literal['refuse', 'land', 'sea'],  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
    'gaps': Literal['refuse', 'keep'],  # Times that are missing: steps of more than one and a half times the usual one; keep: they are told of
    'also': Sequence[PodlstmEvaluateFieldsAlso],  # Further variables at the same times, such as sea level or heat content, on grids of their own: modes are joint (combined EOFs), each variable scaled by its total standard deviation. from, to and gaps are those of the section
}, total=False)
class PodlstmEvaluateQuantise(TypedDict, total=False):
    bits: int  # Planes of signs a weight; at least 1 and at most 8
    group: int  # Inputs of an output that share a scale, a multiple of 4; 0: all of them; at least 0 and at most 1048576
    rounds: int  # Alternating rounds after the greedy start; at least 0 and at most 1000
    kernel: Literal['auto', 'fp32', 'bf16', 'tables']  # Who multiplies by the coded weights
class PodlstmHindcastFieldsMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmHindcastFieldsStochastic(TypedDict, total=False):
    climatology: str  # A netCDF file of twelve monthly fields, land where a month has no value; empty: an analytic climatology with rough continents
    variable: str  # Name of the variable in the file
    spacing: float  # Degrees between points of the analytic climatology; at least 0.25 and at most 30
    years: float  # Length of the weekly record (years); at least 0.05 and at most 2000
    start: str  # First day
    seed: int  # Another number, another ocean; at least 0
    noise: float  # Standard deviation of independent noise at each point and week (degC); at least 0 and at most 10
    trend: float  # degC a year; at least -1 and at most 1
class PodlstmHindcastFieldsRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmHindcastFieldsAlsoMask(TypedDict, total=False):
    file: Required[str]  # A netCDF file or zarr folder of the same grid, its latitudes and longitudes in any order
    variable: str  # Name of the mask
    sea: float  # Stored number that marks sea; all others are land
class PodlstmHindcastFieldsAlsoRegion(TypedDict, total=False):
    south: float  # Southern end (degrees north); at least -90 and at most 90
    north: float  # Northern end; at least -90 and at most 90
    west: Union[float, None]  # Western end (degrees east, 280 is -80); absent: all around; at least -360 and at most 360
    east: Union[float, None]  # Eastern end: the region goes from west eastward to here; at least -360 and at most 720
class PodlstmHindcastFieldsAlso(TypedDict, total=False):
    name: Required[str]  # Its name in modes.h5, modes.nc, forecast.nc and reports: small letters, digits and _
    weight: float  # How much its total variance counts in the modes, where that of the first variable counts 1; at least 1e-06 and at most 1000000
    files: Required[Union[Sequence[str], Any]]  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc; at least 1 value
    variable: str  # Name of the field
    units: Literal['from_file', 'degree_Celsius', 'kelvin']  # Units of the variable; kelvin are converted to degrees Celsius
    quantity: Literal['from_file', 'temperature', 'anomaly']  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    valid_range: Literal['from_file', 'stored', 'unpacked', 'ignored']  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    missing: Sequence[float]  # Numbers, in the units of the file, that mark missing values, too: those of land
    mask: Union[PodlstmHindcastFieldsAlsoMask, None]  # What is sea; absent: points that have a value at every time
    region: Union[PodlstmHindcastFieldsAlsoRegion, None]  # Part of its grid; absent: fields.region
    incomplete_points: Literal['refuse', 'drop', 'dineof']  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    mean: Literal['none', 'week', 'month']  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    week_begins: Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']  # Day on which weeks begin, where mean is week
    coarsen: int  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    cache: str  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    constant_points: Literal['refuse', 'land', 'sea']  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
PodlstmHindcastFields = TypedDict('PodlstmHindcastFields', {
    'files': Union[Sequence[str], Any],  # Files that follow each other in time: netCDF of CF (time, lat, lon), zarr folders of it, or fields over time of ours (HDF5). Patterns stand for all files that match, in the order of their times: daily/*.nc
    'variable': str,  # Name of the field
    'units': Literal['from_file', 'degree_Celsius', 'kelvin'],  # Units of the variable; kelvin are converted to degrees Celsius
    'quantity': Literal['from_file', 'temperature', 'anomaly'],  # What its numbers are; anomalies in kelvin stay as they are. from_file: as units_metadata, standard_name or long_name say, else temperatures
    'valid_range': Literal['from_file', 'stored', 'unpacked', 'ignored'],  # What valid_range, valid_min and valid_max of a packed variable are in: numbers as they are stored, as they are meant, or as their type says
    'missing': Sequence[float],  # Numbers, in the units of the file, that mark missing values, too: those of land
    'mask': Union[PodlstmHindcastFieldsMask, None],  # What is sea; absent: points that have a value at every time
    'stochastic': Union[PodlstmHindcastFieldsStochastic, None],  # Instead of files: a made-up ocean with observed seasons, for trials
    'from': str,  # First day that is used, such as 1981-10-29; empty: the first of the record
    'to': str,  # Last day that is used
    'region': Union[PodlstmHindcastFieldsRegion, None],  # Part of the grid
    'incomplete_points': Literal['refuse', 'drop', 'dineof'],  # Sea points that have no value at some times; dineof: what is missing is filled by the modes of the rest (DINEOF), of all variables, in podlstm fit and hindcast
    'least_values': float,  # Share of the times that such a point has values at, else it is left out, where incomplete_points is dineof; at least 0.01 and at most 1
    'mean': Literal['none', 'week', 'month'],  # Means over periods in place of the times of the files, such as those of daily ones; at their first days
    'week_begins': Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'],  # Day on which weeks begin, where mean is week
    'coarsen': int,  # Boxes of so many by so many points become one, the mean of their sea by area; 4 makes 1 degree of 0.25. What is sea: mask, where it is of the files' grid, else points with a value at the first time. Boxes are sea from half of their area on; at least 1 and at most 1000
    'cache': str,  # HDF5 file that keeps the means and boxes, so that files are read once, and later only those that are new or have changed; beside it FILE.files keeps what is known of them. Empty: none
    'constant_points': Literal['refuse', 'land', 'sea'],  # Points that have one value at five or more times, all there are: land that no value marks as missing, or sea under ice. Where a mask is given they are what it says. refuse: but for -1.8 degC (within 0.05) from 50 degrees north or south on, which is sea under ice
    'gaps': Literal['refuse', 'keep'],  # Times that are missing: steps of more than one and a half times the usual one; keep: they are told of
    'also': Sequence[PodlstmHindcastFieldsAlso],  # Further variables at the same times, such as sea level or heat content, on grids of their own: modes are joint (combined EOFs), each variable scaled by its total standard deviation. from, to and gaps are those of the section
}, total=False)
class PodlstmHindcastPodDineof(TypedDict, total=False):
    most_modes: int  # Largest number of modes that is tried; at least 1 and at most 200
    held_out: float  # Share of the known values that are held out to choose how many modes fill the gaps; above 0 and at most 0.5
    tolerance: float  # The filling ends where an iteration changes the filled values by less than this, root mean square, in units of that of all anomalies; at least 1e-10 and at most 0.1
    most_iterations: int  # For one number of modes; at least 1 and at most 100000
class PodlstmHindcastPod(TypedDict, total=False):
    modes: int  # Modes to keep; at least 1 and at most 10000
    weights: Literal['points', 'area']  # Weights of the inner product: 1 for each point, as in the paper, or cos(latitude)
    background: Literal['mean', 'climatology']  # What is taken away first: the mean of the fit's times, as in the paper, or their mean and seasonal cycle, so that modes are of anomalies
    harmonics: int  # Harmonics of the seasonal cycle; at least 1 and at most 12
    background_years: str  # Years whose times are behind the background, first and last, within the fit's times: the named climatology period that anomalies are of; empty: all of the fit's times
    method: Literal['automatic', 'snapshots', 'randomised', 'lanczos']  # How singular triplets are found, all to round-off: eigenvectors of products of times (snapshots), block Lanczos from random vectors (faster where modes are few and times many), or SLEPc's thick-restart Lanczos method; automatic: randomised from 64 times a mode on, else snapshots
    seed: int  # Seed of the random vectors; at least 0
    dineof: Union[PodlstmHindcastPodDineof, None]  # How values that are missing are filled, where fields.incomplete_points is dineof
PodlstmHindcastWindow = TypedDict('PodlstmHindcastWindow', {
    'in': int,  # Past steps that a forecast sees; at least 1 and at most 100000
    'out': int,  # Steps that it forecasts; at least 1 and at most 100000
}, total=False)
PodlstmHindcastOrigins = TypedDict('PodlstmHindcastOrigins', {
    'train_from': str,  # First day of all trainings; empty: the record's first
    'from': str,  # The first origin; empty: the first of January after ten years of training and after the times behind the modes
    'until': str,  # Last day that is forecast; empty: the record's last
    'every': int,  # Years from an origin to the next; at least 1 and at most 100
    'warm_up': int,  # Leading origins that are not judged: what they show gives the first ones after them spreads, weights of the mixture and whether networks stay; at least 0 and at most 1000
}, total=False)
class PodlstmHindcastReferencesClimatology(TypedDict, total=False):
    harmonics: int  # Harmonics of the year of 365.2425 days; at least 0 and at most 24
    trend: float  # Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none; at least 0 and at most 1
    valid_years: Union[float, None]  # Years after training for which the climatology is taken to hold; absent: 10, in an evaluation those of the model. A forecast of later dates is refused, an evaluation leaves them out; at least 0
class PodlstmHindcastReferencesSeasonalRidge(TypedDict, total=False):
    lags: str  # Past that the regression sees, at most that of the window: a number of steps, or a duration
    means: Sequence[str]  # Longer memories: means over so long a time up to the last step, as far as the series reaches; each a number of steps or a duration
    seasons: int  # Harmonics of the year by which the weights of the last state vary; 0: constant over the year; at least 0 and at most 12
    alpha: float  # Ridge penalty on the weights of standardised features, per training window; at least 0
class PodlstmHindcastReferencesRidgeEnsemble(TypedDict, total=False):
    lags: Sequence[str]  # Pasts that its members see, at most that of the window: each a number of steps or a duration; at least 1 value
    more_means: Sequence[str]  # Longer memories that half of its members have beside those of seasonal_ridge
    alphas: Sequence[float]  # Ridge penalties of its members on the weights of standardised features, per training window; at least 1 value, each above 0
class PodlstmHindcastReferences(TypedDict, total=False):
    climatology: Union[PodlstmHindcastReferencesClimatology, None]  # Normal values, from which anomalies are departures
    lim_lag: str  # Lag of the linear inverse model's covariance, a number of steps or a duration; one step, with a warning, where a mode decorrelates sooner
    ridge_alpha: float  # Penalty of ridge, in squared coefficients; at least 0
    seasonal_ridge: Union[PodlstmHindcastReferencesSeasonalRidge, None]  # The regression seasonal_ridge, with longer memory and season
    seasonal_trend: float  # Share of the linear trend in the climatology of seasonal_ridge, whose longer means already follow slow changes; at least 0 and at most 1
    ridge_ensemble: Union[PodlstmHindcastReferencesRidgeEnsemble, None]  # The regressions whose mean ridge_ensemble is: all combinations of these, the harmonics and means of seasonal_ridge
    hankel_rank: int  # Rank of hankel_dmd; at least 1
    left_out: Sequence[str]  # Names of references that stand in no table, such as raw_linear; the base stays what it is
class PodlstmHindcastCyclostationary(TypedDict, total=False):
    lag: str  # Lag of the covariances, a number of steps or a duration; one step, with a warning, where a mode decorrelates sooner
    half_width: float  # Days from the middle of a season at which a time counts half for its operators; at least 10 and at most 180
    trend: float  # Share of the linear trend in its climatology, as seasonal_trend; at least 0 and at most 1
class PodlstmHindcastAnalogues(TypedDict, total=False):
    neighbours: int  # Past states that are looked at; at least 2
    half_width: float  # Days from a forecast's time of the year at which a past state counts half; at least 5 and at most 180
    trend: float  # Share of the linear trend in its climatology, as seasonal_trend; at least 0 and at most 1
class PodlstmHindcastNetworksNetworkGraph(TypedDict, total=False):
    coarsen: int  # A node is a box of so many points of the grid each way; 1: each point of sea; at least 1 and at most 1000
    neighbours: int  # Sectors about a node, the first about north: the nearest node in each is a neighbour, no farther than two spacings of the nodes; at least 3 and at most 32
    mesh: int  # Hubs, spread over the sea, joined to each other and each to the nodes about it, for what is far; 0: none; at least 0 and at most 100000
    features: int  # Numbers that the network has at a node; at least 1 and at most 4096
    layers: int  # Graph convolutions, one after the other; at least 1 and at most 64
    precision: Literal['float64', 'float32']  # Numbers at nodes and in products; weights, losses and sums over nodes are float64. float32: half the memory of nodes, and faster
    spmm: Literal['auto', '1d', 'sparse_1d', '1.5d', '2d', '3d']  # How nodes, and in tiles their features, are shared out over ranks; auto: the one that takes least time by count of its messages and words, 1d: rows over ranks, all rows of the panel travel, sparse_1d: rows over ranks, only the rows that nonzeros need travel, 1.5d: several ranks hold the same rows of the panel, 2d: tiles of the matrix and of the panel, 3d: tiles in layers, on 8, 27, 64 ... ranks
class PodlstmHindcastNetworksNetwork(TypedDict, total=False):
    kind: Literal['recurrent', 'graph']  # recurrent: LSTMs of the coefficients, as nodes, skips and head say; graph: of the field, on a graph over the sea, which the modes file must have (hybrid models, loss: degrees)
    nodes: Sequence[str]  # Nodes in their order: units of an LSTM (80), 'dense 80' (relu, each step by itself) or 'identity'; 0 to 64 values
    skips: Sequence[str]  # Skips, such as '0->2': what node 2 gives plus the input (0), projected to its width, relu of it
    head: Literal['lstm', 'dense', 'last_state']  # How states become outputs. lstm: a last LSTM with one unit per mode; step k of the output from steps 1 to k of the input; dense: a linear layer at each step: step k of the output from step k of the last node; last_state: a linear layer from the last state to all steps of the output
    graph: Union[PodlstmHindcastNetworksNetworkGraph, None]  # The graph and its network, where kind is graph; absent: as below
class PodlstmHindcastNetworksTraining(TypedDict, total=False):
    epochs: int  # Passes through all windows; at least 0 and at most 1000000000
    batch: int  # Windows in a batch, one step of the optimiser; at least 1 and at most 1000000000
    learning_rate: float  # Step size of Adam; above 0
    beta1: float  # Of the mean gradient; at least 0 and below 1
    beta2: float  # Decay rate of the mean squared gradient; at least 0 and below 1
    epsilon: float  # Added to the root of the mean squared gradient (Keras 1e-7, PyTorch 1e-8); above 0
    weight_decay: float  # Weights shrink by learning_rate times this in each step (AdamW); 0: they do not; at least 0
    clip: float  # Limit of each component of the gradient; 0: no limit; at least 0
    patience: int  # Stop after so many epochs without a lower loss (of validation, or of training where there is none); 0: run all; at least 0 and at most 1000000000
    min_improvement: float  # Smallest decrease of the loss that counts as an improvement; at least 0
    keep_best: bool  # Keep the parameters of the best epoch; else of the last
    zero_head: bool  # Start the weights of the head at 0, so that the corrected forecast begins as the base
    twin_biases: bool  # Gates have two biases, as in PyTorch; their sum is kept, which learns twice as fast as one
    start: Literal['keras', 'pytorch']  # How weights begin. keras: Glorot, orthogonal, forget bias 1; pytorch: uniform, by the width
    precision: Literal['float32', 'float64', 'bf16']  # Numbers of recurrent networks (graph networks: network.graph.precision); bf16: float32, its products of numbers rounded to bfloat16 (sums float32): fast where the processor has AMX or AVX512_BF16
    engine: Literal['kernels', 'torch']  # Code that trains the networks: our kernels, or LibTorch with automatic differentiation
class PodlstmHindcastNetworks(TypedDict, total=False):
    kind: Literal['hybrid', 'raw']  # hybrid: a linear base, corrected by networks of anomalies and season; raw: networks of the coefficients scaled to [0, 1], as in the SC20 paper (network.head: lstm, training.zero_head: false)
    base: Literal['climatology', 'persistence', 'anomaly_persistence', 'damped_persistence', 'lim', 'ridge', 'seasonal_ridge', 'ridge_ensemble', 'raw_linear', 'dmd', 'hankel_dmd']  # What hybrid networks correct; see references
    seasons: int  # Harmonics of the year whose phase hybrid networks are told at each step; at least 0 and at most 12
    loss: Literal['degrees', 'deviations']  # Errors of hybrid networks in training: degrees counts them as on the map (RMSE), deviations each mode in units of the base's error (R2, where all outputs count alike)
    members: int  # Networks of the ensemble, a seed each, where they are kept; 0: the base alone; at least 0 and at most 1000
    seed: int  # Seed of the first network; the others follow; at least 0
    network: Union[PodlstmHindcastNetworksNetwork, None]  # The networks' architecture
    training: Union[PodlstmHindcastNetworksTraining, None]  # How they are trained
    every: int  # Origins from a training of the networks to the next; between them the networks stay, and their base alone is fitted anew; at least 1 and at most 1000
class PodlstmHindcastMixture(TypedDict, total=False):
    of: Sequence[str]  # The methods that are mixed; at least 2 values
    pull: float  # Pull of the weights towards equal ones, in units of the mean square error of the methods; at least 0
class PodlstmHindcastVerification(TypedDict, total=False):
    harmonics: int  # Harmonics of the year of 365.2425 days; at least 0 and at most 24
    trend: float  # Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none; at least 0 and at most 1
    valid_years: Union[float, None]  # Years after training for which the climatology is taken to hold; absent: 10, in an evaluation those of the model. A forecast of later dates is refused, an evaluation leaves them out; at least 0
class PodlstmHindcastRegions(TypedDict, total=False):
    name: Required[str]  # Its name in tables
    latitudes: Required[Sequence[float]]  # South and north edge (degrees); 2 values, each at least -90 and at most 90
    longitudes: Required[Sequence[float]]  # West and east edge (degrees east of Greenwich); a box may cross it; 2 values, each at least -360 and at most 720
class PodlstmHindcastMaps(TypedDict, total=False):
    leads: Sequence[int]  # Leads that have maps; empty: the first and last of those that are judged together; each at least 1
class PodlstmQuantiseQuantise(TypedDict, total=False):
    bits: int  # Planes of signs a weight; at least 1 and at most 8
    group: int  # Inputs of an output that share a scale, a multiple of 4; 0: all of them; at least 0 and at most 1048576
    rounds: int  # Alternating rounds after the greedy start; at least 0 and at most 1000
    kernel: Literal['auto', 'fp32', 'bf16', 'tables']  # Who multiplies by the coded weights
class SubmatrixEvaluateMatrices(TypedDict, total=False):
    kohn_sham: Required[str]  # File of the Kohn-Sham matrix K
    kohn_sham_down: Union[str, None]  # Open shell: K of spin down, kohn_sham being that of spin up; absent: both spins are alike
    overlap: Union[str, None]  # File of the overlap matrix S; absent: S = 1, an orthogonal basis
    format: Literal['automatic', 'quintet_hdf5', 'matrix_market', 'elsi_csc', 'cp2k_binary', 'ntpoly_binary', 'cp2k_text']  # Of both files; automatic: from their first bytes
    triangle: Literal['both', 'one']  # Which elements the files hold; one: CP2K's UPPER_TRIANGULAR, or of real-space blocks one of each M(0,s)_ij and M(0,-s)_ji
    units: Literal['from_file', 'hartree', 'eV', 'Ry']  # Of K; from_file: as the file says, or hartree if it does not. The unit has to be given where K_ii/S_ii (below -8, above 60) or a gap above 1 hartree may also be in eV
    n_rows: Union[int, None]  # Rows of the matrices, where the format does not say (CP2K); absent: the largest index; at least 1 and at most 2147483647
    repeat: Sequence[int]  # Cells along x, y, z into which real-space blocks M(0,s) are folded (molecules of a cell together, x fastest); absent: the files hold whole matrices; 0 to 3 values, each at least 1 and at most 1000
    asymmetry: float  # Largest |M_ij - M_ji| (of real-space blocks |M(0,s)_ij - M(0,-s)_ji|) that is taken for noise, in the files' units; more is an error; at least 0
    order: Literal['checked', 'trusted']  # Of the functions in K and S; checked: refused where large elements of one lie where the other has none, blocks or cells differ; trusted: not looked at
class SubmatrixEvaluateBlocks(TypedDict, total=False):
    by: Literal['automatic', 'size', 'sizes', 'file', 'xyz', 'graph']  # Blocks of one size; of listed sizes; of the atoms or molecules in a file; of the atoms of an XYZ file; parts of the graph of K; automatic: what is given here, else what the matrix file says, else parts of the graph of at most 40 orbitals
    size: Union[int, None]  # Orbitals of each block: 6 for a water molecule in an SZV basis; at least 1 and at most 100000
    sizes: Sequence[int]  # Orbitals of the blocks in the matrix's order, repeated until all rows are taken: [4, 1, 1] for the atoms of water; each at least 1 and at most 100000
    file: Union[str, None]  # Text file: on each line the orbitals of an atom and, if it belongs to a molecule, the number of that molecule (from 1)
    xyz: Union[str, None]  # XYZ file of the atoms in the matrix's order, of which atoms_per_block that follow each other are a block; needs functions. Repeated until all rows are taken
    functions: dict[str, Union[float, str]]  # Basis functions of each element in xyz: {O: 4, H: 1} for SZV, {O: 13, H: 5} for DZVP
    rows_per_block: Union[int, None]  # Join these blocks, or single orbitals where none are given, to blocks of at most so many orbitals that are strongly coupled; absent: they stay as they are; at least 1 and at most 100000
    atoms_per_block: Union[int, None]  # Atoms of a block of `size`, `sizes` or `xyz`, for errors an atom (3 for water molecules); absent: 1 in blocks of `xyz`, else not known; at least 1 and at most 100000
class SubmatrixEvaluateEnsemble(TypedDict, total=False):
    mu: Union[str, None]  # Fixed chemical potential; the number of electrons follows; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    electrons: Union[float, None]  # Fixed number of electrons, two an occupied orbital; the chemical potential follows; above 0
    unpaired: float  # Open shell with a fixed number of electrons: those of spin up less those of spin down; each spin gets a chemical potential of its own
    common_mu: bool  # Open shell with a fixed number of electrons: one chemical potential for both spins, which share the electrons; both spins are held to the tolerance together
    tolerance: float  # Largest error of that number; above 0 and at most 0.1
class SubmatrixEvaluateMethod(TypedDict, total=False):
    thresholds: Sequence[float]  # Blocks of A = S^-1/2 K S^-1/2 (hartree) with a smaller Frobenius norm are dropped. Several: one evaluation for each, to show how results converge. --restart auto goes on after the last finished one and repeats the one that was interrupted; more may be added then, but finished ones must stay; 1 to 50 values, each at least 0 and at most 1
    kernel: Literal['automatic', 'polynomial', 'eigen', 'newton_schulz']  # How the step function of a submatrix is found for the wanted columns; automatic: by cost
    dense: Literal['automatic', 'never', 'always']  # Diagonalise the whole matrix once in place of submatrices: exact, time as n^3, one for all thresholds; automatic: where it fits and its predicted seconds are fewer by 0.1 s than those of submatrices (kernel and columns_together left alone, no check, spectrum or device), where submatrices would be nearly the whole matrix, where they are refused (up to ten predicted minutes), or S is too nearly singular for S^-1/2 (condition number above some 1e4, up to 1e8)
    single_precision: bool  # Polynomial in float32: energies to 1e-7 hartree an orbital, up to 1.5 times as fast; for thresholds of 1e-3 and above
    polynomial_error: float  # Largest error of the polynomial on the occupied and empty levels; 0: 0.003 of the threshold, 3e-7 at most; at least 0 and at most 0.1
    newton_schulz_order: int  # Order of that kernel: products an iteration; at least 2 and at most 4
    columns_together: int  # Clustering: block columns of many common rows that may share a submatrix (found among 64 that follow each other); 1: none, 0: as many as the predicted cost says pay; at least 0 and at most 1000
    least_gap: str  # Stop if the levels around mu lie closer and the temperature is 0: mu is then inside a band, where the density matrix does not decay; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; at least 0 hartree
    estimate_error: bool  # Estimate the errors of energy, electrons and density matrix from a sample of block columns that are evaluated again with larger submatrices; a quarter of the submatrices' time, 0.05 s at least; false leaves errors unknown
    memory: Union[str, None]  # A rank may use for one submatrix; absent: the node's memory over its ranks; unit: MB, GB, MiB, GiB; above 0 B
    inverse_sqrt: Union[str, None]  # File that keeps S^-1/2 for the next run of the same S and blocks (our HDF5): read where it exists, else made and written; refused if it is damaged, of another S, of other blocks or of a coarser threshold
class SubmatrixEvaluateCheck(TypedDict, total=False):
    vectors: int  # Random vectors on which P is compared with a Chebyshev series of all of A = S^-1/2 K S^-1/2, which gives ||P - P_exact|| with its standard error, without a reference and without the errors of S^-1/2; 16 give it to a few per cent; 0: no check; at least 0 and at most 10000
    error: float  # Largest error of that series on the levels; where no degree up to 4000 reaches it, the check is refused; at least 1e-12 and at most 0.01
    spmm: Literal['auto', '1d', 'sparse_1d', '1.5d', '2d', '3d']  # How products with the vectors are shared out over ranks; auto: the one that takes least time by count of its messages and words, 1d: rows over ranks, all rows of the panel travel, sparse_1d: rows over ranks, only the rows that nonzeros need travel, 1.5d: several ranks hold the same rows of the panel, 2d: tiles of the matrix and of the panel, 3d: tiles in layers, on 8, 27, 64 ... ranks
class SubmatrixEvaluateSpectrum(TypedDict, total=False):
    vectors: int  # Random vectors for the density of states and the electrons at any mu, by kernel polynomials of A (64 are enough for pictures); 0: none; at least 0 and at most 10000
    resolution: str  # Standard deviation of a level's peak in the middle of the spectrum; at most 4000 moments, of which pi/2 times the spectrum's width over this are needed; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; above 0 hartree
    spmm: Literal['auto', '1d', 'sparse_1d', '1.5d', '2d', '3d']  # How products with the vectors are shared out over ranks; auto: the one that takes least time by count of its messages and words, 1d: rows over ranks, all rows of the panel travel, sparse_1d: rows over ranks, only the rows that nonzeros need travel, 1.5d: several ranks hold the same rows of the panel, 2d: tiles of the matrix and of the panel, 3d: tiles in layers, on 8, 27, 64 ... ranks
class SubmatrixEvaluateOutput(TypedDict, total=False):
    matrices: Sequence[str]  # Matrices of the last threshold to write into the run's folder: density, energy_weighted, orthogonal, inverse_sqrt, orthogonal_density, kohn_sham, overlap
    formats: Sequence[str]  # Formats to write them in: quintet_hdf5, matrix_market, elsi_csc, cp2k_binary, ntpoly_binary, cp2k_text
    threshold: float  # Leave out blocks of smaller Frobenius norm; at least 0 and at most 1
    pattern: Literal['of_k_and_s', 'whole']  # Blocks of density and energy_weighted; of_k_and_s: those of K and S, which energies and forces need; whole: all that were computed, for D S D = D or expectations of operators of longer range
class SubmatrixEvaluateReference(TypedDict, total=False):
    energy: Union[str, None]  # Tr(DK), half the band energy; absent: none; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    homo: Union[str, None]  # Highest occupied level; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    lumo: Union[str, None]  # Lowest empty level; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    file: Union[str, None]  # YAML file of such values for several boxes, found by matrices.repeat (make_water.py writes one)
    label: str  # What the reference is
class SubmatrixCompareMatrices(TypedDict, total=False):
    kohn_sham: Required[str]  # File of the Kohn-Sham matrix K
    kohn_sham_down: Union[str, None]  # Open shell: K of spin down, kohn_sham being that of spin up; absent: both spins are alike
    overlap: Union[str, None]  # File of the overlap matrix S; absent: S = 1, an orthogonal basis
    format: Literal['automatic', 'quintet_hdf5', 'matrix_market', 'elsi_csc', 'cp2k_binary', 'ntpoly_binary', 'cp2k_text']  # Of both files; automatic: from their first bytes
    triangle: Literal['both', 'one']  # Which elements the files hold; one: CP2K's UPPER_TRIANGULAR, or of real-space blocks one of each M(0,s)_ij and M(0,-s)_ji
    units: Literal['from_file', 'hartree', 'eV', 'Ry']  # Of K; from_file: as the file says, or hartree if it does not. The unit has to be given where K_ii/S_ii (below -8, above 60) or a gap above 1 hartree may also be in eV
    n_rows: Union[int, None]  # Rows of the matrices, where the format does not say (CP2K); absent: the largest index; at least 1 and at most 2147483647
    repeat: Sequence[int]  # Cells along x, y, z into which real-space blocks M(0,s) are folded (molecules of a cell together, x fastest); absent: the files hold whole matrices; 0 to 3 values, each at least 1 and at most 1000
    asymmetry: float  # Largest |M_ij - M_ji| (of real-space blocks |M(0,s)_ij - M(0,-s)_ji|) that is taken for noise, in the files' units; more is an error; at least 0
    order: Literal['checked', 'trusted']  # Of the functions in K and S; checked: refused where large elements of one lie where the other has none, blocks or cells differ; trusted: not looked at
class SubmatrixCompareBlocks(TypedDict, total=False):
    by: Literal['automatic', 'size', 'sizes', 'file', 'xyz', 'graph']  # Blocks of one size; of listed sizes; of the atoms or molecules in a file; of the atoms of an XYZ file; parts of the graph of K; automatic: what is given here, else what the matrix file says, else parts of the graph of at most 40 orbitals
    size: Union[int, None]  # Orbitals of each block: 6 for a water molecule in an SZV basis; at least 1 and at most 100000
    sizes: Sequence[int]  # Orbitals of the blocks in the matrix's order, repeated until all rows are taken: [4, 1, 1] for the atoms of water; each at least 1 and at most 100000
    file: Union[str, None]  # Text file: on each line the orbitals of an atom and, if it belongs to a molecule, the number of that molecule (from 1)
    xyz: Union[str, None]  # XYZ file of the atoms in the matrix's order, of which atoms_per_block that follow each other are a block; needs functions. Repeated until all rows are taken
    functions: dict[str, Union[float, str]]  # Basis functions of each element in xyz: {O: 4, H: 1} for SZV, {O: 13, H: 5} for DZVP
    rows_per_block: Union[int, None]  # Join these blocks, or single orbitals where none are given, to blocks of at most so many orbitals that are strongly coupled; absent: they stay as they are; at least 1 and at most 100000
    atoms_per_block: Union[int, None]  # Atoms of a block of `size`, `sizes` or `xyz`, for errors an atom (3 for water molecules); absent: 1 in blocks of `xyz`, else not known; at least 1 and at most 100000
class SubmatrixCompareEnsemble(TypedDict, total=False):
    mu: Union[str, None]  # Fixed chemical potential; the number of electrons follows; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    electrons: Union[float, None]  # Fixed number of electrons, two an occupied orbital; the chemical potential follows; above 0
    unpaired: float  # Open shell with a fixed number of electrons: those of spin up less those of spin down; each spin gets a chemical potential of its own
    common_mu: bool  # Open shell with a fixed number of electrons: one chemical potential for both spins, which share the electrons; both spins are held to the tolerance together
    tolerance: float  # Largest error of that number; above 0 and at most 0.1
class SubmatrixCompareReference(TypedDict, total=False):
    energy: Union[str, None]  # Tr(DK), half the band energy; absent: none; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    homo: Union[str, None]  # Highest occupied level; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    lumo: Union[str, None]  # Lowest empty level; unit: eV, meV, kJ/mol, kcal/mol, hartree, J
    file: Union[str, None]  # YAML file of such values for several boxes, found by matrices.repeat (make_water.py writes one)
    label: str  # What the reference is
class VlasovRunGrid(TypedDict, total=False):
    lower: Required[Union[Sequence[Union[float, str]], Any]]  # Lower corner of x; one to three directions; 1 to 3 values
    upper: Required[Union[Sequence[Union[float, str]], Any]]  # Upper corner of x; 1 to 3 values
    cells: Required[Sequence[int]]  # Cells along each direction of x; or of x and v, for all species that name none themselves; 1 to 6 values, each at least 1 and at most 1000000
class VlasovRunSpeciesVelocity(TypedDict, total=False):
    lower: Required[Union[Sequence[Union[float, str]], Any]]  # Lower corner of the velocity box; 1 to 3 values
    upper: Required[Union[Sequence[Union[float, str]], Any]]  # Upper corner of the velocity box; 1 to 3 values
    cells: Sequence[int]  # Cells along each velocity direction; absent: as grid.cells says after the cells of x; 0 to 3 values, each at least 1 and at most 1000000
    mapping: Union[Sequence[Union[float, str]], Any]  # Where the cells' edges lie, a rising formula of s for each velocity direction: edge i of n cells has s = -1 + 2 i/n, and the formula's values are stretched to the box; s: equal cells, sinh(2*s): finer about the middle; absent: equal cells in all directions; 0 to 3 values
    finest: Union[Sequence[Union[float, str]], Any]  # Instead of mapping: the velocity at which cells are finest, one for each velocity direction; the cell that holds it is the narrowest, and widths grow smoothly (sinh) on both sides; 0 to 3 values
    ratio: Union[Sequence[Union[float, str]], Any]  # With finest: width of the widest cell over that of the finest, 1 or more, one for each velocity direction or one for all; 1: equal cells; 0 to 3 values
class VlasovRunSpeciesInitialMaxwellian(TypedDict, total=False):
    density: Required[Union[float, str]]  # Density, a formula of x
    drift: Union[Sequence[Union[float, str]], Any]  # Mean velocity along each velocity direction, formulas of x; absent: 0; 0 to 3 values
    thermal_speed: Union[Sequence[Union[float, str]], Any]  # sqrt(T/m), formulas of x: one for all velocity directions or one each; 0 to 3 values
    temperature: Union[Sequence[Union[float, str]], Any]  # Instead of thermal_speed: T, as energies; 0 to 3 values
    exact_moments: bool  # Correct the projection so that density, mean velocity and temperature are exact on this grid
class VlasovRunSpeciesInitial(TypedDict, total=False):
    maxwellian: Union[VlasovRunSpeciesInitialMaxwellian, None]  # A drifting Maxwellian; absent: none
    function: Union[Union[float, str], None]  # Any f, a formula of x, y, z, vx, vy, vz
    file: Union[str, None]  # f of this species from run.h5 of a run with the same grid and basis, or from a .gkyl file
    frame: Union[int, None]  # Which frame of the file, from 0; negative ones count from the end; absent: the last
    nodes: int  # Gauss points a direction of the projection; 0: order + 1, as Gkeyll; at least 0 and at most 32
VlasovRunSpeciesBoundaryEmission = TypedDict('VlasovRunSpeciesBoundaryEmission', {
    'wall': Required[Literal['lower', 'upper']],  # At which end
    'direction': Literal['x', 'y', 'z'],  # Of which direction
    'thermal_speed': Union[Union[float, str], None],  # sqrt(T/m) of what is emitted: the half of a Maxwellian at rest that leaves the wall
    'temperature': Union[Union[float, str], None],  # Instead of thermal_speed: T, as an energy
    'flux': Union[float, str],  # Particles emitted per unit area and time, a formula of t
    'yield': dict[str, Union[float, str]],  # Particles emitted per incident particle of a species, by its name: {electrons: 0.5}; not named: 0
    'reflection': Union[float, str],  # Fraction of the species' own particles that the wall reflects, 0 to 1; not counted as emission
}, total=False)
class VlasovRunSpeciesBoundary(TypedDict, total=False):
    lower: Sequence[str]  # At the lower ends of x: periodic, reflecting, absorbing, open (zero gradient) or fixed (the initial f stays outside), one a direction; absent: periodic; 0 to 3 values
    upper: Sequence[str]  # At the upper ends: periodic, reflecting, absorbing, open (zero gradient) or fixed (the initial f stays outside), one a direction; absent: periodic; 0 to 3 values
    emission: Sequence[VlasovRunSpeciesBoundaryEmission]  # What absorbing walls emit and mirror
class VlasovRunSpeciesSourceShapeMaxwellian(TypedDict, total=False):
    density: Required[Union[float, str]]  # Density, a formula of x
    drift: Union[Sequence[Union[float, str]], Any]  # Mean velocity along each velocity direction, formulas of x; absent: 0; 0 to 3 values
    thermal_speed: Union[Sequence[Union[float, str]], Any]  # sqrt(T/m), formulas of x: one for all velocity directions or one each; 0 to 3 values
    temperature: Union[Sequence[Union[float, str]], Any]  # Instead of thermal_speed: T, as energies; 0 to 3 values
    exact_moments: bool  # Correct the projection so that density, mean velocity and temperature are exact on this grid
class VlasovRunSpeciesSourceShape(TypedDict, total=False):
    maxwellian: Union[VlasovRunSpeciesSourceShapeMaxwellian, None]  # A drifting Maxwellian; absent: none
    function: Union[Union[float, str], None]  # Any f, a formula of x, y, z, vx, vy, vz
    file: Union[str, None]  # f of this species from run.h5 of a run with the same grid and basis, or from a .gkyl file
    frame: Union[int, None]  # Which frame of the file, from 0; negative ones count from the end; absent: the last
    nodes: int  # Gauss points a direction of the projection; 0: order + 1, as Gkeyll; at least 0 and at most 32
class VlasovRunSpeciesSource(TypedDict, total=False):
    shape: Required[Sequence[VlasovRunSpeciesSourceShape]]  # df/dt at amplitude 1: a sum of terms as in initial; at least 1 section
    amplitude: Union[float, str]  # Factor over time, a formula of t
class VlasovRunSpecies(TypedDict, total=False):
    name: Required[str]  # Name, as in files and other sections
    charge: Union[float, str]  # Charge of a particle
    mass: Union[float, str]  # Mass of a particle, above 0
    velocity: Required[VlasovRunSpeciesVelocity]  # The velocity box
    initial: Required[Sequence[VlasovRunSpeciesInitial]]  # f at the start: the sum of these terms; at least 1 section
    boundary: Union[VlasovRunSpeciesBoundary, None]  # What particles meet at the ends of x
    source: Union[VlasovRunSpeciesSource, None]  # Particles that come in; absent: none
    acceleration: Union[Sequence[Union[float, str]], Any]  # External acceleration along each velocity direction, formulas of x, y, z, t; absent: none; 0 to 3 values
class VlasovRunFieldCleaning(TypedDict, total=False):
    electric: Union[float, str]  # Speed in units of c at which errors of div E leave (Maxwell); 0: no cleaning
    magnetic: Union[float, str]  # The same of div B
    damping: float  # Rate at which these waves fade, in units of their speed times 2 pi/L (L: the longest side of x); 2: the longest one critically; 0: not at all, then errors go round a periodic domain; at least 0
class VlasovRunFieldBoundary(TypedDict, total=False):
    lower: Sequence[str]  # At the lower ends of x: periodic; for Maxwell also conductor (where particles meet walls the default), open or fixed; for Poisson dirichlet (the default there) or neumann; one a direction; 0 to 3 values
    upper: Sequence[str]  # At the upper ends: periodic; for Maxwell also conductor (where particles meet walls the default), open or fixed; for Poisson dirichlet (the default there) or neumann; one a direction; 0 to 3 values
    lower_value: Union[Sequence[Union[float, str]], Any]  # Poisson: potential of a dirichlet wall, or its outward slope at a neumann one, formulas of t; absent: 0; 0 to 3 values
    upper_value: Union[Sequence[Union[float, str]], Any]  # The same at the upper ends; 0 to 3 values
class VlasovRunFieldInitial(TypedDict, total=False):
    electric: Union[Sequence[Union[float, str]], Any]  # Ex, Ey, Ez: three formulas, or none
    magnetic: Union[Sequence[Union[float, str]], Any]  # Bx, By, Bz: three formulas, or none
class VlasovRunFieldExternal(TypedDict, total=False):
    electric: Union[Sequence[Union[float, str]], Any]  # Ex, Ey, Ez: three formulas, or none
    magnetic: Union[Sequence[Union[float, str]], Any]  # Bx, By, Bz: three formulas, or none
class VlasovRunField(TypedDict, total=False):
    model: Required[Literal['maxwell', 'poisson', 'none']]  # Maxwell's equations, Poisson's for the electric field alone, or no field but the external one
    epsilon0: Union[float, str]  # Permittivity, above 0
    mu0: Union[float, str]  # Permeability, above 0 (Maxwell)
    flux: Literal['central', 'upwind']  # Maxwell: central conserves energy, upwind damps what the grid cannot show
    cleaning: Union[VlasovRunFieldCleaning, None]  # Divergence cleaning
    boundary: Union[VlasovRunFieldBoundary, None]  # What fields meet at the ends of x
    initial: Union[VlasovRunFieldInitial, None]  # Fields at the start (Maxwell), formulas of x, y, z; electric absent: from the charge by Gauss's law; magnetic absent: 0
    external: Union[VlasovRunFieldExternal, None]  # External fields that act on the particles besides the computed ones, formulas of x, y, z, t
    current: Union[Sequence[Union[float, str]], Any]  # External current density (Maxwell): three formulas of x, y, z, t, or none
    background_charge: Union[float, str]  # Uniform, fixed charge density, such as that of immobile ions
class VlasovRunTime(TypedDict, total=False):
    end: Required[Union[float, str]]  # Time at which the run ends
    cfl: float  # dt = cfl/((2 order + 1) sum of |speed|/width over the directions); above 0 and at most 1
    dt: Union[Union[float, str], None]  # A fixed time step; absent: the largest stable one
    steps: Union[int, None]  # At most so many steps; absent: any number; at least 0
class VlasovRunBasis(TypedDict, total=False):
    order: int  # Polynomial order; at least 1 and at most 3
    family: Literal['serendipity', 'tensor', 'hybrid']  # Polynomial basis of a cell; hybrid: order 1 in x, 2 in v (Gkeyll's p = 1)
class VlasovRunCollisionsBetween(TypedDict, total=False):
    species: Required[Sequence[str]]  # Two species; 2 values
    frequency: Required[Union[Sequence[Union[float, str]], Any]]  # nu_sr, at which the first (s) is slowed by the second (r), and nu_rs the other way round; one alone: nu_sr, with nu_rs = nu_sr m_s/m_r. Mean velocities near each other at (nu_sr + nu_rs)/2 where m n nu of both are equal (docs/vlasov.md); 1 to 2 values
class VlasovRunCollisionsSpitzer(TypedDict, total=False):
    reference_density: Union[float, str]  # Density at which the frequencies hold
    reference_thermal_speed: Union[float, str]  # Thermal speed at which they hold
class VlasovRunCollisions(TypedDict, total=False):
    operator: Literal['lbo', 'bgk']  # Lenard-Bernstein/Dougherty (drag and diffusion in v) or relaxation to a Maxwellian
    frequency: dict[str, Union[float, str]]  # nu_ss of each species with itself, by name: {electrons: 0.01}, formulas of x, y, z, t; not named: 0
    between: Sequence[VlasovRunCollisionsBetween]  # Collisions between species
    exchange: Literal['molecules', 'mixture']  # How species share out the heat of friction: as Maxwell molecules do, nearly all to the lighter one (bgk between unlike masses may then ask for a Maxwellian of negative temperature); or by nearing one Maxwellian of the pair, which never does (Haack, Hauck & Murillo 2017)
    conserving: bool  # Conserve momentum and energy; off: towards the initial temperature at rest (for tests)
    integration: Literal['explicit', 'split']  # explicit: in every stage of a step, which collision rates then limit; split: alone, for half a step before and after it (Strang; BGK of a species with itself exactly, all else by super time steps), so that steps follow the collisionless speeds alone
    spitzer: Union[VlasovRunCollisionsSpitzer, None]  # Frequencies follow n/vth^3; absent: constant
class VlasovRunParallel(TypedDict, total=False):
    ranks: Sequence[int]  # Ranks along each direction of x and v; 0: chosen; absent: all chosen; 0 to 6 values, each at least 0 and at most 1000000
class VlasovRunOutput(TypedDict, total=False):
    frame_interval: Union[Union[float, str], None]  # Time between frames (taken after the first step that reaches one, as by Gkeyll); absent: start and end
    distribution: bool  # Frames hold f, not only moments and fields
    gkyl: bool  # Also write Gkeyll's files, for postgkyl
    openpmd: bool  # Also write moments and fields of each frame by the openPMD standard (openpmd/data_STEP.h5), for openPMD-viewer, yt and ParaView
class VlasovRunObserveSpectrogram(TypedDict, total=False):
    signal: Literal['ex', 'ey', 'ez', 'bx', 'by', 'bz']  # Component of the field. It oscillates at a wave's frequency, its energy at twice that
    at: Required[Union[Sequence[Union[float, str]], Any]]  # Point of x, a number a direction; 1 to 3 values
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[Union[float, str], None]  # constant_q: angular frequency of the first bin
    corner: Union[Union[float, str], None]  # mel: angular frequency below which bands are about evenly wide, above which they widen with frequency
class VlasovRunObserveSpectrum(TypedDict, total=False):
    signal: Literal['ex', 'ey', 'ez', 'bx', 'by', 'bz']  # Component of the field. It oscillates at a wave's frequency, its energy at twice that
    at: Required[Union[Sequence[Union[float, str]], Any]]  # Point of x, a number a direction; 1 to 3 values
    every: int  # Steps between samples; time.dt must be given, so that they are even; at least 1
    transform: Literal['fourier', 'constant_q', 'mel']  # fourier: short-time Fourier transform with Hann's window; constant_q: bins of equal width on a logarithmic axis, each seen for as many of its periods
    window: int  # fourier, mel: samples of a frame; even, with prime factors up to 13; at least 4 and at most 16777216
    hop: int  # Samples from a frame to the next; at least 1 and at most 16777216
    bins: int  # constant_q, mel: number of bins; at least 2 and at most 4096
    bins_per_octave: int  # constant_q: bins from a frequency to its double; at least 1 and at most 384
    lowest: Union[Union[float, str], None]  # constant_q: angular frequency of the first bin
    corner: Union[Union[float, str], None]  # mel: angular frequency below which bands are about evenly wide, above which they widen with frequency
class VlasovRunObserve(TypedDict, total=False):
    spectrogram: Union[VlasovRunObserveSpectrogram, None]  # Frequencies of the field at a point over time, in group spectrogram of run.h5, with their mean, the spectrum
    spectrum: Union[VlasovRunObserveSpectrum, None]  # The mean spectrum of the field at a point by itself, in group spectrum of run.h5
class VlasovRunTheoryBeams(TypedDict, total=False):
    plasma_frequency: Union[float, str]  # sqrt(n q^2/(epsilon0 m)) of this part of the particles
    thermal_speed: Union[float, str]  # sqrt(T/m) along the wave; 0: a cold beam
    drift: Union[float, str]  # Mean velocity along the wave; for weibel: of two equal beams at +-drift across it
    transverse_speed: Union[Union[float, str], None]  # For weibel: sqrt(T/m) across the wave; absent: thermal_speed
class VlasovRunTheory(TypedDict, total=False):
    kind: Literal['given', 'electrostatic', 'collisional', 'weibel']  # The numbers given here; of drifting Maxwellians (Landau, two-stream, bump-on-tail) the fastest growing wave or, where all are damped, the one that the run shows; a Langmuir wave with the run's collisions; the Weibel instability
    quantity: str  # Column of the history that grows as the square of the amplitude: electric_energy, magnetic_energy, ex_squared ...
    growth_rate: Union[Union[float, str], None]  # given: rate of the amplitude; below 0: damping
    frequency: Union[Union[float, str], None]  # given: angular frequency of the amplitude
    wavenumber: Union[Union[float, str], None]  # Of the wave; needed where the rates are computed, else the longest along x: for the recurrence time
    direction: Union[Sequence[Union[float, str]], Any]  # Direction of the wave in x, of any length; absent: along the first direction; 0 to 3 values
    beams: Sequence[VlasovRunTheoryBeams]  # The Maxwellians; none: those that the run starts from (weibel, or where f is given otherwise: one with all values 1, at rest)
    collision_frequency: Union[Union[float, str], None]  # collisional: nu of the operator; absent: the run's, which another one may not contradict
    light_speed: Union[Union[float, str], None]  # weibel: c; absent: that of the run
    window: Union[Sequence[Union[float, str]], Any]  # Times between which the rates are fitted (of a damped wave: until its recurrence); absent: found; 0 to 2 values
    label: str  # What the theory is, for legends
class VlasovRunReference(TypedDict, total=False):
    file: Union[str, None]  # CSV file with a first line of names, times in the first column; absent: none
    column: str  # Which column to draw beside this run's
    quantity: str  # Beside which column of the history
    label: str  # What the reference is, for legends
class VlasovRunLimits(TypedDict, total=False):
    shrunk_dt: float  # Stop (exit 3) when the step has been below this part of the first one ...; at least 0 and below 1
    shrunk_steps: int  # ... for so many steps in a row; at least 1
    negative_f: float  # Stop (exit 3) when a cell mean of f is below minus this part of the greatest one; at least 0
    negative_share: float  # Warn when the negative part of f holds more than this part of the particles; at least 0
    edge_share: float  # Stop (exit 3) when the outermost velocity cells of a side hold more than this part of the mean density at some place; a tenth of it warns; above 0
    gauss_error: float  # Stop (exit 3) when the field that epsilon0 div E - rho alone would make is beyond this part of the greatest E so far (Maxwell; root mean squares over x), and do not start with more; half of it warns. Not judged below 1e-4 of the plasma's charge density; above 0
    f_squared_growth: float  # Stop (exit 3) when the integral of f^2 has grown by this part of its first value where nothing but an error can make it grow; a tenth of it warns; above 0

def dpmd_run(
    *,
    system: DpmdRunSystem,  # The atoms
    potential: DpmdRunPotential,  # The forces
    time: DpmdRunTime,  # The steps
    integrator: Union[DpmdRunIntegrator, None] = ...,  # The ensemble
    velocities: Union[DpmdRunVelocities, None] = ...,  # Initial velocities
    frozen: Union[DpmdRunFrozen, None] = ...,  # Atoms that do not move: no forces, velocities or degrees of freedom; absent: none. Not at constant pressure; the pressure of other ensembles counts all forces, the frozen atoms' too
    domain: Union[DpmdRunDomain, None] = ...,  # Ranks and neighbour lists
    thermo_interval: int = ...,  # Steps between rows of the thermo table; at least 1
    trajectory: Union[DpmdRunTrajectory, None] = ...,  # Frames of the run; absent: none
    observables: Union[DpmdRunObservables, None] = ...,  # Averages over the run
    deviation: Union[DpmdRunDeviation, None] = ...,  # Disagreement of the models (model_devi.out); absent: not computed
    selection: Union[DpmdRunSelection, None] = ...,  # Frames worth a label: candidates.h5, and a choice of them in selected.xyz; absent: none
    observe: Union[DpmdRunObserve, None] = ...,  # Frequencies of what the run does; absent: none
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
    limits: Union[DpmdRunLimits, None] = ...,  # When to stop with exit code 3
    reference: Union[DpmdRunReference, None] = ...,  # Results to set beside this run's
    seed: int = ...,  # Seed of all random numbers; at least 0
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
) -> Input: ...
def dpmd_train(
    *,
    data: DpmdTrainData,  # Labelled frames
    model: Union[DpmdTrainModel, None] = ...,  # What is trained
    loss: Union[DpmdTrainLoss, None] = ...,  # What is made small
    learning_rate: Union[DpmdTrainLearningRate, None] = ...,  # How large steps are
    optimiser: Union[DpmdTrainOptimiser, None] = ...,  # Adam
    parallel: Union[DpmdTrainParallel, None] = ...,  # Who holds what, for models that fill a node's memory
    offload: Union[DpmdTrainOffload, None] = ...,  # Optimiser's states that do not fit into memory
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    steps: Union[int, None] = ...,  # Number of steps, one batch each; at least 0
    epochs: Union[float, None] = ...,  # Instead of steps: so many times as many batches as let each system show all its frames; above 0
    weight_average: float = ...,  # Mean of the weights over about 1/(1 - this) steps, such as 0.999: it is what is validated and written; 0: the weights themselves; at least 0 and below 1
    early_stopping: Union[DpmdTrainEarlyStopping, None] = ...,  # End when the loss of frames held out, with the prefactors `limit`, no longer falls, and write the weights of its least value; absent: all steps
    report_interval: int = ...,  # Steps between rows of the learning curve; at least 1
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
    divergence: float = ...,  # Stop (exit 3) when the loss stays above this many times its least value; above 1
    seed: int = ...,  # Seed of weights and batches; at least 0
    output: str = ...,  # Name of the trained model in the run directory
) -> Input: ...
def dpmd_equation_of_state(
    *,
    system: DpmdEquationOfStateSystem,  # A perfect crystal cell near its minimum
    potential: DpmdEquationOfStatePotential,  # The forces
    domain: Union[DpmdEquationOfStateDomain, None] = ...,  # Ranks and neighbour lists
    range: float = ...,  # Largest linear strain about the minimum; above 0 and at most 0.2
    points: int = ...,  # Volumes in the fit; at least 5 and at most 1001
    force_tolerance: str = ...,  # Stop (exit 3) where an atom feels a greater force at the minimum or, relaxed, at any volume: its positions are not the crystal's; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    relax: bool = ...,  # Relax the positions at each volume (FIRE 2.0) until no force exceeds a twentieth of force_tolerance; atoms that system.file holds keep their places in the cell
    relax_steps: int = ...,  # Steps of a relaxation, at most; at least 1 and at most 1000000
    reference: Union[DpmdEquationOfStateReference, None] = ...,  # Values to print beside ours
) -> Input: ...
def dpmd_elastic_constants(
    *,
    system: DpmdElasticConstantsSystem,  # A perfect crystal near its minimum, periodic in all directions
    potential: DpmdElasticConstantsPotential,  # The forces
    domain: Union[DpmdElasticConstantsDomain, None] = ...,  # Ranks and neighbour lists
    strain: float = ...,  # The smaller of two strains h and 2h in both directions; larger ones leave the linear regime, smaller ones lose digits; above 0 and at most 0.05
    relax: bool = ...,  # Let the positions come to rest at each strain (FIRE 2.0); atoms that system.file holds keep their places in the cell
    relax_cell: bool = ...,  # Strain the cell first, until no stress is left
    force_tolerance: str = ...,  # Positions are at rest where no force is greater; stop (exit 3) where one remains; unit: eV/angstrom, hartree/bohr, kcal/mol/angstrom, N; above 0 eV/angstrom
    stress_tolerance: str = ...,  # Stress that may be left by relax_cell (0.01 GPa); unit: bar, kbar, GPa, atm, Pa, eV/angstrom^3; above 0 eV/angstrom^3
    relax_steps: int = ...,  # Steps of a relaxation, at most; at least 1 and at most 1000000
) -> Input: ...
def dpmd_learn(
    *,
    data: Union[Sequence[str], Any],  # Labelled systems to begin with, as for 'dpmd train'; at least 1 value
    train: DpmdLearnTrain,  # Training
    explore: Sequence[DpmdLearnExplore],  # Runs that look for frames worth a label; at least 1 section
    selection: DpmdLearnSelection,  # Which frames get a label; 'most' is for all runs together
    label: DpmdLearnLabel,  # Where labels come from
    iterations: int = ...,  # Rounds of train, run, select, label; at least 1
    models: int = ...,  # Models of the ensemble; the first drives; at least 2 and at most 100
    enough_accurate: float = ...,  # End when this share of an iteration's frames is accurate; above 0 and at most 1
    final_training: bool = ...,  # Train once more on all labels after the last iteration
    at_once: Union[int, None] = ...,  # Trainings, or runs, that go side by side and share the cores of --threads evenly; absent: as many as there are cores. One at a time where there is a launcher; at least 1
    launcher: str = ...,  # Words put before 'dpmd train' and 'dpmd run': 'mpirun -n 4'; empty: one process
    seed: int = ...,  # Of weights, velocities and random choices; at least 0 and at most 1000000000000000
) -> Input: ...
def meshfreeflow_simulate(
    *,
    rayleigh: float,  # Ra = (buoyancy difference) height^3/(viscosity diffusivity); above 0 and at most 1000000000000000
    grid: MeshfreeflowSimulateGrid,  # Cells
    time: MeshfreeflowSimulateTime,  # The steps
    prandtl: float = ...,  # Pr = viscosity/diffusivity; above 0 and at most 1000000
    aspect_ratio: float = ...,  # Length of x in heights; above 0 and at most 10000
    walls: Union[MeshfreeflowSimulateWalls, None] = ...,  # Boundary conditions
    start: Union[MeshfreeflowSimulateStart, None] = ...,  # The state at time 0, at rest
    seeds: Sequence[int] = ...,  # Of the noise: one flow for each, all with the same steps; 1 to 10000 values, each at least 0
    solver: Union[MeshfreeflowSimulateSolver, None] = ...,  # How the linear equations of a step are solved
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    output: Union[MeshfreeflowSimulateOutput, None] = ...,  # Fields over time, in fields.h5
    statistics: Union[MeshfreeflowSimulateStatistics, None] = ...,  # Means over time
    observe: Union[MeshfreeflowSimulateObserve, None] = ...,  # What else is looked at; absent: nothing
    history_interval: int = ...,  # Steps between rows of the history; at least 1
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
    limits: Union[MeshfreeflowSimulateLimits, None] = ...,  # When to stop with exit code 3
    control: Union[MeshfreeflowSimulateControl, None] = ...,  # What an agent of `meshfreeflow control` sets, sees and is rewarded for; with a policy `simulate` plays it
) -> Input: ...
def meshfreeflow_flow(
    *,
    equations: dict[str, Union[float, str]],  # The variables, each with d/dt of it, a formula of variables, diagnosed fields, parameters, x, y and t
    box: MeshfreeflowFlowBox,  # The doubly periodic box
    time: MeshfreeflowFlowTime,  # The steps
    parameters: dict[str, Union[float, str]] = ...,  # Numbers under names of your choice; may use each other
    diagnosed: dict[str, Union[float, str]] = ...,  # Fields that follow from the variables at each instant; may use each other
    start: dict[str, Union[float, str]] = ...,  # Variables at time 0, formulas of parameters, x and y (operators allowed); not given: 0
    noise: Sequence[MeshfreeflowFlowNoise] = ...,  # Random waves added to the start, different for each seed
    seeds: Sequence[int] = ...,  # Of the noise: one flow for each, all with the same steps; 1 to 10000 values, each at least 0
    output: Union[MeshfreeflowFlowOutput, None] = ...,  # Fields over time, in fields.h5
    means: dict[str, Union[float, str]] = ...,  # Means over the box that the history has, such as (u^2 + v^2)/2
    maxima: dict[str, Union[float, str]] = ...,  # Greatest values that the history has, such as abs(w)
    spectra: Sequence[MeshfreeflowFlowSpectra] = ...,  # Spectra by wavenumber, sampled with the history
    picture: str = ...,  # Field that the report shows; none given: the first variable
    history_interval: int = ...,  # Steps between rows of the history; at least 1
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
    limits: Union[MeshfreeflowFlowLimits, None] = ...,  # When to stop with exit code 3
) -> Input: ...
def meshfreeflow_control(
    *,
    environment: Union[str, None] = ...,  # An input of `meshfreeflow simulate` with section `control`, in place of flow, floor, episode.probes and episode.reward
    flow: Union[MeshfreeflowControlFlow, None] = ...,  # Rayleigh-Bénard convection between no-slip plates; needed where there is no environment
    floor: Union[MeshfreeflowControlFloor, None] = ...,  # Its heating; absent: as these defaults say
    episode: Union[MeshfreeflowControlEpisode, None] = ...,  # What is decided and seen
    starts: Union[MeshfreeflowControlStarts, None] = ...,  # What episodes begin with
    training: Union[MeshfreeflowControlTraining, None] = ...,  # How the policy is learned
    evaluation: Union[MeshfreeflowControlEvaluation, None] = ...,  # How the policy is judged
    policy: Union[str, None] = ...,  # A policy to judge; absent: one is learned
    output: str = ...,  # The policy that was learned, in the run's directory
    seed: int = ...,  # Of first weights and actions; at least 0
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
) -> Input: ...
def meshfreeflow_train(
    *,
    data: MeshfreeflowTrainData,  # Fields over time to learn from
    steps: int,  # Steps of training; at least 0
    model: Union[MeshfreeflowTrainModel, None] = ...,  # The networks
    equations: Union[MeshfreeflowTrainEquations, None] = ...,  # What the fields obey
    loss: Union[MeshfreeflowTrainLoss, None] = ...,  # What is made small
    optimiser: Union[MeshfreeflowTrainOptimiser, None] = ...,  # How weights follow from gradients
    learning_rate: Union[MeshfreeflowTrainLearningRate, None] = ...,  # Its schedule
    validation: Union[MeshfreeflowTrainValidation, None] = ...,  # Crops held out, by which the best model is chosen
    parallel: Union[MeshfreeflowTrainParallel, None] = ...,  # Who holds what, for models that fill a node's memory
    offload: Union[MeshfreeflowTrainOffload, None] = ...,  # Optimiser's states that do not fit into memory
    tile: dict[str, Union[float, str]] = ...,  # Layers that compute in so many tiles, of which one has its weights, or its gradient, at hand at a time: for layers that do not fit. On one thread losses are the same to the last bit where tiles have 16 channels or more; unit: 1, %; at least 1
    memory: Union[MeshfreeflowTrainMemory, None] = ...,  # What a step's tensors may take, and how that is kept to
    precision: Union[MeshfreeflowTrainPrecision, None] = ...,  # How weights are kept
    batch: int = ...,  # Crops of a step, shared out over the ranks; at least 1 and at most 1000000
    seed: int = ...,  # Of first weights, crops and points
    start: Union[str, None] = ...,  # A model of the same networks to start from, in place of random weights
    output: str = ...,  # The best model by validation, in the run's directory
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
) -> Input: ...
def meshfreeflow_superresolve(
    *,
    input: MeshfreeflowSuperresolveInput,  # The coarse fields over time
    model: str = ...,  # What `meshfreeflow train` wrote, or registry.h5:ID, an expert of a registry; or leave it to `experts`
    experts: Union[MeshfreeflowSuperresolveExperts, None] = ...,  # A registry of models, of which a router chooses one
    low_resolution: Union[MeshfreeflowSuperresolveLowResolution, None] = ...,  # Make the input coarser first (a factor of 1: leave it)
    output: Union[MeshfreeflowSuperresolveOutput, None] = ...,  # Where fields are wanted
    error_bars: Union[MeshfreeflowSuperresolveErrorBars, None] = ...,  # Write how wrong each field may be at each point (error_bar_NAME), by an ensemble; absent: not
    encoder: Literal['blocks', 'whole'] = ...,  # blocks: the encoder sees blocks as large as in training, each half over the next, whose latents are averaged; whole: all nodes at once
    residuals: bool = ...,  # Store the residual of each equation at each point as an error indicator; about five times the work
    outside_training: Literal['refuse', 'mark'] = ...,  # Where the input goes beyond what the model was trained for: refuse it, or mark it in file and report
    max_memory: float = ...,  # Memory that a rank may use for fields, latents and points (GB); above 0
    precision: Literal['fp32', 'bf16'] = ...,  # Numbers that the decoder's products are made of; bf16 (sums stay fp32) is faster where the processor has AMX or AVX512_BF16, and some points are compared with fp32
    precision_bound: float = ...,  # Refuse bf16 where it changes a field by more than so much of its standard deviation, or a residual by more than so much of itself (rms); above 0
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
) -> Input: ...
def meshfreeflow_evaluate(
    *,
    cases: Sequence[MeshfreeflowEvaluateCases],  # Flows that are known at high resolution, not those of the training; at least 1 section
    models: Sequence[MeshfreeflowEvaluateModels] = ...,  # Models to be judged; linear interpolation is judged beside them, or alone where there are none
    low_resolution: Union[MeshfreeflowEvaluateLowResolution, None] = ...,  # How the truth is made coarser; absent: by the first model's factors, with the default filters. Needed where there is no model
    flow: Union[MeshfreeflowEvaluateFlow, None] = ...,  # What the fields mean; absent: no statistics of a flow
    spectra_at: Sequence[float] = ...,  # Places along the axis that is not periodic at which spectra are shown; absent: its middle
    tricubic: bool = ...,  # Judge interpolation by cubics, too: each axis through the four nearest coarse nodes
    residuals: bool = ...,  # Form residuals by the decoders' own derivatives, too, which takes about five times as long as fields alone; false: by finite differences only
    picture: Union[str, None] = ...,  # The field that pictures show; absent: the scalar, else the first field
    quantise: Union[MeshfreeflowEvaluateQuantise, None] = ...,  # Judge each model also with the matrices of its decoder as binary codes, as NAME_1bit, NAME_2bit ...
    error_bars: Union[MeshfreeflowEvaluateErrorBars, None] = ...,  # Judge error bars of the first model by an ensemble, and print the scale that makes them right
    outside_training: Literal['refuse', 'mark'] = ...,  # Where a case goes beyond what a model was trained for: refuse it, or mark it in the report
    check: Literal['refuse', 'warn', 'off'] = ...,  # Where residuals of the equations on the data, by finite differences, are more than a tenth of their largest term: refuse, or warn and go on; off: not looked at. With outside_training: mark they are warned of, too
    max_memory: float = ...,  # Memory that a rank may use (GB); above 0
) -> Input: ...
def podlstm_fit(
    *,
    fields: Union[PodlstmFitFields, None] = ...,  # A record of fields
    coefficients: Union[PodlstmFitCoefficients, None] = ...,  # A file of coefficients computed elsewhere, without fields
    pod: Union[PodlstmFitPod, None] = ...,  # Proper orthogonal decomposition of the fields
    n_fit: Union[int, None] = ...,  # Number of first times from which modes and background are computed; absent: what a file of coefficients says (n_fit, n_train), else all; at least 2 and at most 10000000
    fit_until: str = ...,  # The same as a date: modes and background are of the times up to this day; empty: see n_fit
) -> Input: ...
def podlstm_append(
    *,
    modes: str,  # modes.h5 of fields, as `podlstm fit` or `podlstm append` writes it
    fields: Union[PodlstmAppendFields, None] = ...,  # The record that `podlstm fit` has read, now longer. With fields.cache only its new files are read
) -> Input: ...
def podlstm_train(
    *,
    modes: str,  # modes.h5 as `podlstm fit` writes it
    points: Union[int, None] = ...,  # Sea points behind modes of unit norm, where the modes file has coefficients alone: errors are then in degrees a point (NOAA's 1-degree sea: 44219); at least 1
    window: Union[PodlstmTrainWindow, None] = ...,  # Length of a forecast's past and future
    split: Union[PodlstmTrainSplit, None] = ...,  # What trains, what validates, what is left for tests
    forecast: Union[PodlstmTrainForecast, None] = ...,  # The model
    references: Union[PodlstmTrainReferences, None] = ...,  # Linear forecasts: the base, and what stands beside the model in every table
    parallel: Union[PodlstmTrainParallel, None] = ...,  # Who holds what, for models that fill a node's memory
    offload: Union[PodlstmTrainOffload, None] = ...,  # Optimiser's states that do not fit into memory
    block: str = ...,  # Length of a bootstrap block, longer than errors remember: a number of steps, or a duration
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
) -> Input: ...
def podlstm_search(
    *,
    modes: str,  # modes.h5 as `podlstm fit` writes it
    search: PodlstmSearchSearch,  # How candidates are proposed and evaluated
    points: Union[int, None] = ...,  # Sea points behind modes of unit norm, where the modes file has coefficients alone: errors are then in degrees a point (NOAA's 1-degree sea: 44219); at least 1
    window: Union[PodlstmSearchWindow, None] = ...,  # Length of a forecast's past and future
    split: Union[PodlstmSearchSplit, None] = ...,  # What trains, and what chooses. Later times, left for tests, are not read by a search
    forecast: Union[PodlstmSearchForecast, None] = ...,  # What every candidate is, whatever its network
    space: Union[PodlstmSearchSpace, None] = ...,  # What is chosen among: each node's units and the skips, as in the SC20 paper
    judged: int = ...,  # Best candidates that are judged beside their base after rolling origins (forecast.keep_networks: earned); the one that gains most is trained again, where it earns its place; at least 1 and at most 100
    retrain: Union[PodlstmSearchRetrain, None] = ...,  # The best candidate is trained again, from new seeds: model.h5
    beside: Union[Sequence[str], Any] = ...,  # Trial stores (trials.h5) of other searches of the same space and data, by other methods or seeds: the report compares them with this one
    leaderboard: int = ...,  # Candidates in log, leaderboard.csv and report; at least 1 and at most 1000
    block: str = ...,  # Length of a bootstrap block, longer than errors remember: a number of steps, or a duration
    references: Union[PodlstmSearchReferences, None] = ...,  # Linear forecasts: the base, and what stands beside the best candidate
) -> Input: ...
def podlstm_forecast(
    *,
    modes: str,  # modes.h5 as `podlstm fit` writes it
    model: str = ...,  # model.h5 as `podlstm train` or `podlstm quantise` writes it, or registry.h5:ID, an expert of a registry; or leave it to `experts`
    experts: Union[PodlstmForecastExperts, None] = ...,  # A registry of models, of which a router chooses one
    lead: Union[int, None] = ...,  # Steps after the last date that are wanted; absent: all that the model forecasts; at least 1 and at most 100000
    # from: str  # Last date that the forecast sees, one of the record's; empty: the record's last
    quantise: Union[PodlstmForecastQuantise, None] = ...,  # Matrices of the networks as binary codes of a few bits a weight; absent: as they were trained
    **words: Any,
) -> Input: ...
def podlstm_evaluate(
    *,
    modes: str,  # modes.h5 as `podlstm fit` writes it
    model: str,  # model.h5 as `podlstm train` or `podlstm quantise` writes it
    # from: str  # First day of the test; empty: the day after the model's validation period
    until: str = ...,  # Last day of the test; empty: the record's last
    points: Union[int, None] = ...,  # Sea points behind modes of unit norm, where the modes file has coefficients alone: errors are then in degrees a point (NOAA's 1-degree sea: 44219); at least 1
    block: str = ...,  # Length of a bootstrap block, longer than errors remember: a number of steps, or a duration
    references: Union[PodlstmEvaluateReferences, None] = ...,  # Linear forecasts beside the model, fitted to its training period
    regions: Sequence[PodlstmEvaluateRegions] = ...,  # Boxes judged by themselves, where the modes file has a grid
    fields: Union[PodlstmEvaluateFields, None] = ...,  # The record behind the modes, as in `podlstm fit`: errors are then also those of whole fields, with what the modes leave out; absent: of the space of the modes alone
    quantise: Union[PodlstmEvaluateQuantise, None] = ...,  # Judge the model with its matrices as binary codes, beside 1 to 4 bits and float32; absent: as it was trained
    **words: Any,
) -> Input: ...
def podlstm_hindcast(
    *,
    modes: str = ...,  # modes.h5 as `podlstm fit` writes it, the same at all origins; absent: modes of `fields`, fitted anew at each origin
    fields: Union[PodlstmHindcastFields, None] = ...,  # The record, as in `podlstm fit`: modes are fitted anew at each origin to the times before it
    pod: Union[PodlstmHindcastPod, None] = ...,  # The modes of `fields`
    points: Union[int, None] = ...,  # Sea points behind modes of unit norm, where the modes file has coefficients alone: errors are then in degrees a point (NOAA's 1-degree sea: 44219); at least 1
    window: Union[PodlstmHindcastWindow, None] = ...,  # Length of a forecast's past and future
    origins: Union[PodlstmHindcastOrigins, None] = ...,  # When all methods are fitted anew
    irregular_steps: Literal['avoid', 'cross'] = ...,  # A step of time unlike the others: avoid lets no window or memory cross it
    methods: Sequence[str] = ...,  # Who forecasts: references, cyclostationary_lim (operators and noise by season), analogues; at least 1 value
    references: Union[PodlstmHindcastReferences, None] = ...,  # The linear forecasts
    cyclostationary: Union[PodlstmHindcastCyclostationary, None] = ...,  # Of cyclostationary_lim
    analogues: Union[PodlstmHindcastAnalogues, None] = ...,  # Of analogues
    spread_half_width: float = ...,  # Days from the middle of a season at which errors count half for the spread of forecasts that begin there; at least 10 and at most 180
    networks: Union[PodlstmHindcastNetworks, None] = ...,  # Networks that correct a base, trained anew at origins, as a further method; absent: none. Keys are those of `forecast` in `podlstm train`, but for keep_networks and origins: the method networks_if_earned decides so at each origin. The last 15 % of the training choose their best epochs
    mixture: Union[PodlstmHindcastMixture, None] = ...,  # A further method, `mixture`: a mean of others with weights for each lead that minimise the errors after earlier origins, of those that could be fitted; null: none
    verification: Union[PodlstmHindcastVerification, None] = ...,  # The climatology of the whole record that all anomalies are judged about; no forecast knows it
    block: str = ...,  # Length of a bootstrap block, longer than errors remember: a number of steps, or a duration
    draws: int = ...,  # Draws of the bootstrap; at least 100 and at most 100000
    against: str = ...,  # The method that all others are compared with
    leads: Sequence[int] = ...,  # First and last lead that are judged together; empty: the second half of all; each at least 1
    indices: Sequence[str] = ...,  # Indices that are judged by themselves, where there is a grid: nino34, nino3, nino4, nino12, dmi, pdo
    regions: Sequence[PodlstmHindcastRegions] = ...,  # Further boxes, whose means are judged
    maps: Union[PodlstmHindcastMaps, None] = ...,  # Scores at each point of the sea, marine heat waves and the reliability of terciles, where there is a grid; null: none
    members: int = ...,  # Members of the ensemble in forecast.nc; 0: none, and no file; at least 0 and at most 10000
    seed: int = ...,  # Of their noise; at least 0
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
) -> Input: ...
def podlstm_quantise(
    *,
    model: str,  # model.h5 as `podlstm train` writes it
    quantise: Union[PodlstmQuantiseQuantise, None] = ...,  # The codes; `kernel` is of no matter here
) -> Input: ...
def submatrix_evaluate(
    *,
    matrices: SubmatrixEvaluateMatrices,  # The Kohn-Sham and overlap matrices
    further_kohn_sham: Union[Sequence[str], Any] = ...,  # More Kohn-Sham matrices of the same S, blocks and ensemble, each evaluated as the first one; S^-1/2 is made once for all. Summary and files of the n-th K of all end in _kn (tr_dk_hartree_k2, density_k2.h5); 0 to 1000 values
    blocks: Union[SubmatrixEvaluateBlocks, None] = ...,  # How orbitals are grouped into blocks
    ensemble: Union[SubmatrixEvaluateEnsemble, None] = ...,  # Chemical potential or number of electrons
    temperature: str = ...,  # Electronic temperature; 0: occupied below mu, empty above; unit: K; at least 0 K and at most 1000000 K
    method: Union[SubmatrixEvaluateMethod, None] = ...,  # The submatrix method
    check: Union[SubmatrixEvaluateCheck, None] = ...,  # Error of the density matrix on random vectors
    spectrum: Union[SubmatrixEvaluateSpectrum, None] = ...,  # Density of states
    machine: str = ...,  # A machine of configs/machines, or its file: spmm: auto counts with its links (quintet machine --calibrate measures them)
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    output: Union[SubmatrixEvaluateOutput, None] = ...,  # Matrices to write
    reference: Union[SubmatrixEvaluateReference, None] = ...,  # Exact values to print beside ours
) -> Input: ...
def submatrix_compare(
    *,
    matrices: SubmatrixCompareMatrices,  # The Kohn-Sham and overlap matrices
    blocks: Union[SubmatrixCompareBlocks, None] = ...,  # How orbitals are grouped into blocks
    ensemble: Union[SubmatrixCompareEnsemble, None] = ...,  # Chemical potential or number of electrons
    temperature: str = ...,  # Electronic temperature; the Newton-Schulz methods are left out unless it is 0; unit: K; at least 0 K and at most 1000000 K
    thresholds: Sequence[float] = ...,  # Filter thresholds of the sparse methods (hartree); 1 to 50 values, each above 0 and at most 1
    kernels: Sequence[str] = ...,  # Kernels of the submatrix method: polynomial, polynomial_fp32, eigen, newton_schulz
    least_gap: str = ...,  # A method is refused if the levels around mu lie closer and the temperature is 0, as by method.least_gap of evaluate; unit: eV, meV, kJ/mol, kcal/mol, hartree, J; at least 0 hartree
    global_newton_schulz: bool = ...,  # Also iterate on the whole sparse matrix, with filtered products
    petsc_newton_schulz: bool = ...,  # The same by PETSc's sparse products, which drop elements, not blocks; needs a submatrix built with PETSc
    dense_limit: int = ...,  # Diagonalise densely (on the first rank) up to so many orbitals; 0: never; at least 0 and at most 100000
    reference: Union[SubmatrixCompareReference, None] = ...,  # Exact values, for systems above dense_limit
) -> Input: ...
def vlasov_run(
    *,
    grid: VlasovRunGrid,  # Configuration space, and the cells of phase space
    species: Sequence[VlasovRunSpecies],  # The kinds of particles; at least 1 section
    field: VlasovRunField,  # The fields
    time: VlasovRunTime,  # The steps
    constants: dict[str, Union[float, str]] = ...,  # Numbers with names, for all formulas: {k: 0.5, length: 2*pi/k}
    basis: Union[VlasovRunBasis, None] = ...,  # The polynomials
    flux: Literal['upwind', 'lax_friedrichs', 'central'] = ...,  # Numerical flux of f; central keeps the integral of f^2 while the ends of velocity space are empty
    keep_positive: bool = ...,  # Keep f from going negative at control nodes (order + 1 Gauss-Lobatto points a direction) by drawing it towards the cell mean: keeps the particles of each cell, not its momentum and energy (see S_limited_momentum_x, S_limited_energy of the history)
    collisions: Union[VlasovRunCollisions, None] = ...,  # Collisions; absent: none
    parallel: Union[VlasovRunParallel, None] = ...,  # How phase space is shared out
    device: Literal['cpu', 'gpu', 'auto', 'portable'] = ...,  # What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node share its GPUs), a GPU where there is one; or, to compare with, the GPU's algorithms on the host's cores
    output: Union[VlasovRunOutput, None] = ...,  # Frames over time
    observe: Union[VlasovRunObserve, None] = ...,  # What else is watched; absent: nothing
    history_interval: int = ...,  # Steps between rows of the history; at least 1
    checkpoint_interval: int = ...,  # Steps between checkpoints; at least 1
    checkpoint_every: str = ...,  # Also a checkpoint when so much wall time has passed since the last one; unit: fs, ps, ns, us, ms, s, min, h, day, year; above 0 min
    checkpoint_keep: int = ...,  # Checkpoints that stay; at least 1
    theory: Union[VlasovRunTheory, None] = ...,  # Rates to print beside those of the run; absent: none
    reference: Union[VlasovRunReference, None] = ...,  # A curve to draw beside the run's
    limits: Union[VlasovRunLimits, None] = ...,  # When to stop with exit code 3
) -> Input: ...

vlasov = vlasov_run
