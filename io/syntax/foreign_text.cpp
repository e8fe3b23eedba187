#include "io/syntax/foreign_text.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

namespace quintet {

namespace {

struct Magic {
  std::string_view bytes, kind;
};
constexpr Magic magics[] = {{"\x89HDF\r\n", "a binary file (HDF5)"},
                            {"CDF\x01", "a binary file (netCDF)"},
                            {"CDF\x02", "a binary file (netCDF)"},
                            {"CDF\x05", "a binary file (netCDF)"},
                            {"GRIB", "a GRIB file, as weather services give"},
                            {"PK\x03\x04", "a zip archive, as models of PyTorch are"},
                            {"\x1f\x8b", "a compressed file (gzip)"},
                            {"\x7f"
                             "ELF",
                             "a program or library"},
                            {"%PDF", "a PDF"},
                            {"<!DOCTYPE", "a web page, as a download that failed leaves"},
                            {"<html", "a web page, as a download that failed leaves"},
                            {"<?xml", "an XML file"},
                            {"<simulation", "an i-PI input (XML)"}};

/// Words of which this many lines begin; the rest of such a line holds no ':'.
struct Kind {
  std::string_view kind;
  int least;  ///< lines
  std::span<const std::string_view> words;
};
constexpr std::string_view lammps[] = {
    "units",      "atom_style",   "pair_style",   "pair_coeff", "boundary", "read_data", "timestep",
    "fix",        "thermo",       "thermo_style", "run",        "velocity", "mass",      "neighbor",
    "create_box", "create_atoms", "lattice",      "region",     "dump"};
constexpr std::string_view lammps_data[] = {"Masses", "Atoms"};
constexpr std::string_view cp2k[] = {"&GLOBAL", "&FORCE_EVAL", "&MOTION", "&DFT", "&SUBSYS"};
constexpr std::string_view espresso[] = {"&CONTROL", "&SYSTEM", "&ELECTRONS",
                                         "&control", "&system", "&electrons"};
constexpr std::string_view gkeyll_lua[] = {"local", "require"};
constexpr std::string_view c_program[] = {"#include", "#define", "int", "void", "struct", "static"};
constexpr std::string_view python[] = {"import", "from", "def", "for", "class", "print"};
constexpr std::string_view shell[] = {"#!/bin/bash", "#!/bin/sh", "#!/usr/bin/env", "#SBATCH", "#PBS",
                                      "module",      "srun",      "mpirun",         "export"};
constexpr std::string_view vasp[] = {"ENCUT", "NSW",   "ISMEAR", "IBRION", "POTIM",
                                     "SIGMA", "EDIFF", "PREC",   "SYSTEM"};
constexpr std::string_view gromacs[] = {"integrator", "nsteps",      "tcoupl", "pcoupl",
                                        "rcoulomb",   "constraints", "nstlist"};

constexpr Kind kinds[] = {{"a LAMMPS input script", 2, lammps},
                          {"a LAMMPS data file", 2, lammps_data},
                          {"a CP2K input", 1, cp2k},
                          {"a Quantum ESPRESSO input", 2, espresso},
                          {"a VASP INCAR", 2, vasp},
                          {"a GROMACS parameter file", 2, gromacs},
                          {"a C program, as Gkeyll's inputs are", 3, c_program},
                          {"a Lua script, as Gkeyll's inputs were", 2, gkeyll_lua},
                          {"a Python script", 2, python},
                          {"a shell script", 1, shell}};

/// The first word of a line, up to a space, '=' or '('.
std::string_view first_word(std::string_view line) {
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  const auto end = std::min(line.find_first_of(" \t=(\r", begin), line.size());
  return line.substr(begin, end - begin);
}

/// Whether a line is "key: value", as lines of YAML are.
bool is_key(std::string_view line) {
  const auto end = line.find_last_not_of(" \t\r");
  return line.find(": ") != std::string_view::npos || (end != std::string_view::npos && line[end] == ':');
}

template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

int lines_that_begin_with(std::string_view text, std::span<const std::string_view> words) {
  int n = 0;
  for_each_line(text, [&](std::string_view line) {
    if (!is_key(line) && std::find(words.begin(), words.end(), first_word(line)) != words.end()) ++n;
  });
  return n;
}

/// Whether most lines with a word are keys of YAML; comments do not count.
bool is_mostly_keys(std::string_view text) {
  int n_keys = 0, n_others = 0;
  for_each_line(text, [&](std::string_view line) {
    const auto word = first_word(line);
    if (word.empty() || word.starts_with("# ") || word == "#") return;
    ++(is_key(line) ? n_keys : n_others);
  });
  return n_keys > n_others;
}

}  // namespace

std::string_view foreign_kind(std::string_view text) {
  for (const auto& magic : magics)
    if (text.starts_with(magic.bytes)) return magic.kind;
  constexpr std::size_t most = 100'000;  // bytes; who has not said by then what it is will not
  text = text.substr(0, most);
  if (text.find('\0') != std::string_view::npos) return "a binary file";
  if (text.find("\"descriptor\"") != std::string_view::npos &&
      text.find("\"fitting_net\"") != std::string_view::npos)
    return "an input of DeePMD-kit (JSON)";
  if (is_mostly_keys(text)) return {};
  const Kind* best = nullptr;
  int most_lines = 0;
  for (const auto& kind : kinds)
    if (const int n = lines_that_begin_with(text, kind.words); n >= kind.least && n > most_lines) {
      best = &kind;
      most_lines = n;
    }
  return best != nullptr ? best->kind : std::string_view();
}

}  // namespace quintet
