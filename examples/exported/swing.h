#pragma once

/// The angle of a pendulum of this length (m) and damping (1/s) after `time` seconds, let go at 1 rad.
double swing(double length, double damping, double time);

/// Half the square of how far that is from a measured angle; adds its derivatives to *d_length and
/// *d_damping.
double misfit(double length, double damping, double time, double angle);
void misfit_gradient(double length, double damping, double time, double angle, double* d_length,
                     double* d_damping);
