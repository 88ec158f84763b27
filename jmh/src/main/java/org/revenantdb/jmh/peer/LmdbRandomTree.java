package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import org.lmdbjava.EnvFlags;

/**
 * LMDB for rows that do not fit into memory: {@code MDB_NORDAHEAD}, as its documentation advises
 * for that. Otherwise the system reads 128 KiB for a row.
 */
public final class LmdbRandomTree extends LmdbTree {
  /**
   * Creates or opens an environment.
   *
   * @param directory an empty one, or one with its files
   * @param cacheBytes not used
   */
  public LmdbRandomTree(Path directory, long cacheBytes) {
    super(directory, EnvFlags.MDB_NOSYNC, EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NORDAHEAD);
  }
}
