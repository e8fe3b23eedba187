"""What is compared: commands, and numbers of their results beside published or exact ones.

A Case has a title, commands (run in their order, in one folder), rows, and a file that it needs of ../shared (without it the case is
left out). A row: what, where our number comes from (a function of `summaries`, name of the run -> summary.json), the other number, how
far from it ours may be (relative, or absolute where the other is 0), the digits that are shown, unit, and the source of the other number.
"""
import json
import os
import re
from collections import namedtuple
from math import log, pi, sqrt

import theory

Case = namedtuple("Case", "program title commands rows needs", defaults=(None,))
Row = namedtuple("Row", "what ours other allowed digits unit source")


def key(run, name, factor=1):
    return lambda results: factor*results.summary(run)[name]


def landau(k, guess):
    omega = theory.electrostatic(k, [(1, 1, 0)], guess)
    name, source = f"k_{k}", "root of 1 + (1 + zeta Z)/k^2 = 0 (Landau 1946)"
    command = f"vlasov run inputs/vlasov/landau.yaml --set constants.k={k} --set time.end=24 --set theory.window=[4,20] --output runs/{name}"
    return command, [Row(f"frequency, k lambda_D = {k}", key(name, "frequency"), omega.real, 1e-4, 6, "omega_pe", source),
                     Row(f"damping, k lambda_D = {k}", key(name, "growth_rate"), omega.imag, 5e-4, 6, "omega_pe", source)]


def plasma_cases():
    waves = [landau(0.3, 1.16 - 0.013j), landau(0.4, 1.285 - 0.066j), landau(0.5, 1.416 - 0.153j)]
    yield Case("vlasov", "Landau damping", [command for command, _ in waves], [row for _, rows in waves for row in rows])
    streams = theory.electrostatic(0.5, [(0.5, 0.2, 1), (0.5, 0.2, -1)], 0.32j)
    yield Case("vlasov", "Two-stream instability",
               ["vlasov run inputs/vlasov/two_stream.yaml --set grid.cells=[16,64] --set time.end=36 --output runs/streams"],
               [Row("growth rate", key("streams", "growth_rate"), streams.imag, 1e-3, 5, "omega_pe",
                    "root of the dispersion relation of two Maxwellians")])
    bump = theory.electrostatic(0.3, [(0.9, 1, 0), (0.1, 0.5, 4.5)], 1 + 0.2j)
    yield Case("vlasov", "Bump on tail", ["vlasov run inputs/vlasov/bump_on_tail.yaml --set grid.cells=[16,128] --set time.end=34 --output runs/bump"],
               [Row("growth rate", key("bump", "growth_rate"), bump.imag, 2e-3, 5, "omega_pe", "root of the dispersion relation"),
                Row("frequency", key("bump", "frequency"), bump.real, 1e-3, 5, "omega_pe", "the same")])
    acoustic = theory.electrostatic(0.1, [(0.5, 1, 0), (0.5, 10, 0)], 0.6 - 0.07j)
    yield Case("vlasov", "Electron-acoustic wave", ["vlasov run inputs/vlasov/electron_acoustic.yaml --output runs/acoustic"],
               [Row("damping", key("acoustic", "growth_rate"), acoustic.imag, 2e-2, 5, "omega_pe", "root of the dispersion relation"),
                Row("frequency", key("acoustic", "frequency"), acoustic.real, 1e-2, 5, "omega_pe", "the same")])
    sound = theory.electrostatic(0.5, [(1, 1, 0), (1/25, sqrt(0.1/25), 0)], 0.11 - 0.011j)
    yield Case("vlasov", "Ion-acoustic wave", ["vlasov run inputs/vlasov/ion_acoustic.yaml --output runs/sound"],
               [Row("damping", key("sound", "growth_rate"), sound.imag, 3e-3, 5, "omega_pe", "root of the dispersion relation of electrons and ions"),
                Row("frequency", key("sound", "frequency"), sound.real, 3e-4, 5, "omega_pe", "the same")])
    yield Case("vlasov", "Bernstein mode", ["vlasov run inputs/vlasov/bernstein.yaml --output runs/across"],
               [Row("frequency", key("across", "frequency"), theory.bernstein(0.5, 1, 1.31), 1e-4, 6, "omega_pe",
                    "root of Bernstein's dispersion relation (Phys. Rev. 109, 10 (1958))"),
                Row("growth", key("across", "growth_rate"), 0, 5e-4, 2, "omega_pe", "the same")])
    collisions = "vlasov run inputs/vlasov/landau_collisional.yaml --set grid.cells=[16,32]"
    kinds = [("lbo_01", "Lenard-Bernstein, nu = 0.1", "", lambda n: 0.1*n*(n > 2)),
             ("lbo_1", "Lenard-Bernstein, nu = 1", " --set constants.nu=1", lambda n: n*(n > 2)),
             ("bgk_1", "BGK, nu = 1", " --set constants.nu=1 --set collisions.operator=bgk", lambda n: n > 2)]
    roots = {name: theory.collisional(0.5, damping, 1.35 - 0.06j) for name, _, _, damping in kinds}
    source = "root of the linear equation in Hermite modes; density, momentum and energy are conserved"
    yield Case("vlasov", "Landau damping with collisions", [f"{collisions}{change} --output runs/{name}" for name, _, change, _ in kinds],
               [row for name, what, _, _ in kinds
                for row in (Row(f"frequency, {what}", key(name, "frequency"), roots[name].real, 2e-5, 6, "omega_pe", source),
                            Row(f"damping, {what}", key(name, "growth_rate"), roots[name].imag, 1e-4, 6, "omega_pe", source))])
    gkeyll = "Gkeyll (gkylzero 94664d7, serendipity p2, the same cells)"
    yield Case("vlasov", "Gkeyll's runs", ["vlasov run inputs/vlasov/landau.yaml --set time.end=24 --set output.frame_interval=24 --output runs/landau_wave",
                                           "vlasov run inputs/vlasov/two_stream.yaml --set grid.cells=[64,32] --set time.end=36 --output runs/beams",
                                           "vlasov run inputs/vlasov/lbo_relaxation.yaml --output runs/relaxation"],
               [Row("frequency, k lambda_D = 0.5", key("landau_wave", "frequency"), 1.41551, 3e-4, 6, "omega_pe", gkeyll),
                Row("damping, k lambda_D = 0.5", key("landau_wave", "growth_rate"), -0.153384, 5e-4, 6, "omega_pe", gkeyll),
                Row("growth of two streams", key("beams", "growth_rate"), 0.32013, 3e-4, 5, "omega_pe", gkeyll),
                Row("what a square loses of int f^2 by t = 100", key("relaxation", "f_squared_change_relative_square"), -0.0242371, 1e-4, 6, "1", gkeyll),
                Row("what a bump loses of int f^2 by t = 100", key("relaxation", "f_squared_change_relative_bump"), -0.301522, 1e-5, 6, "1", gkeyll)])
    filaments = theory.weibel(0.4, 0.1, 0.3, 0.1j)
    yield Case("vlasov", "Weibel instability",
               ["vlasov run inputs/vlasov/weibel_1x2v.yaml --set grid.cells=[8,24,24] --set time.end=70 --output runs/weibel"],
               [Row("growth rate", key("weibel", "growth_rate"), filaments.imag, 2e-3, 5, "omega_pe", "root of the dispersion relation")])
    cathode = ("vlasov run inputs/vlasov/diode.yaml --set constants.gap=40 --set constants.voltage=50 --set constants.rise=1 --set constants.start=0 "
               "--set species.0.velocity.lower=[-6] --set species.0.velocity.upper=[14] --set species.0.boundary.emission.1.yield.electrons=0 "
               "--set grid.cells=[32,80]")
    yield Case("vlasov", "Diode limited by space charge", [f"{cathode} --set time.end={end} --output runs/diode_{end}" for end in (50, 60)],
               [Row("current density, 50 kT/e over 40 Debye lengths", lambda results: 0.1*(results.summary("diode_60")["particles_left_x_upper_electrons"]
                                                                                       - results.summary("diode_50")["particles_left_x_upper_electrons"]),
                    theory.diode(40, 50), 4e-3, 5, "e n v_t", "Langmuir, Phys. Rev. 21, 419 (1923), for a Maxwellian cathode")])
    yield Case("vlasov", "Electrons in given fields", ["vlasov run inputs/vlasov/prescribed_field.yaml --set grid.cells=[1,32,32] --output runs/given"],
               [Row("difference from the exact momentum, relative", key("given", "reference_difference_relative"), 0, 5e-4, 2, "1",
                    "equation of motion of one electron (`inputs/vlasov/prescribed_field.py`)")])


def onset(results):
    """Ra at which the growth rate of small rolls is 0, between 1650 and 1770."""
    below, above = growth("ra_1650")(results), growth("ra_1770")(results)
    return 1650 + 120*below/(below - above)


def growth(run):
    """Growth rate of rolls between the last rows of two runs, `run`_8 and `run`_10, per free-fall time."""
    def rate(results):
        early, late = (results.summary(f"{run}_{end}")["kinetic_energy_last"] for end in (8, 10))
        return 0.5*log(late/early)/2
    return rate


def convection_cases():
    roll = "meshfreeflow simulate inputs/meshfreeflow/steady_roll.yaml"
    small = ("--set prandtl=1 --set aspect_ratio=2.0162256 --set grid.cells=[64,48] --set start.roll=1e-8 --set time.dt=0.02 "
             "--set statistics.from=0")
    yield Case("meshfreeflow", "Onset of convection",
               [f"{roll} {small} --set rayleigh={ra} --set time.end={end} --output runs/ra_{ra}_{end}" for ra in (1650, 1770) for end in (8, 10)],
               [Row("critical Rayleigh number, k = 3.11631", onset, 1707.762, 5e-3, 6, "1", "Rayleigh 1916; Chandrasekhar 1961")])
    small_wide = small.replace("prandtl=1 --set aspect_ratio=2.0162256", "prandtl=1 --set aspect_ratio=2")
    yield Case("meshfreeflow", "Growth of small rolls",
               [f"{roll} {small_wide} --set rayleigh={ra} --set time.end={end} --output runs/wide_{ra}_{end}" for ra in (2000, 5000) for end in (8, 10)],
               [Row(f"growth rate, Ra = {ra}, Pr = 1, k = pi", growth(f"wide_{ra}"), theory.plates(pi, ra, 1, guess), allowed, 5, "1/free-fall time",
                    "root of the linear equations between no-slip plates (Chandrasekhar 1961)")
                for ra, guess, allowed in ((2000, 0.05, 1e-3), (5000, 0.27, 2e-3))])
    yield Case("meshfreeflow", "Limit cycle at Ra = 1e6", ["meshfreeflow simulate inputs/meshfreeflow/limit_cycle.yaml --output runs/cycle"],
               [Row("Nusselt number at the warm wall, mean of ten periods", key("cycle", "nusselt_warm"), 7.596, 1e-2, 4, "1", "Dedalus 3.0.5, 96 x 64 points")])
    yield Case("meshfreeflow", "Burgers' equation", ["meshfreeflow flow inputs/meshfreeflow/burgers.yaml --output runs/burgers"],
               [Row("greatest error of u", key("burgers", "error_last"), 0, 1e-8, 2, "1", "exact solution by Cole and Hopf's transformation")])
    yield Case("meshfreeflow", "Steady rolls",
               [f"{roll} --set rayleigh=2000 --set time.end=150 --set statistics.from=140 --output runs/roll_2000", f"{roll} --output runs/roll"],
               [Row("Nusselt number, Ra = 2000", key("roll_2000", "nusselt_last"), 1.21051, 3e-3, 5, "1", "Dedalus 3.0.5, converged"),
                Row("Nusselt number, Ra = 10 000", key("roll", "nusselt_last"), 2.65250, 3e-3, 5, "1", "Dedalus 3.0.5, converged"),
                Row("Nusselt number, Ra = 10 000", key("roll", "nusselt_last"), 2.661, 1e-2, 4, "1",
                    "Clever and Busse, J. Fluid Mech. 65, 625 (1974), a truncated series")])
    cavity = "meshfreeflow simulate inputs/meshfreeflow/cavity.yaml"
    yield Case("meshfreeflow", "Cavity heated at its side",
               [f"{cavity} --set rayleigh=1e4 --set grid.cells=[64,64] --set time.end=80 --set statistics.from=70 --output runs/cavity_1e4",
                f"{cavity} --output runs/cavity_1e5"],
               [Row(f"Nusselt number, Ra = {text}", key(name, "nusselt_last"), other, 6e-3, 4, "1",
                    "de Vahl Davis, Int. J. Numer. Meth. Fluids 3, 249 (1983)")
                for text, name, other in (("10 000", "cavity_1e4", 2.243), ("100 000", "cavity_1e5", 4.519))])


def mantle_cases():
    """Blankenbach's cases 1a and 1b have no inertia: at Pr = 1e4 it changes nothing that is shown."""
    box = ("meshfreeflow simulate inputs/meshfreeflow/cavity.yaml --set prandtl=1e4 --set walls.bottom=free_slip --set walls.top=free_slip "
           "--set walls.sides=free_slip --set walls.heated=plates --set start.roll=0.1 --set time.most_dt=1 "
           "--set statistics.from=0")
    rows = []
    for text, ra, nusselt, speed in (("10 000", "1e4", 4.884409, 42.864947), ("100 000", "1e5", 10.534095, 193.214540)):
        source = "Blankenbach et al., Geophys. J. Int. 98, 23 (1989), case 1" + ("a" if ra == "1e4" else "b")
        rows += [Row(f"Nusselt number, Ra = {text}", key(f"mantle_{ra}", "nusselt_last"), nusselt, 2e-3, 6, "1", source),
                 Row(f"root mean square speed, Ra = {text}", lambda results, ra=ra: sqrt(2*results.summary(f"mantle_{ra}")["kinetic_energy_last"]*float(ra)*1e4),
                     speed, 2e-3, 6, "diffusivity/height", source)]
    yield Case("meshfreeflow", "Convection in the mantle", [
        f"{box} --set rayleigh={ra} --set grid.cells={cells} --set grid.z.strength={strength} --set time.end=3000 --output runs/mantle_{ra}"
        for ra, cells, strength in (("1e4", "[64,64]", 1.2), ("1e5", "[96,96]", 1.8))], rows)


def sea_cases():
    ocean = "../shared/data/ocean"
    numpy = "numpy's SVD of the same fields (`sea_by_numpy.py` of the test)"
    yield Case("podlstm", "Modes of observed months",
               [f"podlstm fit inputs/podlstm/fit.yaml --set fields.stochastic=null --set fields.files=[{ocean}/ersst_v5_2deg_monthly_2010_2014.nc] "
                "--set fit_until=2014-12-31 --output runs/months"],
               [Row(f"singular value {n}", key("months", f"singular_value_{n}"), value, 1e-6, 8, "degC", numpy)
                for n, value in enumerate((1463.98668, 292.424116, 258.262493, 173.743734, 136.404337), 1)], "data/ocean/ersst_v5_2deg_monthly_2010_2014.nc")
    weeks = [f"podlstm fit inputs/podlstm/fit.yaml --set fields=null --set coefficients.file={ocean}/sst_pod_coefficients_weekly.nc --output runs/weeks"]
    given = "--set modes=runs/weeks/modes.h5 --set points=44219"
    scores = {"climatology": (0.663964, 0.178229), "anomaly_persistence": (0.892203, 0.120696), "damped_persistence": (0.899856, 0.111988),
              "lim": (0.899913, 0.112049), "ridge": (0.903807, 0.111545)}
    numpy = "numpy from the definitions (`sea_by_numpy.py` of the test)"
    rows = []
    for name, (r2, rmse) in scores.items():
        what = name.replace("_", " ")
        rows += [Row(f"R2 of {what}", key("linear", f"r2_{name}"), r2, 5e-4, 5, "1", numpy),
                 Row(f"RMSE of {what}", key("linear", f"rmse_{name}"), rmse, 2e-3, 5, "degC", numpy)]
    needs = "data/ocean/sst_pod_coefficients_weekly.nc"
    yield Case("podlstm", "Linear forecasts of the paper's weeks", weeks + [
        f"podlstm train inputs/podlstm/train.yaml {given} --set forecast.members=0 --output runs/base",
        f"podlstm evaluate inputs/podlstm/evaluate.yaml {given} --set fields=null --set model=runs/base/model.h5 --output runs/linear"], rows, needs)
    network = "LSTM-128 + dense of DeepHyper's tutorial (anl-22-summer-workshop), on coefficients of its own"
    yield Case("podlstm", "A network of raw coefficients", [
        f"podlstm train inputs/podlstm/paper.yaml {given} --set split.train_until=2003-05-31 --set split.irregular_steps=cross "
        "--set forecast.members=1 --set forecast.network.nodes=[128] --set forecast.network.head=dense --set forecast.training.epochs=20 --output runs/network",
        f"podlstm evaluate inputs/podlstm/paper_evaluate.yaml {given} --set model=runs/network/model.h5 --output runs/judged"],
        [Row("R2 of validation", key("network", "validation_r2"), 0.758, 5e-2, 3, "1", network),
         Row("R2 of 2003 to 2014", key("judged", "r2"), 0.642, 8e-2, 3, "1", network)], needs)


def submatrix_cases():
    ev = theory.EV_PER_HARTREE
    yield Case("submatrix", "Tight-binding models",
               [f"submatrix evaluate inputs/submatrix/{name}.yaml --output runs/{name}" for name in ("chain_gap", "chain_metal", "boron_nitride")],
               [Row("energy of a ring with a gap", key("chain_gap", "tr_dk_hartree", ev), theory.ring_with_gap(600, -1.5, -1), 1e-11, 12, "eV",
                    "its levels, abs(t1 + t2 exp(ik))"),
                Row("its gap", key("chain_gap", "gap_ev"), 1, 5e-3, 4, "eV", "2 abs(t1 - t2)"),
                Row("energy of a metal at 3000 K", key("chain_metal", "tr_dk_hartree", ev), theory.metal_ring(600, -5, -2.5, 0.1, 3000)[0], 1e-10, 12,
                    "eV", "its levels, (a + 2 t cos k)/(1 + 2 s cos k)"),
                Row("its chemical potential", key("chain_metal", "mu_hartree", ev), theory.metal_ring(600, -5, -2.5, 0.1, 3000)[1], 1e-7, 8, "eV", "the same"),
                Row("energy of a honeycomb", key("boron_nitride", "tr_dk_hartree", ev), theory.honeycomb(12, 24, -2.3, 2.2), 1e-6, 9, "eV",
                    "its levels, sqrt(m^2 + t^2 abs(f(k))^2)"),
                Row("its gap", key("boron_nitride", "gap_ev"), 4.4, 1e-3, 4, "eV", "2 m")])
    water = "submatrix evaluate inputs/submatrix/water.yaml --set method.thresholds=[1e-5]"
    yield Case("submatrix", "CP2K's matrices of water", [f"{water} --set matrices.repeat=[1,1,1] --output runs/water_32",
                                                         f"{water} --set matrices.repeat=[2,1,1] --output runs/water_64"],
               [Row(f"band energy of one spin, {n} molecules", key(f"water_{n}", "tr_dk_hartree"), other, 1e-8, 11, "hartree",
                    "K and S of CP2K 2023.1, diagonalised at each k point (`inputs/submatrix/make_water.py`)")
                for n, other in ((32, -55.950322310), (64, -111.900744664))])
    folder = "../shared/data/submatrix/h2o32_szv"
    yield Case("submatrix", "Water of the paper on submatrices",
               [f"{water} --set matrices.kohn_sham={folder}-KS.csr --set matrices.overlap={folder}-S.csr --set matrices.repeat=[] "
                "--set reference=null --output runs/water_of_paper"],
               [Row("band energy of one spin", key("water_of_paper", "tr_dk_hartree"), -56.329017863, 1e-9, 11, "hartree",
                    "the same K and S of CP2K 2023.1, diagonalised"),
                Row("band energy of one spin", key("water_of_paper", "tr_dk_hartree"), -56.329022066, 2e-7, 11, "hartree",
                    "log of the paper's authors, Newton and Schulz in CP2K with another grid (Lass et al., SC20, arXiv 2004.10811)")],
               "data/submatrix/h2o32_szv-KS.csr")


def xyz(case, names):
    """A configuration of DeePMD-kit's reference as extended XYZ."""
    rows = [case["coord"][3*i:3*i + 3] for i in range(len(case["type"]))]
    cell = f'Lattice="{" ".join(map(repr, case["box"]))}" pbc="T T T"' if case["box"] else 'pbc="F F F"'
    return f'{len(rows)}\n{cell} Properties=species:S:1:pos:R:3\n' + "".join(
        f"{names[kind]} {x!r} {y!r} {z!r}\n" for kind, (x, y, z) in zip(case["type"], rows))


def kit_tests(path):
    """Configurations and energies of DeePMD-kit's own tests: lists of a YAML file, in the form of its other references."""
    names = {"coord": "coord", "atype": "type", "box": "box", "atomic_energy": "atom_energy", "force": "force"}
    with open(path, encoding="utf-8") as stream:
        blocks = re.split(r"^  - (?=coord:)", stream.read(), flags=re.M)[1:]
    for block in blocks:
        lists = {names[name]: None if text == "null" else [float(number) for number in re.findall(r"[^\s,\[\]]+", text)]
                 for name, text in re.findall(r"^ *(coord|atype|box|atomic_energy|force):\s*(null|\[[^\]]*\])", block, re.M)}
        lists["type"] = [int(kind) for kind in lists["type"]]
        yield dict(lists, energy=sum(lists["atom_energy"]))


def shared_models(source):
    """DeePMD-kit's numbers for models of ../shared: name of the file of configurations, elements, model, cases, what computed them."""
    folder = os.path.join(source, "..", "shared", "data", "deep_potential")
    if not os.path.isdir(folder):
        return []
    return [("water", ["O", "H"], "water_se_e2_a.dp", json.load(open(os.path.join(folder, "water_se_e2_a.ref.json")))["cases"], "DeePMD-kit 3.2.0, float64"),
            ("kit_tests", ["O", "H"], "deeppot_sea.dp", list(kit_tests(os.path.join(folder, "deeppot-testcase.yaml"))),
             "DeePMD-kit's own tests (source/tests/infer, bc902daf)")]


def configurations(source):
    """Files of configurations that commands name: name, elements, cases."""
    yield "configurations", ["Cu"], json.load(open(os.path.join(source, "inputs/dpmd/copper/peer_reference.json")))["cases"]
    for name, kinds, _, of_model, _ in shared_models(source):
        yield name, kinds, of_model


def shared_model_case(source):
    rows, commands = [], []
    for name, _, model, of_model, kit in shared_models(source):
        commands.append(f"dpmd evaluate --model ../shared/data/deep_potential/{model} --output ours_{name} {name}.xyz")
        for n, case in enumerate(of_model):
            rows.append(Row(f"energy, {name.replace('_', ' ')} {n + 1}", lambda results, name=name, n=n: results.read(f"ours_{name}.json")[n]["energy_ev"],
                            case["energy"], 1e-12, 13, "eV", kit))
        rows.append(Row(f"largest difference of a force, {name.replace('_', ' ')}", lambda results, name=name, of_model=of_model: max(
            abs(a - b) for ours, case in zip(results.read(f"ours_{name}.json"), of_model) for a, b in zip(ours["forces_ev_per_angstrom"], case["force"])),
            0, 1e-9, 2, "eV/angstrom", kit))
    return Case("dpmd", "DeePMD-kit's water", commands, rows, "data/deep_potential/deeppot-testcase.yaml")


def deep_potential_cases(source):
    evaluate = "dpmd evaluate --model inputs/dpmd/copper/copper.dp --output copper configurations.xyz"
    peer = json.load(open(os.path.join(source, "inputs/dpmd/copper/peer_reference.json")))["cases"]
    def energy(n):
        return lambda results: results.read("copper.json")[n]["energy_ev"]
    def force_difference(results):
        return max(abs(a - b) for ours, case in zip(results.read("copper.json"), peer) for a, b in zip(ours["forces_ev_per_angstrom"], case["force"]))
    yield Case("dpmd", "DeePMD-kit's energies and forces", [evaluate],
               [Row(f"energy, {case['name'].replace('_', ' ')}", energy(n), case["energy"], 1e-12, 13, "eV", "DeePMD-kit 3.2.0, float64")
                for n, case in enumerate(peer)] +
               [Row("largest difference of a force", force_difference, 0, 1e-9, 2, "eV/angstrom", "DeePMD-kit 3.2.0, float64")])
    yield shared_model_case(source)
    eos, kit = "equation_of_state", "DeePMD-kit 3.2.0 (`inputs/dpmd/copper/reference.yaml`)"
    yield Case("dpmd", "Equation of state of copper", [f"dpmd {eos} inputs/dpmd/copper/{eos}.yaml --output runs/{eos}"],
               [Row("lattice constant", key(eos, "lattice_constant_angstrom"), 3.612403, 1e-6, 7, "angstrom", kit),
                Row("energy per atom", key(eos, "energy_ev_per_atom"), -3.540617, 1e-6, 7, "eV", kit),
                Row("bulk modulus", key(eos, "bulk_modulus_gpa"), 143.429, 1e-3, 6, "GPa", kit),
                Row("lattice constant", key(eos, "lattice_constant_angstrom"), 3.614919, 1e-3, 7, "angstrom",
                    "the potential that the model learnt from, by LAMMPS (Mishin et al., Phys. Rev. B 63, 224106 (2001))"),
                Row("bulk modulus", key(eos, "bulk_modulus_gpa"), 139.490, 3.5e-2, 6, "GPa", "the same")])
    yield Case("dpmd", "Liquid copper", ["dpmd run inputs/dpmd/copper/melt.yaml --set time.steps=800 --output runs/melt"],
               [Row("difference of g(r) at 1600 K, root mean square", key("melt", "rdf_rms_difference_to_reference"), 0, 2e-2, 2, "1",
                    "the potential that the model learnt from, by LAMMPS (`inputs/dpmd/copper/melt_rdf_eam.csv`)")])
    def rmse(name, per):
        return lambda results: results.read("test.json")["all"][name]["rmse"]*per
    yield Case("dpmd", "Errors on held-out frames",
               ["dpmd test --model inputs/dpmd/copper/copper.dp inputs/dpmd/copper/data/valid_cell108 inputs/dpmd/copper/data/valid_liquid32 "
                "inputs/dpmd/copper/data/valid_solid32 inputs/dpmd/copper/data/valid_vacancy31"],
               [Row("energy per atom, rmse", rmse("energy_per_atom_ev", 1e3), 1.299, 1e-3, 4, "meV", "`dp test` of DeePMD-kit 3.2.0"),
                Row("force, rmse", rmse("force_ev_per_angstrom", 1), 0.0253, 2e-3, 4, "eV/angstrom", "the same"),
                Row("virial per atom, rmse", rmse("virial_per_atom_ev", 1e3), 10.53, 1e-3, 4, "meV", "the same")])


def gtest(run, name, value):
    """A number that a test of run.json has recorded."""
    def read(results):
        tests = [test for suite in results.read(f"{run}.json")["testsuites"] for test in suite["testsuite"]]
        return float(next(test[value] for test in tests if test["name"] == name))
    return read


def sharing_cases():
    y, ranks, steps, stages = 44033, 2, 20, {0: "data", 1: "sharded --set parallel.stage=1", 2: "sharded --set parallel.stage=2"}
    zero = "Y = 44 033 numbers of 8 bytes, N = 2 (Rajbhandari et al., ZeRO, SC20, arXiv 1910.02054)"
    def sent(stage):
        return lambda results: results.summary(f"zero_{stage}")["training_bytes_sent"]/steps
    yield Case("dpmd", "What ranks hold and send in a training", [
        f"mpirun -n {ranks} dpmd train inputs/dpmd/copper/train.yaml --set steps={steps} --set parallel.holder=rank --set parallel.strategy={how} "
        f"--output runs/zero_{stage}" for stage, how in stages.items()],
        [Row(f"sent by a rank in a step, stage {stage}", sent(stage), 2*y*(ranks - 1)/ranks*8, 1e-3, 6, "bytes", f"2 Y (N - 1)/N, {zero}") for stage in stages] +
        [Row(f"optimiser's states of a rank, stage {stage}", key(f"zero_{stage}", "optimiser_state_bytes"), 2*y*8/(1 if stage == 0 else ranks), 1e-3, 6, "bytes",
             f"2 Y{'' if stage == 0 else '/N'}, {zero}") for stage in stages])


def planning_cases():
    paradl = "logs of ParaDL's authors (Kahira et al., HPDC 2021; repository paraDL-analysis, ce36803)"
    yield Case("quintet", "ParaDL's projections", ["test_planning_logged --gtest_output=json:paradl.json"],
               [Row("projections of time, traffic and memory that are met", gtest("paradl", "are_met_within_one_per_cent", "rows"), 275, 0, 3, "1", paradl),
                Row("largest relative difference of one", gtest("paradl", "are_met_within_one_per_cent", "worst"), 0, 1e-8, 2, "1", paradl)],
               "data/oracle/paradl_projections.json")
    stanford = "Task Bench's core (Slaughter et al., SC20; bf4ad19)"
    yield Case("quintet", "Task Bench's graphs", ["test_task_graphs --gtest_output=json:tasks.json --gtest_filter=TaskBenchReference.*"],
               [Row("tasks of 36 graphs", gtest("tasks", "has_the_graphs_that_we_have", "tasks"), 1951, 0, 6, "1", stanford),
                Row("their dependencies", gtest("tasks", "has_the_graphs_that_we_have", "dependencies"), 4196, 0, 6, "1", stanford)],
               "data/oracle/taskbench_reference.json")


def all_cases(source):
    yield from deep_potential_cases(source)
    yield from sharing_cases()
    yield from plasma_cases()
    yield from submatrix_cases()
    yield from convection_cases()
    yield from mantle_cases()
    yield from sea_cases()
    yield from planning_cases()
