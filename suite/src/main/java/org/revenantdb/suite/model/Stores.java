package org.revenantdb.suite.model;

import java.io.InputStream;
import java.nio.file.Path;
import org.revenantdb.chaos.crash.FileTrees;

/** How to come by a store, and by values to put into it. */
public final class Stores {

  private Stores() {}

  /**
   * Makes an opener.
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
   * Opens, uses and closes a store of its own, so that a child has loaded its classes before it
   * opens the one that matters: a kill at a random time should hit the store, not the class loader.
   *
   * @param opener of the store
   * @param beside a directory; the store stands next to it for a moment
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
   * A value whose every byte follows from its version.
   *
   * @param version a number
   * @param length in bytes
   * @return its bytes
   */
  public static InputStream value(long version, long length) {
    return Values.stream(version, length);
  }
}
