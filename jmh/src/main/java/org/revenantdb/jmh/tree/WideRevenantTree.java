package org.revenantdb.jmh.tree;

import java.nio.file.Path;
import org.revenantdb.engine.DatabaseOptions;

/**
 * RevenantDB with the widest bound of the pages that are changed and not written, whatever the
 * default is: what updates would get if a crash were never to happen.
 */
public final class WideRevenantTree extends RevenantTree {
  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes memory for pages
   */
  public WideRevenantTree(Path directory, long cacheBytes) {
    super(
        directory,
        DatabaseOptions.defaults()
            .withPoolBytes(cacheBytes)
            .withMaxRecoveryPages(Integer.MAX_VALUE));
  }
}
