#!/bin/sh
# Three models in one file, and frames of three materials in another: each is answered by the model that knows its elements,
# in memory for two of them, and to the last bit as by that model alone. Seconds. Usage: experts.sh [FOLDER], where models.h5,
# frames.xyz and answers.{json,xyz} will be. Needs quintet and dpmd in the PATH. More: docs/experts.md
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-.}" && cd "${1:-.}"
quintet registry add models.h5 "$here/copper/copper.dp" "$here/water/water.dp" "$here/silica/silica.dp"
quintet registry list models.h5
for frame in copper/fcc water/water32 silica/melt copper/fcc water/water32 copper/fcc; do cat "$here/$frame.xyz"; done > frames.xyz
dpmd evaluate --experts models.h5 --budget '12 MB' --output answers frames.xyz
dpmd evaluate --model models.h5:water --output water "$here/water/water32.xyz"   # by name
