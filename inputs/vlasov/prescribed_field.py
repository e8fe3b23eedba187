#!/usr/bin/env python3
"""Make prescribed_field.csv: velocity of an electron at rest at t = 0 in E = cos(w t) x, B = z, q/m = -1.

u_x = (w sin wt - W sin Wt)/(W^2 - w^2), u_y = W (cos Wt - cos wt)/(W^2 - w^2), W = 1, w = 1/2.
"""
from math import cos, sin

W, w = 1.0, 0.5
with open("prescribed_field.csv", "w") as file:
    file.write("t,ux,uy\n")
    for i in range(251):
        t = 0.1 * i
        ux = (w * sin(w * t) - W * sin(W * t)) / (W * W - w * w)
        uy = W * (cos(W * t) - cos(w * t)) / (W * W - w * w)
        file.write(f"{t:.10g},{ux:.12g},{uy:.12g}\n")
