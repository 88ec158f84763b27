package org.revenantdb.chaos.recording;

/**
 * The successful operations on a file system below the directory under test.
 *
 * @param reads calls that read from a file, including those at its end
 * @param bytesRead the bytes that these calls read
 * @param writes calls that wrote to a file
 * @param bytesWritten the bytes that these calls wrote
 * @param forces of files and directories, including each write through a channel opened with {@code
 *     DSYNC} or {@code SYNC}
 * @param others everything else: open, create, link, delete, rename, truncate, list, read
 *     attributes
 */
public record IoCount(
    long reads, long bytesRead, long writes, long bytesWritten, long forces, long others) {

  /**
   * Returns the operations since an earlier count.
   *
   * @param earlier of the same recording
   * @return the difference
   */
  public IoCount since(IoCount earlier) {
    return new IoCount(
        reads - earlier.reads,
        bytesRead - earlier.bytesRead,
        writes - earlier.writes,
        bytesWritten - earlier.bytesWritten,
        forces - earlier.forces,
        others - earlier.others);
  }
}
