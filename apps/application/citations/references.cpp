#include "apps/application/citations/references.hpp"

namespace quintet {

namespace {

constexpr std::string_view zhang2018deepmd = R"(@article{zhang2018deepmd,
  author  = {Zhang, Linfeng and Han, Jiequn and Wang, Han and Car, Roberto and E, Weinan},
  title   = {Deep Potential Molecular Dynamics: A Scalable Model with the Accuracy of Quantum Mechanics},
  journal = {Phys. Rev. Lett.},
  volume  = {120},
  pages   = {143001},
  year    = {2018},
  doi     = {10.1103/PhysRevLett.120.143001}
})";
constexpr std::string_view zhang2018end = R"(@inproceedings{zhang2018end,
  author    = {Zhang, Linfeng and Han, Jiequn and Wang, Han and Saidi, Wissam A. and Car, Roberto and E, Weinan},
  title     = {End-to-end Symmetry Preserving Inter-atomic Potential Energy Model for Finite and Extended Systems},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {31},
  year      = {2018}
})";
constexpr std::string_view jia2020 = R"(@inproceedings{jia2020,
  author    = {Jia, Weile and Wang, Han and Chen, Mohan and Lu, Denghui and Lin, Lin and Car, Roberto and E, Weinan and
               Zhang, Linfeng},
  title     = {Pushing the Limit of Molecular Dynamics with Ab Initio Accuracy to 100 Million Atoms with Machine Learning},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  doi       = {10.1109/SC41405.2020.00009}
})";
constexpr std::string_view lu2022 = R"(@article{lu2022,
  author  = {Lu, Denghui and Jiang, Wanrun and Chen, Yixiao and Zhang, Linfeng and Jia, Weile and Wang, Han and Chen, Mohan},
  title   = {{DP} Compress: A Model Compression Scheme for Generating Efficient Deep Potential Models},
  journal = {J. Chem. Theory Comput.},
  volume  = {18},
  pages   = {5559},
  year    = {2022},
  doi     = {10.1021/acs.jctc.2c00102}
})";
constexpr std::string_view zhang2020dpgen = R"(@article{zhang2020dpgen,
  author  = {Zhang, Yuzhi and Wang, Haidi and Chen, Weijie and Zeng, Jinzhe and Zhang, Linfeng and Wang, Han and E, Weinan},
  title   = {{DP-GEN}: A concurrent learning platform for the generation of reliable deep learning based potential energy models},
  journal = {Comput. Phys. Commun.},
  volume  = {253},
  pages   = {107206},
  year    = {2020},
  doi     = {10.1016/j.cpc.2020.107206}
})";
constexpr std::string_view leimkuhler2013 = R"(@article{leimkuhler2013,
  author  = {Leimkuhler, Benedict and Matthews, Charles},
  title   = {Rational Construction of Stochastic Numerical Methods for Molecular Sampling},
  journal = {Appl. Math. Res. Express},
  volume  = {2013},
  pages   = {34},
  year    = {2013},
  doi     = {10.1093/amrx/abs010}
})";
constexpr std::string_view bussi2007 = R"(@article{bussi2007,
  author  = {Bussi, Giovanni and Donadio, Davide and Parrinello, Michele},
  title   = {Canonical sampling through velocity rescaling},
  journal = {J. Chem. Phys.},
  volume  = {126},
  pages   = {014101},
  year    = {2007},
  doi     = {10.1063/1.2408420}
})";
constexpr std::string_view martyna1996 = R"(@article{martyna1996,
  author  = {Martyna, Glenn J. and Tuckerman, Mark E. and Tobias, Douglas J. and Klein, Michael L.},
  title   = {Explicit reversible integrators for extended systems dynamics},
  journal = {Mol. Phys.},
  volume  = {87},
  pages   = {1117},
  year    = {1996},
  doi     = {10.1080/00268979600100761}
})";
constexpr std::string_view martyna1994 = R"(@article{martyna1994,
  author  = {Martyna, Glenn J. and Tobias, Douglas J. and Klein, Michael L.},
  title   = {Constant pressure molecular dynamics algorithms},
  journal = {J. Chem. Phys.},
  volume  = {101},
  pages   = {4177},
  year    = {1994},
  doi     = {10.1063/1.467468}
})";
constexpr std::string_view bernetti2020 = R"(@article{bernetti2020,
  author  = {Bernetti, Mattia and Bussi, Giovanni},
  title   = {Pressure control using stochastic cell rescaling},
  journal = {J. Chem. Phys.},
  volume  = {153},
  pages   = {114107},
  year    = {2020},
  doi     = {10.1063/5.0020514}
})";
constexpr std::string_view guenole2020 = R"(@article{guenole2020,
  author  = {Gu{\'e}nol{\'e}, Julien and N{\"o}hring, Wolfram G. and Vaid, Aviral and Houll{\'e}, Fr{\'e}d{\'e}ric and
             Xie, Zhuocheng and Prakash, Aruna and Bitzek, Erik},
  title   = {Assessment and optimization of the fast inertial relaxation engine ({FIRE}) for energy minimization in
             atomistic simulations and its implementation in {LAMMPS}},
  journal = {Comput. Mater. Sci.},
  volume  = {175},
  pages   = {109584},
  year    = {2020},
  doi     = {10.1016/j.commatsci.2020.109584}
})";
constexpr std::string_view ziegler1985 = R"(@book{ziegler1985,
  author    = {Ziegler, James F. and Biersack, Jochen P. and Littmark, Uwe},
  title     = {The Stopping and Range of Ions in Matter},
  volume    = {1},
  publisher = {Pergamon},
  year      = {1985}
})";
constexpr std::string_view hakim2020 = R"(@inproceedings{hakim2020,
  author    = {Hakim, Ammar and Juno, James},
  title     = {Alias-Free, Matrix-Free, and Quadrature-Free Discontinuous {Galerkin} Algorithms for (Plasma) Kinetic Equations},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  doi       = {10.1109/SC41405.2020.00077}
})";
constexpr std::string_view juno2018 = R"(@article{juno2018,
  author  = {Juno, James and Hakim, Ammar and TenBarge, Jason and Shi, Eric and Dorland, William},
  title   = {Discontinuous {Galerkin} algorithms for fully kinetic plasmas},
  journal = {J. Comput. Phys.},
  volume  = {353},
  pages   = {110},
  year    = {2018},
  doi     = {10.1016/j.jcp.2017.10.009}
})";
constexpr std::string_view lenard1958 = R"(@article{lenard1958,
  author  = {Lenard, Andrew and Bernstein, Ira B.},
  title   = {Plasma Oscillations with Diffusion in Velocity Space},
  journal = {Phys. Rev.},
  volume  = {112},
  pages   = {1456},
  year    = {1958},
  doi     = {10.1103/PhysRev.112.1456}
})";
constexpr std::string_view bhatnagar1954 = R"(@article{bhatnagar1954,
  author  = {Bhatnagar, P. L. and Gross, E. P. and Krook, M.},
  title   = {A Model for Collision Processes in Gases},
  journal = {Phys. Rev.},
  volume  = {94},
  pages   = {511},
  year    = {1954},
  doi     = {10.1103/PhysRev.94.511}
})";
constexpr std::string_view lass2020 = R"(@inproceedings{lass2020,
  author    = {Lass, Michael and Schade, Robert and K{\"u}hne, Thomas D. and Plessl, Christian},
  title     = {A Submatrix-Based Method for Approximate Matrix Function Evaluation in the Quantum Chemistry Code {CP2K}},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  note      = {arXiv:2004.10811}
})";
constexpr std::string_view jiang2020 = R"(@inproceedings{jiang2020,
  author    = {Jiang, Chiyu Max and Esmaeilzadeh, Soheil and Azizzadenesheli, Kamyar and Kashinath, Karthik and
               Mustafa, Mustafa and Tchelepi, Hamdi A. and Marcus, Philip and Prabhat and Anandkumar, Anima},
  title     = {{MeshfreeFlowNet}: A Physics-Constrained Deep Continuous Space-Time Super-Resolution Framework},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  note      = {arXiv:2005.01463}
})";
constexpr std::string_view verstappen2003 = R"(@article{verstappen2003,
  author  = {Verstappen, R. W. C. P. and Veldman, A. E. P.},
  title   = {Symmetry-preserving discretization of turbulent flow},
  journal = {J. Comput. Phys.},
  volume  = {187},
  pages   = {343},
  year    = {2003},
  doi     = {10.1016/S0021-9991(03)00126-8}
})";
constexpr std::string_view beintema2020 = R"(@article{beintema2020,
  author  = {Beintema, Gerben and Corbetta, Alessandro and Biferale, Luca and Toschi, Federico},
  title   = {Controlling {Rayleigh-B{\'e}nard} convection via reinforcement learning},
  journal = {J. Turbul.},
  volume  = {21},
  pages   = {585},
  year    = {2020},
  doi     = {10.1080/14685248.2020.1797059}
})";
constexpr std::string_view schulman2017 = R"(@misc{schulman2017,
  author = {Schulman, John and Wolski, Filip and Dhariwal, Prafulla and Radford, Alec and Klimov, Oleg},
  title  = {Proximal Policy Optimization Algorithms},
  year   = {2017},
  note   = {arXiv:1707.06347}
})";
constexpr std::string_view maulik2020 = R"(@inproceedings{maulik2020,
  author    = {Maulik, Romit and Egele, Romain and Lusch, Bethany and Balaprakash, Prasanna},
  title     = {Recurrent Neural Network Architecture Search for Geophysical Emulation},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  note      = {arXiv:2004.10928}
})";
constexpr std::string_view hochreiter1997 = R"(@article{hochreiter1997,
  author  = {Hochreiter, Sepp and Schmidhuber, J{\"u}rgen},
  title   = {Long Short-Term Memory},
  journal = {Neural Comput.},
  volume  = {9},
  pages   = {1735},
  year    = {1997},
  doi     = {10.1162/neco.1997.9.8.1735}
})";
constexpr std::string_view real2019 = R"(@inproceedings{real2019,
  author    = {Real, Esteban and Aggarwal, Alok and Huang, Yanping and Le, Quoc V.},
  title     = {Regularized Evolution for Image Classifier Architecture Search},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume    = {33},
  year      = {2019},
  doi       = {10.1609/aaai.v33i01.33014780}
})";
constexpr std::string_view kingma2015 = R"(@inproceedings{kingma2015,
  author    = {Kingma, Diederik P. and Ba, Jimmy},
  title     = {Adam: A Method for Stochastic Optimization},
  booktitle = {International Conference on Learning Representations},
  year      = {2015},
  note      = {arXiv:1412.6980}
})";
constexpr std::string_view paszke2019 = R"(@inproceedings{paszke2019,
  author    = {Paszke, Adam and others},
  title     = {{PyTorch}: An Imperative Style, High-Performance Deep Learning Library},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {32},
  year      = {2019}
})";
constexpr std::string_view trott2022 = R"(@article{trott2022,
  author  = {Trott, Christian R. and others},
  title   = {Kokkos 3: Programming Model Extensions for the Exascale Era},
  journal = {IEEE Trans. Parallel Distrib. Syst.},
  volume  = {33},
  pages   = {805},
  year    = {2022},
  doi     = {10.1109/TPDS.2021.3097283}
})";
constexpr std::string_view rajbhandari2020 = R"(@inproceedings{rajbhandari2020,
  author    = {Rajbhandari, Samyam and Rasley, Jeff and Ruwase, Olatunji and He, Yuxiong},
  title     = {{ZeRO}: Memory Optimizations Toward Training Trillion Parameter Models},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  doi       = {10.1109/SC41405.2020.00024}
})";

constexpr Reference rows[] = {
    {"zhang2018deepmd", zhang2018deepmd, "dpmd", ""},
    {"zhang2018end", zhang2018end, "dpmd", ""},
    {"jia2020", jia2020, "dpmd run", ""},
    {"lu2022", lu2022, "dpmd", "potential.compress=auto"},
    {"lu2022", lu2022, "dpmd", "potential.compress=file"},
    {"zhang2020dpgen", zhang2020dpgen, "dpmd learn", ""},
    {"leimkuhler2013", leimkuhler2013, "dpmd run", "integrator.ensemble=langevin"},
    {"leimkuhler2013", leimkuhler2013, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.thermostat=langevin"},
    {"bussi2007", bussi2007, "dpmd run", "integrator.ensemble=velocity_rescaling"},
    {"bussi2007", bussi2007, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.thermostat=velocity_rescaling"},
    {"martyna1996", martyna1996, "dpmd run", "integrator.ensemble=nose_hoover"},
    {"martyna1996", martyna1996, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.thermostat=nose_hoover"},
    {"guenole2020", guenole2020, "dpmd run", "integrator.ensemble=minimise"},
    // What `auto` takes is uses_mtk() of physics/particles/dynamics.
    {"bernetti2020", bernetti2020, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=cell_rescaling"},
    {"bernetti2020", bernetti2020, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & "
     "integrator.barostat.thermostat!=nose_hoover & "
     "integrator.barostat.coupling!=triclinic & !integrator.barostat.pressure_tensor & "
     "integrator.barostat.axes.2"},
    {"martyna1994", martyna1994, "dpmd run", "integrator.ensemble=npt & integrator.barostat.method=mtk"},
    {"martyna1994", martyna1994, "dpmd run", "integrator.ensemble=nph"},
    {"martyna1994", martyna1994, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & "
     "integrator.barostat.thermostat=nose_hoover"},
    {"martyna1994", martyna1994, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & integrator.barostat.coupling=triclinic"},
    {"martyna1994", martyna1994, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & integrator.barostat.pressure_tensor"},
    {"martyna1994", martyna1994, "dpmd run",
     "integrator.ensemble=npt & integrator.barostat.method=auto & !integrator.barostat.axes.2"},
    {"ziegler1985", ziegler1985, "dpmd run", "potential.repulsion"},
    {"hakim2020", hakim2020, "vlasov", ""},
    {"juno2018", juno2018, "vlasov", ""},
    {"lenard1958", lenard1958, "vlasov", "collisions.operator=lbo"},
    {"bhatnagar1954", bhatnagar1954, "vlasov", "collisions.operator=bgk"},
    {"lass2020", lass2020, "submatrix", ""},
    {"verstappen2003", verstappen2003, "meshfreeflow simulate", ""},
    {"verstappen2003", verstappen2003, "meshfreeflow control", ""},
    {"beintema2020", beintema2020, "meshfreeflow control", ""},
    {"schulman2017", schulman2017, "meshfreeflow control", ""},
    {"jiang2020", jiang2020, "meshfreeflow train", ""},
    {"jiang2020", jiang2020, "meshfreeflow superresolve", ""},
    {"jiang2020", jiang2020, "meshfreeflow evaluate", ""},
    {"maulik2020", maulik2020, "podlstm", ""},
    {"hochreiter1997", hochreiter1997, "podlstm train", ""},
    {"hochreiter1997", hochreiter1997, "podlstm search", ""},
    {"real2019", real2019, "podlstm search", "search.method=evolution"},
    {"rajbhandari2020", rajbhandari2020, "", "parallel.strategy=sharded"},
    {"kingma2015", kingma2015, "dpmd train", ""},
    {"kingma2015", kingma2015, "meshfreeflow train", "optimiser.kind=adam"},
    {"paszke2019", paszke2019, "meshfreeflow train", ""},
    {"paszke2019", paszke2019, "meshfreeflow superresolve", ""},
    {"trott2022", trott2022, "", ""},
};

}  // namespace

std::span<const Reference> references() { return rows; }

}  // namespace quintet
