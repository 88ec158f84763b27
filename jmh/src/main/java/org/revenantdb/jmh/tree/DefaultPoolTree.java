package org.revenantdb.jmh.tree;

import java.nio.file.Path;
import org.revenantdb.engine.DatabaseOptions;

/** RevenantDB with its default memory for pages. */
public final class DefaultPoolTree extends RevenantTree {
  /**
   * Creates or opens a database.
   *
   * @param directory an empty one, or one with its files
   * @param cacheBytes not used
   */
  public DefaultPoolTree(Path directory, long cacheBytes) {
    super(directory, DatabaseOptions.defaults());
  }
}
