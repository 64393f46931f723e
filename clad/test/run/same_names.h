#pragma once

#include <vector>

std::vector<double> second_gradient(const std::vector<double>& weights, double x);
