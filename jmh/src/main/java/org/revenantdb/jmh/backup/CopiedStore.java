package org.revenantdb.jmh.backup;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.revenantdb.jmh.recovery.RestartStore;
import org.revenantdb.jmh.recovery.StoreFiles;

/**
 * A store of which copies are made while it is open. The constructor opens it, with an empty
 * directory.
 */
public interface CopiedStore extends RestartStore {

  /**
   * All rows are there; copies follow.
   *
   * @throws Exception whatever the engine throws
   */
  default void loaded() throws Exception {}

  /**
   * Makes a copy. When this returns, the copy is complete, and a power cut takes nothing of it. An
   * implementation that opens the copy may leave pages in memory if forced log of the copy has
   * their changes.
   *
   * @param target does not exist
   * @return is closed when the time was taken
   * @throws Exception whatever the engine throws
   */
  AutoCloseable copyTo(Path target) throws Exception;

  /**
   * Returns the size of the last copy.
   *
   * @param target where it is
   * @return bytes
   * @throws IOException if the files cannot be read
   */
  default double bytes(Path target) throws IOException {
    return StoreFiles.bytes(target);
  }

  /**
   * Returns further figures of the last copy, each with its name. All copies have the same names.
   *
   * @return usually none
   */
  default Map<String, Double> more() {
    return Map.of();
  }

  /**
   * Reads a row of a copy.
   *
   * @param target where it is
   * @param key of the row
   * @return its value
   * @throws Exception whatever the engine throws, or if it is missing
   */
  byte[] readCopy(Path target, long key) throws Exception;
}
