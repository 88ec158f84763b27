/**
 * Older versions of rows, in memory: which are kept, and which are garbage.
 *
 * <p>Reading order: {@code VolatileStore}, {@code GarbageStrategy}, {@code Steam}; {@code
 * VersionMemory} and {@code Spiller} (what happens when there are too many versions); {@code
 * UnseenDeletes}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.gc.version;
