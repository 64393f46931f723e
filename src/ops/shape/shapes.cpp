// The shapes that operations of shape.h are composed with.
#include "cladtorch/ops/shape.h"

namespace cladtorch::detail {

Shape moved(int rank, const Shape& source, const Shape& destination) {
  require(source.rank() == destination.rank(), "movedim: ", source, " and ", destination,
          " are not of one length");
  int from[max_rank];
  std::fill_n(from, rank, -1);
  unsigned taken = 0;
  for (int i = 0; i < source.rank(); ++i) {
    const int s = checked_dim("movedim", source[i], rank), d = checked_dim("movedim", destination[i], rank);
    require(from[d] < 0 && !(taken >> s & 1u), "movedim: a dimension is named twice in ", source, " or ",
            destination);
    from[d] = s;
    taken |= 1u << s;
  }
  Shape dims;
  for (int i = 0, next = 0; i < rank; ++i) {
    if (from[i] < 0) {
      while (taken >> next & 1u) ++next;
      from[i] = next++;
    }
    dims.push_back(from[i]);
  }
  return dims;
}

Shape repeated_shape(const char* operation, const Shape& shape, const Shape& repeats, bool tiles) {
  for (int64_t count : repeats) require(count >= 0, operation, ": a negative number in ", repeats);
  if (tiles) {
    Shape padded;
    for (int i = repeats.rank(); i < shape.rank(); ++i) padded.push_back(1);
    for (int64_t count : repeats) padded.push_back(count);
    return padded;
  }
  require(repeats.rank() >= shape.rank(), operation, ": expected a number for each dimension of ", shape,
          ", got ", repeats);
  Shape result = repeats;
  const int missing = repeats.rank() - shape.rank();
  for (int i = missing; i < result.rank(); ++i) result[i] *= shape[i - missing];
  return result;
}

Shape interleaved(const Shape& shape, const Shape& repeats, bool expanded) {
  const int missing = repeats.rank() - shape.rank();
  Shape result;
  for (int i = 0; i < repeats.rank(); ++i) {
    // A dimension that is not repeated, and one that the first leading ones become, needs no second extent.
    if (repeats[i] != 1) result.push_back(expanded ? repeats[i] : 1);
    if (i >= missing) result.push_back(shape[i - missing]);
  }
  return result;
}

Shape with_repeats(const Shape& shape, int64_t dim, int64_t repeats, bool joined) {
  const int d = checked_dim("repeat_interleave", dim, shape.rank());
  require(repeats >= 0, "repeat_interleave: expected a number of 0 or more, got ", repeats);
  if (joined) return shape.with(d, shape[d] * repeats);
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    result.push_back(shape[i]);
    if (i == d) result.push_back(repeats);
  }
  return result;
}

Shape flattened(const Shape& shape, int64_t first, int64_t last) {
  if (shape.rank() == 0) return {1};
  const int from = checked_dim("flatten", first, shape.rank()),
            to = checked_dim("flatten", last, shape.rank());
  require(from <= to, "flatten: dimension ", first, " comes after ", last, " in ", shape);
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > from && i <= to) {
      result[from] *= shape[i];
    } else {
      result.push_back(shape[i]);
    }
  }
  return result;
}

Shape unflattened(const Shape& shape, int64_t dim, const Shape& sizes) {
  const int d = checked_dim("unflatten", dim, shape.rank());
  int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < sizes.rank(); ++i) {
    if (sizes[i] < 0) {
      require(unknown < 0, "unflatten: at most one size may be -1, got ", sizes);
      unknown = i;
    } else {
      known *= sizes[i];
    }
  }
  Shape inner = sizes;
  if (unknown >= 0 && known > 0) inner[unknown] = shape[d] / known;
  require(inner.rank() > 0 && inner.numel() == shape[d], "unflatten: dimension ", d, " of ", shape,
          " cannot become ", sizes);
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != d) {
      result.push_back(shape[i]);
    } else {
      for (int64_t size : inner) result.push_back(size);
    }
  }
  return result;
}

int64_t chunk_size(const Shape& shape, int64_t chunks, int64_t dim) {
  require(chunks > 0, "chunk: expected a number of 1 or more, got ", chunks);
  const int64_t size = shape[checked_dim("chunk", dim, shape.rank())];
  return std::max<int64_t>(1, (size + chunks - 1) / chunks);
}

int64_t rolled(const Shape& shape, int64_t shift, int64_t dim) {
  const int64_t size = shape[checked_dim("roll", dim, shape.rank())];
  if (size == 0) return 0;
  return (shift % size + size) % size;
}

Shape grid_axis(int64_t size, int64_t axis, int64_t axes) {
  Shape shape;
  for (int64_t i = 0; i < axes; ++i) shape.push_back(i == axis ? size : 1);
  return shape;
}

}  // namespace cladtorch::detail
