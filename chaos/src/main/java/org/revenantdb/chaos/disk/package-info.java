/**
 * Disks in memory: images that can be forked at no cost, and a file system to open them with.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.disk.FileContent}, {@link
 * org.revenantdb.chaos.disk.DiskImage}, {@link org.revenantdb.chaos.disk.MemoryFileSystem}.
 */
package org.revenantdb.chaos.disk;
