// The largest elements of windows, with their places.
/// Every `stride`-th of n <= width elements.
inline Floats strided(const float* x, int64_t stride, int64_t n) {
  if (stride == 1) return n == width ? load(x) : load_part(x, n, 0);
  if (stride == 2) {
    const int64_t count = 2 * n - 1;  // that may be read
    const Floats low = count >= width ? load(x) : load_part(x, count, 0);
    const Floats high = count > width ? load_part(x + width, count - width, 0) : Floats{};
#if CLADTORCH_VECTOR_FLOATS == 16
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif CLADTORCH_VECTOR_FLOATS == 8
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
#else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6);
#endif
  }
  Floats v{};
  for (int64_t i = 0; i < n; ++i) v[i] = x[i * stride];
  return v;
}

void max_of_windows(const WindowRow& row, float* y, int32_t* places) {
  const Ints lane = lane_numbers() * static_cast<int32_t>(row.stride);
  for (int64_t o = 0; o < row.windows; o += width) {
    const int64_t n = row.windows - o < width ? row.windows - o : width;
    Floats best = broadcast(-__builtin_inff());
    Ints place = lane + static_cast<int32_t>(row.first + o * row.stride);
    for (int64_t i = 0; i < row.rows; ++i) {
      for (int64_t t = 0; t < row.taps; ++t) {
        const int64_t offset = i * row.row_step + t * row.tap_step + o * row.stride;
        const Floats value = strided(row.x + offset, row.stride, n);
        const Ints take = (value > best) | (value != value);
        best = take ? value : best;
        place = take ? lane + static_cast<int32_t>(row.first + offset) : place;
      }
    }
    if (n == width) {
      store(y + o, best);
      store(reinterpret_cast<float*>(places + o), (Floats)place);
    } else {
      store_part(y + o, best, n);
      store_part(reinterpret_cast<float*>(places + o), (Floats)place, n);
    }
  }
}
