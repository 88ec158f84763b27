package org.revenantdb.chaos.recording;

/**
 * How much was asked of a file system below the directory under test, by operations that succeeded.
 *
 * @param reads calls that read from a file, also those that met its end
 * @param bytesRead by them
 * @param writes calls that wrote to a file
 * @param bytesWritten by them
 * @param forces of files and directories; a write through a channel opened with {@code DSYNC} or
 *     {@code SYNC} is one, too
 * @param others everything else: opened, created, linked, deleted, renamed, cut, listed, asked for
 *     attributes
 */
public record IoCount(
    long reads, long bytesRead, long writes, long bytesWritten, long forces, long others) {

  /**
   * What was asked since an earlier count.
   *
   * @param earlier of the same recording
   * @return this less the other
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
