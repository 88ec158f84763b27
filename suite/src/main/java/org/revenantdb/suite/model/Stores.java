package org.revenantdb.suite.model;

import java.io.InputStream;
import java.nio.file.Path;
import org.revenantdb.chaos.crash.FileTrees;

/** Creates stores, and values for them. */
public final class Stores {

  private Stores() {}

  /**
   * Creates an opener.
   *
   * @param className of a {@link Store.Opener}
   * @return the opener
   */
  public static Store.Opener opener(String className) {
    try {
      return Class.forName(className).asSubclass(Store.Opener.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("cannot make a " + className, e);
    }
  }

  /**
   * Opens, uses and closes a separate store, so that a child has loaded the classes before it opens
   * the store under test. A kill at a random time should hit the store, not the class loader.
   *
   * @param opener of the store
   * @param beside a directory; the separate store is beside it for a moment
   * @param limits of the store
   */
  public static void warmUp(Store.Opener opener, Path beside, Store.Limits limits) {
    Path dir = beside.resolveSibling("warm-" + ProcessHandle.current().pid());
    try (Store store = opener.open(dir, limits);
        Store.Tx tx = store.begin()) {
      tx.put("warm", new byte[1], new byte[1]);
      tx.commit();
    }
    FileTrees.delete(dir);
  }

  /**
   * Returns a value whose every byte follows from its version.
   *
   * @param version a number
   * @param length in bytes
   * @return its bytes
   */
  public static InputStream value(long version, long length) {
    return Values.stream(version, length);
  }
}
