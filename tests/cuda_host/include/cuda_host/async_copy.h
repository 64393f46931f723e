// cp.async: copies of 16 bytes from global to shared memory that are done when the thread waits for their
// group, and not before, so that a missing wait shows as old data.
#pragma once

namespace cuda_host {

// Copies the first source_bytes (0 to 16), and zeros for the rest. Both addresses are multiples of 16.
void cp_async_16(void* shared, const void* global, int source_bytes = 16);

// Closes the group of the copies since the last commit.
void cp_async_commit();

// Does the copies of all groups but the last `groups` that were closed.
void cp_async_wait_groups(int groups);

// Does all copies, also those of the open group.
void cp_async_wait_all();

template <int groups>
void cp_async_wait() {
  cp_async_wait_groups(groups);
}

}  // namespace cuda_host
